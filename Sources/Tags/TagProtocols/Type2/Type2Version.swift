// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The answer to GET_VERSION (NTAG213/215/216 data sheet, 10.1).
struct Type2Version: Equatable {
    /// The eight bytes.
    let octets: [UInt8]

    var vendor: UInt8 { octets[1] }
    var productType: UInt8 { octets[2] }
    var productSubtype: UInt8 { octets[3] }
    var majorVersion: UInt8 { octets[4] }
    var minorVersion: UInt8 { octets[5] }
    /// Half of it is the exponent of the memory's size; the lowest bit says that the size is above that power of two.
    var storageSize: UInt8 { octets[6] }

    /// Takes the eight bytes, or nil when there are not eight.
    init?(_ octets: [UInt8]) {
        guard octets.count == 8 else { return nil }
        self.octets = octets
    }
}

extension Type2Tag {
    /// Asks the tag for its version, once; a tag without the command is woken again when it is needed next.
    ///
    /// - Returns: the version, or nil when the tag does not have the command.
    func readVersion() async throws(TagError) -> Type2Version? {
        if let version { return version }
        var found: Type2Version?
        do throws(TagError) {
            if case .octets(let octets) = try await exchange(.getVersion, retries: 1) { found = Type2Version(octets) }
        } catch {
            // A reader that sends no such command leaves the tag as it is.
            guard error.code == .badAnswer || error.code == .unsupported else { throw error }
            if error.code == .badAnswer { isActive = false } else { canAskVersion = false }
        }
        version = .some(found)
        return found
    }
}

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

/// What a tag tells of itself beside its message.
extension Type2Tag {
    /// The eight bytes of GET_VERSION; nil where the tag does not have the command, or its reader can't send it.
    package func versionOctets() async throws(TagError) -> [UInt8]? {
        try await readVersion()?.octets
    }

    /// The 32 bytes of READ_SIG; nil where the tag does not have the command, or its reader can't send it.
    package func readSignature() async throws(TagError) -> [UInt8]? {
        try await ask(.readSignature)
    }

    /// A counter by READ_CNT, and whether CHECK_TEARING_EVENT says that it is whole.
    ///
    /// - Parameter number: 0 to 2.
    /// - Returns: the count; nil where the tag keeps it back. `tearing` is nil where it has no such command.
    package func readCounter(_ number: UInt8) async throws(TagError) -> (count: UInt32, tearing: UInt8?)? {
        guard let octets = try await ask(.readCounter(number)) else { return nil }
        let count = UInt32(octets: octets.reversed())
        return (count, try await ask(.checkTearing(number))?.first)
    }

    /// The memory from page 0 on.
    ///
    /// - Parameter count: how many pages.
    /// - Returns: four bytes a page; nil where the tag keeps a page back.
    package func readPages(_ count: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            // The first pages by themselves: a READ that begins at page 1 or 2 could not tell them from a roll-over.
            if !(0..<4).allSatisfy({ memory.contains($0) }) { try await performRead(0) }
            try await fetch(0..<count)
        } catch {
            guard error.code == .refused || error.code == .lengthOverrun || error.code == .badAnswer else {
                throw error
            }
            return nil
        }
        let pages = (0..<count).compactMap { memory[page: $0] }
        return pages.count == count ? Array(pages.joined()) : nil
    }

    /// Sends a command that not all tags have.
    private func ask(_ command: Type2Command) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            if case .octets(let octets) = try await exchange(command, retries: 1) { return octets }
        } catch {
            // A reader that sends no such command leaves the tag as it is.
            guard error.code == .badAnswer || error.code == .unsupported else { throw error }
            if error.code == .badAnswer { isActive = false }
        }
        return nil
    }
}
