// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

/// What the password of an NTAG21x or MIFARE Ultralight EV1 protects: AUTH0 and ACCESS (NTAG213/215/216 data sheet, 8.5.7).
package struct Type2Protection: Sendable, Hashable {
    /// AUTH0: the first page that needs the password; nil when no page does.
    package var firstPage: Int?
    /// PROT: whether the password is needed for reading too, and not only for writing.
    package var protectsReading = false
    /// AUTHLIM: after this many wrong passwords in a row, 1 to 7, the tag never accepts one again; 0 for no limit.
    package var tries = 0

    /// No protection, as on a new tag.
    package static let none = Type2Protection()

    /// Whether a tag whose configuration is locked has at least the wanted protection of its user memory.
    fileprivate func satisfies(_ wanted: Type2Protection) -> Bool {
        guard let firstPage, let start = wanted.firstPage else { return self.firstPage == wanted.firstPage }
        return firstPage <= max(start, 4) && protectsReading == wanted.protectsReading && tries == wanted.tries
    }
}

/// The password of NTAG21x and MIFARE Ultralight EV1 (NTAG213/215/216 data sheet, 8.8).
extension Type2Tag {
    /// A password, and the tag's expected acknowledgement.
    public struct Password: Sendable, Hashable {
        /// The password, four bytes.
        public let bytes: [UInt8]
        /// PACK: two bytes. With nil, any acknowledgement of a tag is accepted, and a new one is 0000.
        public let acknowledgement: [UInt8]?

        /// Creates a password; nil unless `bytes` has four bytes and `acknowledgement` two.
        public init?(_ bytes: [UInt8], acknowledgement: [UInt8]? = [0, 0]) {
            guard bytes.count == 4, acknowledgement?.count ?? 2 == 2 else { return nil }
            self.bytes = bytes
            self.acknowledgement = acknowledgement
        }

        /// The password of a new tag.
        fileprivate static let factory = [UInt8](repeating: 0xFF, count: 4)
    }

    /// Sets a password that protects the tag against writing, starting at its lock bytes. Reading stays free.
    ///
    /// The password is written and checked first, and the page that switches the protection on is written last. So a tag
    /// that is lost in between has its old protection or the complete new one, which takes effect at the tag's next
    /// activation. If the tag already has this password, the protection is extended to the pages that it left open.
    ///
    /// - Parameter password: the password.
    /// - Throws: ``TagError`` with `unsupported` when the product has no password, `authenticationFailed` when the tag
    ///   has a different one, `readOnly` when its configuration is locked and leaves user memory open, `updateFailed`,
    ///   `refused`, `tagLost`, `cancelled`.
    public func protect(with password: Password) async throws(TagError) {
        _ = try await changeProtection(with: password) { protection in
            protection.firstPage = Type2StaticLock.page
            protection.protectsReading = false
        }
    }

    /// The protection of a tag before and after a change.
    package struct ProtectionChange: Sendable, Hashable {
        package var old: Type2Protection
        package var new: Type2Protection
        /// Whether the password itself is written: the new one, or the factory's when the protection is removed.
        package var setsPassword: Bool
    }

    /// Changes what the tag's password protects, or removes the protection and the password.
    ///
    /// The password is only written while it protects nothing: before AUTH0 when the protection is switched on, and
    /// after AUTH0 when it is switched off. So a tag that is lost at any moment accepts this password or needs none, and
    /// the same call completes the change.
    ///
    /// - Parameters:
    ///   - password: the password of a protected tag; otherwise the one to set. A wrong one is sent only once if the tag
    ///     may count it.
    ///   - performs: whether to write, or only to return what would change.
    ///   - change: receives the present protection, and changes it.
    /// - Throws: ``TagError`` with `unsupported` when the product has no such password or AUTH0 is out of range,
    ///   `authenticationFailed`, `readOnly` when the configuration is locked; up to here nothing has changed.
    ///   `updateFailed`, `refused`, `badAnswer`, `tagLost`, `cancelled`.
    package func changeProtection(
        with password: Password,
        performs: Bool = true,
        _ change: (inout Type2Protection) -> Void
    ) async throws(TagError) -> ProtectionChange {
        let page = try await configurationPage()
        var present = try await readConfiguration(page)
        // A tag that hides its configuration is protected, and may count wrong passwords.
        if present.map({ Int($0[3]) < page + 4 }) ?? true {
            try await authenticate(password, isLimited: present.map { $0[4] & 0x07 != 0 } ?? true)
            // Without the password, the answer may have ended before ACCESS.
            present = try await readConfiguration(page)
        }
        guard let present else { throw TagError(.refused, "The tag refuses to show its configuration.") }
        let old = Type2Protection(
            firstPage: Int(present[3]) < page + 4 ? Int(present[3]) : nil,
            protectsReading: present[4] & 0x80 != 0,
            tries: Int(present[4] & 0x07)
        )
        var new = old
        change(&new)
        if let first = new.firstPage, !(Type2StaticLock.page...page).contains(first) {
            let reason = "The protection can begin at pages 2 to \(page), so that it includes the password itself."
            throw TagError(.unsupported, reason)
        }
        if present[4] & 0x40 != 0 {
            guard old.satisfies(new) else {
                let reason = "The tag's configuration is locked for good (CFGLCK), so its protection can't be changed."
                throw TagError(.readOnly, reason)
            }
            return ProtectionChange(old: old, new: old, setsPassword: false)
        }
        var setsPassword = (old.firstPage == nil) != (new.firstPage == nil)
        // After a loss, an open tag may still have a part of the password.
        if old.firstPage == nil, new.firstPage == nil {
            if old == new { setsPassword = try await !hasFactoryPassword() } else { setsPassword = true }
        }
        guard performs else { return ProtectionChange(old: old, new: new, setsPassword: setsPassword) }

        let access = present[4] & 0x78 | (new.protectsReading ? 0x80 : 0) | UInt8(new.tries)
        let settings = [
            (page: page + 1, bytes: [access] + present[5..<8]),
            (page: page, bytes: present[0..<3] + [UInt8(new.firstPage ?? 0xFF)]),
        ].filter { step in step.bytes != Array(present[(step.page - page) * 4..<(step.page - page + 1) * 4]) }
        if new.firstPage == nil {
            for step in settings where step.page == page { try await write(step.bytes, to: step.page) }
            if setsPassword { try await writePassword(Password.factory, [0, 0], to: page + 2) }
            for step in settings where step.page != page { try await write(step.bytes, to: step.page) }
        } else {
            if setsPassword {
                try await writePassword(password.bytes, password.acknowledgement ?? [0, 0], to: page + 2)
                // The tag must accept the password before it depends on it.
                try await authenticate(password)
            }
            for step in settings { try await write(step.bytes, to: step.page) }
        }
        return ProtectionChange(old: old, new: new, setsPassword: setsPassword)
    }

