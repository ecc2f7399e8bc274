// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagProducts

extension TagProtection {
    /// Whether a tag whose configuration is locked has at least the wanted protection of its user memory.
    fileprivate func satisfies(_ wanted: TagProtection) -> Bool {
        guard let first, let start = wanted.first else { return self.first == wanted.first }
        return first <= max(start, 4) && protectsReading == wanted.protectsReading && tries == wanted.tries
    }
}

extension TagSecret {
    fileprivate init(_ password: Type2Tag.Password) {
        self.init(password.bytes, acknowledgement: password.acknowledgement)
    }
}

/// The pages of a product's protection: AUTH0, then ACCESS or AUTH1 in the next page, and the password or key.
private struct ProtectionPages {
    /// The page with AUTH0.
    var first: Int
    var product: Type2Product

    /// Whether the product has the layout of Ultralight C, and not that of NTAG21x.
    private var isTripleDES: Bool { product.features.contains(.tripleDES) }
    var hasKey: Bool { product.keyPages != nil }
    var secretLength: Int { hasKey ? 16 : 4 }
    /// The largest limit of tries.
    var maximumTries: Int { isTripleDES ? 0 : hasKey ? 1023 : 7 }

    /// The pages of the password and its acknowledgement, or of the key.
    var secret: Range<Int> { product.keyPages ?? first + 2..<first + 4 }
    /// The pages at which a protection can begin. Page 2, the lock bits, has none on an Ultralight C.
    var starts: ClosedRange<Int> { (isTripleDES ? 3 : Type2LockBits.staticPage)...first }

    /// The secret of a new tag. The key of Ultralight C is that of the data sheet.
    var factorySecret: TagSecret {
        guard hasKey else { return TagSecret([0xFF, 0xFF, 0xFF, 0xFF], acknowledgement: [0, 0]) }
        return TagSecret(isTripleDES ? Array("IEMKAERB!NACUOYF".utf8) : [UInt8](repeating: 0, count: 16))
    }

    /// Whether CFGLCK locks the configuration for good.
    func isLocked(_ bytes: [UInt8]) -> Bool { !isTripleDES && bytes[4] & 0x40 != 0 }

    /// Reads the protection from the first two pages.
    func protection(_ bytes: [UInt8]) -> TagProtection {
        let start = Int(bytes[isTripleDES ? 0 : 3])
        let first = start < product.pageCount ? start : nil
        guard !isTripleDES else {
            return TagProtection(first: first, protectsReading: first != nil && bytes[4] & 0x01 == 0)
        }
        let tries = hasKey ? Int(bytes[6]) | Int(bytes[7] & 0x03) << 8 : Int(bytes[4] & 0x07)
        return TagProtection(first: first, protectsReading: bytes[4] & 0x80 != 0, tries: tries)
    }

    /// The first two pages with another protection. All other bits stay as in `bytes`.
    func bytes(_ protection: TagProtection, over bytes: [UInt8]) -> [UInt8] {
        var result = Array(bytes.prefix(8))
        result[isTripleDES ? 0 : 3] = UInt8(protection.first ?? (hasKey ? product.pageCount : 0xFF))
        if !isTripleDES {
            result[4] = bytes[4] & 0x7F | (protection.protectsReading ? 0x80 : 0)
            if hasKey {
                result[6] = UInt8(protection.tries & 0xFF)
                result[7] = bytes[7] & 0xFC | UInt8(protection.tries >> 8)
            } else {
                result[4] = result[4] & 0xF8 | UInt8(protection.tries)
            }
        } else if protection.first != nil {
            result[4] = bytes[4] & 0xFE | (protection.protectsReading ? 0 : 0x01)
        }
        return result
    }

    /// The bytes of the secret's pages. A key, or each half of the key of Ultralight C, is stored in reverse order.
    func bytes(_ secret: TagSecret) -> [UInt8] {
        guard hasKey else { return secret.bytes + (secret.acknowledgement ?? [0, 0]) + [0, 0] }
        let reversed: [UInt8] = secret.bytes.reversed()
        return isTripleDES ? Array(reversed.suffix(8) + reversed.prefix(8)) : reversed
    }

    func cipher(_ key: [UInt8]) throws(CryptographyError) -> BlockCipher {
        isTripleDES ? try .des(key) : try .aes(key)
    }
}

