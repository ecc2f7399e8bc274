// SPDX-License-Identifier: Apache-2.0
import TagProducts

/// The password of NTAG21x and MIFARE Ultralight EV1 (NTAG213/215/216 data sheet, 8.8).
extension Type2Tag {
    /// A password, and the answer with which the tag acknowledges it.
    public struct Password: Sendable, Hashable {
        /// Four bytes.
        public let bytes: [UInt8]
        /// PACK: two bytes.
        public let acknowledgement: [UInt8]

        /// Creates a password.
        ///
        /// - Parameters:
        ///   - bytes: four bytes.
        ///   - acknowledgement: two bytes.
        /// - Returns: nil when a length is wrong.
        public init?(_ bytes: [UInt8], acknowledgement: [UInt8] = [0, 0]) {
            guard bytes.count == 4, acknowledgement.count == 2 else { return nil }
            self.bytes = bytes
            self.acknowledgement = acknowledgement
        }
    }

    /// Sets a password without which nobody can write the tag from its lock bytes on. Everybody can still read it.
    ///
    /// The password is written first, and the page that switches the protection on last. A tag that is lost in between
    /// is either open or completely protected. The protection holds from the tag's next activation on. If the tag has the
    /// same password already, this succeeds.
    ///
    /// - Parameter password: the password.
    /// - Throws: ``TagError`` with `unsupported` when the product has no password, `authenticationFailed` when it has
    ///   another one, `updateFailed`, `refused`, `tagLost`, `cancelled`.
    public func protect(with password: Password) async throws(TagError) {
        let page = try await configurationPage()
        guard let configuration = try await readConfiguration(page) else {
            throw TagError(.refused, "The tag refuses to show its configuration, so it has a password already.")
        }
        let isProtected = Int(configuration[3]) <= page + 3
        if isProtected { return try await authenticate(password) }
        guard configuration[4] & 0x40 == 0 else {
            throw TagError(.readOnly, "The tag's configuration is locked, so no password can be set any more.")
        }
        try await write(password.bytes, to: page + 2)
        try await write(password.acknowledgement + [0, 0], to: page + 3)
        // Nobody can read these pages, so they are not kept either.
        for secret in page + 2...page + 3 { memory.forget(secret) }
        // Reading stays free: PROT is 0.
        let access = [configuration[4] & 0x7F] + configuration[5..<8]
        if access != Array(configuration[4..<8]) { try await write(access, to: page + 1) }
        try await write(configuration[0..<3] + [UInt8(Self.firstProtectedPage)], to: page)
        try await authenticate(password)
    }

    /// Proves to the tag that the reader knows its password. The tag can be written until it loses power.
    ///
    /// - Throws: ``TagError`` with `authenticationFailed` when the password or its acknowledgement is wrong, `unsupported`,
    ///   `tagLost`, `cancelled`.
    public func authenticate(_ password: Password) async throws(TagError) {
        switch try await exchange(.passwordAuthenticate(password.bytes)) {
        case .bytes(password.acknowledgement): mayBeAuthenticated = true
        case .bytes, .refused:
            throw TagError(.authenticationFailed, "The tag has another password, or another acknowledgement.")
        }
    }

    /// Notes that an app sends a packet of its own. With PWD_AUTH or AUTHENTICATE it knows the password, so what needs that
    /// is no reason to refuse a write.
    package func willSend(_ packet: [UInt8]) {
        if let command = packet.first, [0x1A, 0x1B, 0xAF].contains(command) { mayBeAuthenticated = true }
    }

    /// Notes an answer of four bits to such a packet. A tag that refuses one sleeps then, and forgets that it was given its
    /// password.
    package func wasAnswered(_ nibble: UInt8) {
        if nibble != Self.acknowledge { mayBeAuthenticated = false }
    }

    /// The page with the static lock bytes.
    private static let firstProtectedPage = 2

    /// Returns the two pages with AUTH0 and ACCESS; nil when the tag does not show them.
    private func readConfiguration(_ page: Int) async throws(TagError) -> [UInt8]? {
        guard case .bytes(let bytes) = try await exchange(.read(page)) else { return nil }
        return Array(bytes.prefix(8))
    }

    private func configurationPage() async throws(TagError) -> Int {
        guard let product = try await product(), product.features.contains(.password),
            let page = product.configurationPage
        else { throw TagError(.unsupported, "Only NTAG21x and MIFARE Ultralight EV1 take a password here.") }
        return page
    }
}
