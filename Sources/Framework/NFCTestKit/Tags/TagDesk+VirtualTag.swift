// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
import TagLink
package import TagProtocols
package import VirtualTags

extension TagDesk {
    /// Activates a tag in a field of its own and runs a procedure on it; the tag loses its power before and after.
    package static func with<Value>(
        _ virtualTag: any VirtualTag,
        _ procedure: (any ForumTag) async throws(TagError) -> Value
    ) async throws(TagError) -> Value {
        let field = VirtualField()
        field.bring(virtualTag)
        defer { field.removeAll() }
        return try await with(field as any FieldDriver, procedure)
    }

    /// What a tag holds for NDEF, without touching it: a copy is read.
    ///
    /// - Returns: whether it can be written, how much room it has, and its message, which is empty when it has none.
    package static func read(
        _ contents: TagContents
    ) async throws(TagError) -> (access: NDEFDetection.Access, capacity: Int, message: [UInt8]) {
        try await with(contents.makeTag()) { tag throws(TagError) in
            let detection = try await tag.detectNDEF()
            return (detection.access, detection.capacity, try await tag.readNDEF())
        }
    }
}
