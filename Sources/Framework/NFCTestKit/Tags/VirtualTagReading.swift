// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
package import TagProtocols
package import VirtualTags

/// Activates a tag in a field of its own and runs a procedure on it; the tag loses its power before and after.
package func withActivatedTag<Value>(
    in virtualTag: any VirtualTag,
    _ procedure: (any ForumTag) async throws(TagError) -> Value
) async throws(TagError) -> Value {
    let field = VirtualField()
    field.bring(virtualTag)
    defer { field.removeAll() }
    return try await withActivatedTag(in: field as any FieldDriver, procedure)
}

extension TagContents {
    /// What a tag holds for NDEF, without touching it: a copy is read.
    ///
    /// - Returns: whether it can be written, how much room it has, and its message, which is empty when it has none.
    package func readNDEF() async throws(TagError) -> (access: NDEFDetection.Access, capacity: Int, message: [UInt8]) {
        try await withActivatedTag(in: makeTag()) { tag throws(TagError) in
            let detection = try await tag.detectNDEF()
            return (detection.access, detection.capacity, try await tag.readNDEF())
        }
    }
}