    private func writePassword(_ bytes: [UInt8], _ acknowledgement: [UInt8], to page: Int) async throws(TagError) {
        try await write(bytes, to: page)
        try await write(acknowledgement + [0, 0], to: page + 1)
        // The tag never returns these pages, so they are not cached.
        for secret in page...page + 1 { memory.forget(secret) }
    }

    /// Returns whether an open tag without a limit of tries has the password and acknowledgement of a new tag.
    private func hasFactoryPassword() async throws(TagError) -> Bool {
        guard case .bytes([0, 0]) = try await exchange(.passwordAuthenticate(Password.factory)) else { return false }
        return true
    }

    /// Reads the pages with AUTH0 and ACCESS, the first two of the configuration; nil when the tag refuses.
    private func readConfiguration(_ page: Int) async throws(TagError) -> [UInt8]? {
        guard case .bytes(let configuration) = try await exchange(.read(page)) else { return nil }
        return configuration
    }

    /// Proves to the tag that the reader knows its password, if the product has one. The tag can be read and written
    /// until it loses power.
    ///
    /// - Throws: the errors of ``authenticate(_:)``; `unsupported` names another product.
    package func unlock(with password: Password) async throws(TagError) {
        _ = try await configurationPage()
        try await authenticate(password)
    }

    /// Proves to the tag that the reader knows its password. The tag can be written until it loses power.
    ///
    /// The password is sent only once even if the answer is damaged, because the tag may count wrong passwords.
    ///
    /// - Throws: ``TagError`` with `authenticationFailed` when the password or its acknowledgement is wrong, `badAnswer`,
    ///   `unsupported`, `tagLost`, `cancelled`.
    public func authenticate(_ password: Password) async throws(TagError) {
        try await authenticate(password, isLimited: true)
    }

    private func authenticate(_ password: Password, isLimited: Bool) async throws(TagError) {
        let command = Type2Command.passwordAuthenticate(password.bytes)
        let retries = isLimited ? 0 : Self.retries
        var answer = try await exchange(command, retries: retries)
        // NAK 1 means that the command arrived damaged, so the tag did not count it.
        if case .refused(1) = answer { answer = try await exchange(command, retries: retries) }
        switch answer {
        case .bytes(let bytes) where password.acknowledgement ?? bytes == bytes: mayBeAuthenticated = true
        case .refused(4):
            throw TagError(
                .authenticationFailed,
                "The tag accepts no password any more, because too many were wrong (NTAG213/215/216 data sheet, 8.8.2)."
            )
        case .bytes, .refused:
            let warning = isLimited ? " It may count wrong ones, and then never accept one again." : ""
            let reason = "The tag has a different password or acknowledgement." + warning
            throw TagError(.authenticationFailed, reason)
        }
    }

    /// Notes that an app is about to send its own packet. An app that sends PWD_AUTH or AUTHENTICATE knows the
    /// password, so password protection is then no reason to refuse a write.
    package func willSend(_ packet: [UInt8]) {
        if let command = packet.first, [0x1A, 0x1B, 0xAF].contains(command) { mayBeAuthenticated = true }
    }

    /// Notes a 4-bit answer to an app's packet. A tag that refuses a packet is deselected and no longer authenticated.
    package func wasAnswered(_ nibble: UInt8) {
        if nibble != Self.acknowledge { isActive = false }
    }

    private func configurationPage() async throws(TagError) -> Int {
        let product = try await product()
        if let product, product.features.contains(.password), let page = product.configurationPage { return page }
        throw TagError.noPassword(try await identifyProduct() ?? "a Type 2 tag of an unknown product")
    }
}

extension TagError {
    /// The error for a tag whose password or key these procedures don't use.
    package static func noPassword(_ product: String) -> TagError {
        TagError(
            .unsupported,
            "Passwords work only on NTAG21x and MIFARE Ultralight EV1 here, and this tag is \(product)."
        )
    }
}
