// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

extension Type2Tag {
    /// Requests the eight bytes of GET_VERSION, only once (NTAG213/215/216 data sheet, 10.1). A tag without the command is
    /// woken again before its next command.
    ///
    /// - Returns: nil when the tag does not have the command or its reader can't send it.
    package func readVersion() async throws(TagError) -> [UInt8]? {
        if let version { return version }
        var found: [UInt8]?
        do throws(TagError) {
            if case .bytes(let bytes) = try await exchange(.getVersion, retries: 1), bytes.count == 8 { found = bytes }
        } catch {
            // When the reader can't send the command, the tag's state does not change.
            guard error.code == .badAnswer || error.code == .unsupported else { throw error }
            if error.code == .badAnswer { isActive = false } else { canAskVersion = false }
        }
        version = .some(found)
        return found
    }
}

extension Type2Tag {
    /// Identifies the product by GET_VERSION. For tags without this command, the size of the memory decides.
    ///
    /// - Returns: the name as its manufacturer writes it, such as `NTAG213` or `MIFARE Ultralight C`; nil when it is
    ///   unknown.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `cancelled`, `readerUnavailable`.
    public func identifyProduct() async throws(TagError) -> String? {
        try await product()?.name
    }

    /// Returns the product. The tag is asked only once.
    func product() async throws(TagError) -> Type2Product? {
        guard target.isNXP else { return nil }
        if let version = try await readVersion() { return Type2Product(version: version) }
        // The memory size distinguishes the products without the command. It can't when the reader was unable to ask.
        guard canAskVersion else { return nil }
        // NTAG203 ends at page 41, Ultralight at page 15, Ultralight C at page 47.
        if try await answersRead(42) { return .ultralightC }
        if try await answersRead(16) { return .ntag203 }
        return .ultralight
    }

    func answersRead(_ page: Int) async throws(TagError) -> Bool {
        if memory.contains(page) { return true }
        guard case .bytes = try await exchange(.read(page)) else { return false }
        return true
    }
}

/// Data of a tag besides its message.
extension Type2Tag {
    /// Returns the 32 bytes of READ_SIG; nil when the tag does not have the command or its reader can't send it.
    package func readSignature() async throws(TagError) -> [UInt8]? {
        try await ask(.readSignature)
    }

    /// Reads a counter with READ_CNT, and its state with CHECK_TEARING_EVENT.
    ///
    /// - Parameter number: 0 to 2.
    /// - Returns: the count; nil when the tag does not let it be read. `tearing` is nil for tags without that command.
    package func readCounter(_ number: UInt8) async throws(TagError) -> (count: UInt32, tearing: UInt8?)? {
        guard let bytes = try await ask(.readCounter(number)) else { return nil }
        let count = UInt32(bytes: bytes.reversed())
        return (count, try await ask(.checkTearing(number))?.first)
    }

    /// Reads the memory from page 0 on.
    ///
    /// - Parameter count: the number of pages.
    /// - Returns: four bytes for each page; nil when the tag does not let one of them be read.
    package func readPages(_ count: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            // The first pages are read alone: a READ that starts at page 1 or 2 could not be distinguished from a
            // rollover.
            if !(0..<4).allSatisfy({ memory.contains($0) }) { try await performRead(0) }
            try await fetch(0..<count)
        } catch {
            guard error.isRefusedRead || error.code == .badAnswer else { throw error }
            return nil
        }
        let pages = (0..<count).compactMap { memory[page: $0] }
        return pages.count == count ? Array(pages.joined()) : nil
    }

    /// Sends a command that not all tags have.
    private func ask(_ command: Type2Command) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            if case .bytes(let bytes) = try await exchange(command, retries: 1) { return bytes }
        } catch {
            // When the reader can't send the command, the tag's state does not change.
            guard error.code == .badAnswer || error.code == .unsupported else { throw error }
            if error.code == .badAnswer { isActive = false }
        }
        return nil
    }
}
