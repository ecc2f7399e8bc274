// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// Works with the tag in a field, where no session is.
package enum TagDesk {
    /// Activates the tag that is in a field, and runs a procedure on it.
    ///
    /// - Parameters:
    ///   - driver: the field.
    ///   - procedure: what is done with the tag.
    /// - Returns: what the procedure returns.
    /// - Throws: ``TagError`` with `tagLost` when no tag answers, `unsupported` when it holds no NDEF, or as the procedure does.
    package static func with<Value>(
        _ driver: any FieldDriver,
        _ procedure: (any ForumTag) async throws(TagError) -> Value
    ) async throws(TagError) -> Value {
        let source = FieldTagSource(driver: driver)
        let (found, selected) = try await source.find(.ndef)
        guard let entry = found.last else { throw TagError(.tagLost, "The tag does not answer.") }
        guard let tag = entry.tag else { throw TagError(.unsupported, "The tag is of a kind that holds no NDEF.") }
        if selected == nil { try await source.wake(entry) }
        return try await procedure(tag)
    }
}
