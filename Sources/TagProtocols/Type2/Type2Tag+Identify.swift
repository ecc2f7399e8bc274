// SPDX-License-Identifier: Apache-2.0

extension Type2Tag {
    /// Says which product the tag is: by GET_VERSION, and where it has none, by how much memory answers.
    ///
    /// - Returns: the name as its maker writes it, such as `NTAG213` or `MIFARE Ultralight C`; nil when it isn't known.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `cancelled`, `readerUnavailable`.
    public func identifyProduct() async throws(TagError) -> String? {
        try await product()?.name
    }

    /// The product, asked for once.
    func product() async throws(TagError) -> Type2Product? {
        guard target.manufacturer == Type2Product.manufacturer else { return nil }
        if let version = try await readVersion() { return Type2Product(version) }
        // How much memory there is tells products apart that lack the command, and not those that could not be asked.
        guard canAskVersion else { return nil }
        // NTAG203 ends at page 41, Ultralight at page 15; Ultralight C goes on to page 47.
        if try await answersRead(42) { return .ultralightC }
        if try await answersRead(16) { return .ntag203 }
        return .ultralight
    }

    private func answersRead(_ page: Int) async throws(TagError) -> Bool {
        if memory.contains(page) { return true }
        guard case .octets = try await exchange(.read(page)) else { return false }
        return true
    }
}
