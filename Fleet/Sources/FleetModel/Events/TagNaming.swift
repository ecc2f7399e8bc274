// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

/// How tags are named in events: by UID, or by a keyed hash of it.
package struct TagNaming: Sendable {
    private let key: SymmetricKey?

    /// Names tags by UID.
    package init() { key = nil }

    /// Names tags by a hash.
    ///
    /// - Parameter hashKey: the key, at least 16 bytes.
    /// - Returns: nil when the key is shorter.
    package init?(hashKey: [UInt8]) {
        guard hashKey.count >= 16 else { return nil }
        key = SymmetricKey(data: hashKey)
    }

    /// Whether UIDs are hashed.
    package var isHashed: Bool { key != nil }

    /// A tag's names.
    package struct Names: Sendable, Hashable {
        /// The UID, or its hash.
        package var subject: String
        /// The members of `data` that name the tag.
        package var members: [JSONValue.Member]
        /// What Home Assistant calls the tag.
        package var tagID: String
    }

    /// Returns the names of a tag.
    ///
    /// - Parameters:
    ///   - identifier: its UID, PUPI or IDm.
    ///   - message: its message, which may have a link with an id for Home Assistant.
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
        let hash = Hex.text(HMAC<SHA256>.authenticationCode(for: Data(identifier), using: key))
        let id = linked ?? String(hash.prefix(32))
        return Names(
            subject: hash,
            members: [.init("uid_hash", .string(hash)), .init("tag_id", .string(id))],
            tagID: id
        )
    }
}
