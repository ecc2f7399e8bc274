// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// Uses the tag in a field without a session.
package enum TagDesk {
    /// Activates the tag in a field, and runs a procedure on it.
    ///
    /// - Parameters:
    ///   - driver: the field.
    ///   - procedure: works with the tag.
    /// - Returns: the result of the procedure.
    /// - Throws: ``TagError`` with `tagLost` when no tag answers, `unsupported` when it has no NDEF, or an error of the
    ///   procedure.
    package static func with<Value>(
        _ driver: any FieldDriver,
        _ procedure: (any ForumTag) async throws(TagError) -> Value
    ) async throws(TagError) -> Value {
        let source = FieldTagSource(driver: driver)
        let (tags, selected) = try await source.find(.ndef)
        guard let tag = tags.last else { throw TagError(.tagLost, "The tag does not answer.") }
        guard let forumTag = tag.forumTag else {
            throw TagError(.unsupported, "The tag is of a kind that holds no NDEF.")
        }
        if selected == nil { try await source.wake(tag) }
        return try await procedure(forumTag)
    }
}
