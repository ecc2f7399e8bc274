// SPDX-License-Identifier: Apache-2.0

/// How events identify tags: by UID, or by a keyed hash of the UID.
package struct TagNaming: Sendable {
    private let key: [UInt8]?

    /// Identifies tags by UID.
    package init() { key = nil }

    /// Identifies tags by a hash of their UID.
    ///
    /// - Parameter hashKey: the key, at least 16 bytes.
    /// - Returns: nil if the key is shorter.
    package init?(hashKey: [UInt8]) {
        guard hashKey.count >= 16 else { return nil }
        key = hashKey
    }

    /// Whether UIDs are hashed.
    package var isHashed: Bool { key != nil }

    /// The identifiers of a tag.
    package struct Names: Sendable, Hashable {
        /// The UID, or its hash.
        package var subject: String
        /// The members of `data` that identify the tag.
        package var members: [JSONValue.Member]
        /// Home Assistant's ID for the tag.
        package var tagID: String
    }

    /// Returns the identifiers of a tag.
    ///
    /// - Parameters:
    ///   - identifier: the tag's UID, PUPI or IDm.
    ///   - message: the tag's message, which may contain a link with a Home Assistant ID.
    package func names(of identifier: [UInt8], message: [UInt8]? = nil) -> Names {
        let uid = Hex.text(identifier)
        let linked = message.flatMap(MessageJSON.firstURI).flatMap(HomeAssistantTag.id(in:))
        guard let key else {
            let id = linked ?? HomeAssistantTag.id(of: identifier)
            return Names(
                subject: uid,
                members: [.init("uid", .string(uid)), .init("tag_id", .string(id))],
                tagID: id
            )
        }
        let hash = Hex.text(hmacSHA256(identifier, key: key))
        let id = linked ?? String(hash.prefix(32))
        return Names(
            subject: hash,
            members: [.init("uid_hash", .string(hash)), .init("tag_id", .string(id))],
            tagID: id
        )
    }
}