/// The password of NTAG21x and MIFARE Ultralight EV1 (NTAG213/215/216 data sheet, 8.8), and the keys of MIFARE Ultralight C
/// (MF0ICU2 data sheet, 7.5.5) and AES, and of NTAG 224 DNA.
extension Type2Tag: PasswordProtected {
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
        _ = try await changeProtection(with: TagSecret(password)) { protection in
            protection.first = Type2LockBits.staticPage
            protection.protectsReading = false
        }
    }

    /// Changes what AUTH0 and ACCESS protect (NTAG213/215/216 data sheet, 8.5.7), or AUTH0 and AUTH1 of MIFARE
    /// Ultralight C (MF0ICU2 data sheet, 7.5.5).
    package func changeProtection(
        with secret: TagSecret,
        performs: Bool = true,
        _ change: (inout TagProtection) -> Void
    ) async throws(TagError) -> ProtectionChange {
        let pages = try await protectionPages(for: secret)
        var present = try await readConfiguration(pages.first)
        // A tag that hides its configuration is protected, and may count wrong passwords.
        if present.map({ pages.protection($0).first != nil }) ?? true {
            let isLimited = present.map { pages.protection($0).tries > 0 } ?? true
            try await authenticate(secret, pages, isLimited: isLimited)
            // Without the password, the answer may have ended before ACCESS.
            present = try await readConfiguration(pages.first)
        }
        guard let present else { throw TagError(.refused, "The tag refuses to show its configuration.") }
        let old = pages.protection(present)
        var new = old
        change(&new)
        new.first = new.first.map { max($0, pages.starts.lowerBound) }
        if let first = new.first, !pages.starts.contains(first) {
            let (from, to) = (pages.starts.lowerBound, pages.starts.upperBound)
            let reason = "The protection can begin at pages \(from) to \(to), so that it includes the secret itself."
            throw TagError(.unsupported, reason)
        }
        guard new.tries == 0 || !pages.product.features.contains(.sun) else {
            let reason = "Where \(pages.product.name) keeps its limit of tries is not published, so it can't be set."
            throw TagError(.unsupported, reason)
        }
        guard new.tries <= pages.maximumTries else {
            let limit = pages.maximumTries == 0 ? "no limit of tries" : "a limit of at most \(pages.maximumTries) tries"
            throw TagError(.unsupported, "\(pages.product.name) has \(limit).")
        }
        guard !pages.product.features.contains(.aes) || present[0] & 0x02 == 0 else {
            throw TagError(.unsupported, "The tag requires secure messaging (SEC_MSG_ACT), which is not supported.")
        }
        if pages.isLocked(present) {
            guard old.satisfies(new) else {
                let reason = "The tag's configuration is locked for good (CFGLCK), so its protection can't be changed."
                throw TagError(.readOnly, reason)
            }
            return ProtectionChange(old: old, new: old, setsPassword: false)
        }
        var setsPassword = (old.first == nil) != (new.first == nil)
        // After a loss, an open tag may still have a part of the secret.
        if old.first == nil, new.first == nil {
            if old == new { setsPassword = try await !hasFactorySecret(pages) } else { setsPassword = true }
        }
        let bytes = pages.bytes(new, over: present)
        let settings = [1, 0].map { (page: pages.first + $0, bytes: Array(bytes[$0 * 4..<$0 * 4 + 4])) }
            .filter { step in !present[((step.page - pages.first) * 4)...].starts(with: step.bytes) }
        try await checkConfigurationLocks(
            settings.map(\.page) + (setsPassword ? Array(pages.secret) : []),
            pages.product
        )
        guard performs else { return ProtectionChange(old: old, new: new, setsPassword: setsPassword) }

        if new.first == nil {
            for step in settings where step.page == pages.first { try await write(step.bytes, to: step.page) }
            if setsPassword { try await write(pages.factorySecret, pages) }
            for step in settings where step.page != pages.first { try await write(step.bytes, to: step.page) }
        } else {
            if setsPassword {
                try await write(secret, pages)
                // A new key counts from the next activation on.
                if pages.hasKey { isActive = false }
                // The tag must accept the secret before it depends on it.
                try await authenticate(secret, pages, isLimited: true)
            }
            for step in settings { try await write(step.bytes, to: step.page) }
        }
        return ProtectionChange(old: old, new: new, setsPassword: setsPassword)
    }

    /// Checks that no lock bit of Ultralight C or AES prevents a write to the configuration or the key.
    private func checkConfigurationLocks(_ written: [Int], _ product: Type2Product) async throws(TagError) {
        if product.features.contains(.aes), let keys = product.keyPages, let page = written.last, keys.contains(page) {
            let lock = keys.lowerBound - 3
            try await fetch(lock..<lock + 1)
            if memory[unit: lock]?.hasBit(6) == true { throw Self.locked(page) }
        }
        guard product.features.contains(.tripleDES), let field = product.dynamicLock else { return }
        try await fetch(field.page..<field.page + 1)
        let bytes = memory[unit: field.page] ?? []
        for page in written {
            guard let lock = field.locks.first(where: { $0.pages.contains(page) }) else { continue }
            if bytes.hasBit(field.offset * 8 + lock.bit) { throw Self.locked(page) }
        }
    }

    private func write(_ secret: TagSecret, _ pages: ProtectionPages) async throws(TagError) {
        let bytes = pages.bytes(secret)
        for (index, page) in pages.secret.enumerated() {
            try await write(Array(bytes[index * 4..<index * 4 + 4]), to: page)
        }
        // The tag never returns these pages, so they are not cached.
        for page in pages.secret { memory.forget(page) }
    }

    /// Returns whether an open tag without a limit of tries has the secret of a new tag.
    private func hasFactorySecret(_ pages: ProtectionPages) async throws(TagError) -> Bool {
        do throws(TagError) {
            try await authenticate(pages.factorySecret, pages, isLimited: false)
            return true
        } catch {
            guard error.code == .authenticationFailed else { throw error }
            return false
        }
    }

    /// Reads the pages with AUTH0 and ACCESS, the first two of the configuration; nil when the tag refuses.
    private func readConfiguration(_ page: Int) async throws(TagError) -> [UInt8]? {
        guard case .bytes(let configuration) = try await exchange(.read(page)) else { return nil }
        return configuration
    }

    package func unlock(with secret: TagSecret) async throws(TagError) {
        try await authenticate(secret, protectionPages(for: secret), isLimited: true)
    }

    /// Proves to the tag that the reader knows its password. The tag can be written until it loses power.
    ///
    /// The password is sent only once even if the answer is damaged, because the tag may count wrong passwords.
    ///
    /// - Throws: ``TagError`` with `authenticationFailed` when the password or its acknowledgement is wrong, `badAnswer`,
    ///   `unsupported`, `tagLost`, `cancelled`.
    public func authenticate(_ password: Password) async throws(TagError) {
        try await sendPassword(TagSecret(password), isLimited: true)
    }

    private func authenticate(
        _ secret: TagSecret,
        _ pages: ProtectionPages,
        isLimited: Bool
    ) async throws(TagError) {
        if pages.hasKey {
            try await proveKey(secret.bytes, pages, isLimited: isLimited)
        } else {
            try await sendPassword(secret, isLimited: isLimited)
        }
    }

    private func sendPassword(_ secret: TagSecret, isLimited: Bool) async throws(TagError) {
        let command = Type2Command.passwordAuthenticate(secret.bytes)
        let retries = isLimited ? 0 : Self.retries
        var answer = try await exchange(command, retries: retries)
        // NAK 1 means that the command arrived damaged, so the tag did not count it.
        if case .refused(1) = answer { answer = try await exchange(command, retries: retries) }
        switch answer {
        case .bytes(let bytes) where secret.acknowledgement ?? bytes == bytes: mayBeAuthenticated = true
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

    /// AUTHENTICATE of Ultralight C and AES: tag and reader prove to each other that they know the key. If the tag counts
    /// nothing, it is repeated as a whole after a damaged answer.
    private func proveKey(_ key: [UInt8], _ pages: ProtectionPages, isLimited: Bool) async throws(TagError) {
        // Ultralight C has no FAST_READ, and trying it would end the authentication.
        if !pages.product.features.contains(.fastRead) { fastRead = .unusable }
        let cipher = try coded { () throws(CryptographyError) in try pages.cipher(key) }
        let length = cipher.blockLength
        let wrongKey = TagError(.authenticationFailed, "The tag has a different key.")
        for attempt in 0...Self.retries {
            let answer = try await exchange(.authenticate(blockLength: length))
            guard case .bytes(let first) = answer, first[0] == 0xAF else { throw wrongKey }
            let challenge = (0..<length).map { _ in UInt8.random(in: 0...255) }
            let proof = try coded { () throws(CryptographyError) in
                try ReaderProof(
                    cipher: cipher,
                    challenge: challenge,
                    answering: Array(first.dropFirst()),
                    chains: length == 8
                )
            }
            do throws(TagError) {
                guard case .bytes(let second) = try await exchange(.proveKey(proof.sent), retries: 0) else {
                    throw wrongKey
                }
                let isConfirmed = try coded { () throws(CryptographyError) in
                    try proof.isConfirmed(by: Array(second.dropFirst()))
                }
                guard isConfirmed else { throw wrongKey }
                mayBeAuthenticated = true
                return
            } catch {
                guard error.code == .badAnswer, attempt < Self.retries, !isLimited || length == 8 else { throw error }
                isActive = false
            }
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

    /// Returns whether a tag without a version takes part in the authentication of Ultralight C. One that needs its key for
    /// reading can't be told from an Ultralight by its memory.
    private func isReadProtectedUltralightC() async throws(TagError) -> Bool {
        guard target.isNXP, try await readVersion() == nil, canRequestVersion, try await !answersRead(42) else {
            return false
        }
        defer { isActive = false }
        return try await ask(.authenticate(blockLength: 8))?.first == 0xAF
    }

    private func protectionPages(for secret: TagSecret) async throws(TagError) -> ProtectionPages {
        var product = try await product()
        let isOpen = product?.features.isDisjoint(with: [.password, .tripleDES, .aes]) ?? true
        if isOpen, try await isReadProtectedUltralightC() {
            product = .ultralightC
        }
        guard let product, product.features.contains(.password) || product.keyPages != nil,
            let page = product.firstConfigurationPage
        else { throw TagError.noPassword(try await identifyProduct() ?? "a Type 2 tag of an unknown product") }
        let pages = ProtectionPages(first: page, product: product)
        try secret.check(length: pages.secretLength, of: product.name)
        return pages
    }
}
