// SPDX-License-Identifier: Apache-2.0
package import CardCryptography

/// A tag of a type with products whose memory a password or a key can protect.
package protocol PasswordProtected: ForumTag {
    /// Proves to the tag that the reader knows its password or key. The tag can be read and written until it loses
    /// power.
    ///
    /// - Throws: ``TagError`` with `authenticationFailed`, `unsupported` for a product without one and for a secret of
    ///   another length, `tagLost`, `badAnswer`, `cancelled`.
    func unlock(with secret: TagSecret) async throws(TagError)

    /// Changes what the tag's password or key protects, or removes the protection and the secret.
    ///
    /// The secret is only written while it protects nothing: before the protection is switched on, and after it is
    /// switched off. So a tag that is lost at any moment accepts this secret or needs none, and the same call completes
    /// the change.
    ///
    /// - Parameters:
    ///   - secret: that of a protected tag; otherwise the one to set. A wrong one is sent only once if the tag may count
    ///     it.
    ///   - performs: whether to write, or only to return what would change.
    ///   - change: receives the present protection, and changes it.
    /// - Throws: ``TagError`` with `unsupported` when the product has no such secret or protection,
    ///   `authenticationFailed`, `readOnly` when the configuration is locked; up to here nothing has changed.
    ///   `updateFailed`, `refused`, `badAnswer`, `tagLost`, `cancelled`.
    func changeProtection(
        with secret: TagSecret,
        performs: Bool,
        _ change: (inout TagProtection) -> Void
    ) async throws(TagError) -> ProtectionChange
}

/// What the password or key of a tag protects.
package struct TagProtection: Sendable, Hashable {
    /// The first page or block that needs the password; nil when none does.
    package var first: Int?
    /// Whether the password is needed for reading too, and not only for writing.
    package var protectsReading = false
    /// After this many wrong passwords in a row, the tag never accepts one again; 0 for no limit.
    package var tries = 0

    /// No protection, as on a new tag.
    package static let none = TagProtection()
}

/// The protection of a tag before and after a change.
package struct ProtectionChange: Sendable, Hashable {
    package var old: TagProtection
    package var new: TagProtection
    /// Whether the password itself is written: the new one, or the factory's when the protection is removed.
    package var setsPassword: Bool
    /// Whether the protection can be removed with the password. If not, the change can't be undone.
    package var isRemovable = true
}

/// A password, or a key of 16 bytes.
package struct TagSecret: Sendable, Hashable {
    @Hidden package var bytes: [UInt8]
    /// PACK, two bytes: with a password of a Type 2 tag, the answer that it must give. With nil any will do, and a new
    /// one is 0000.
    package var acknowledgement: [UInt8]?

    package init(_ bytes: [UInt8], acknowledgement: [UInt8]? = nil) {
        self.bytes = bytes
        self.acknowledgement = acknowledgement
    }

    func check(length: Int, of product: String) throws(TagError) {
        guard bytes.count != length else { return }
        let wanted = length == 16 ? "a key of 16 bytes" : "a password of \(length) bytes"
        throw TagError(.unsupported, "\(product) has \(wanted), and \(bytes.count) bytes were given.")
    }
}

extension TagError {
    /// The error for a tag whose password or key these procedures don't use.
    package static func noPassword(_ product: String) -> TagError {
        TagError(
            .unsupported,
            "Passwords work only on NTAG21x, MIFARE Ultralight EV1, C and AES, ICODE SLIX2, ST25TV, ST25DV and FeliCa Lite-S "
                + "here, and this tag is \(product)."
        )
    }
}
