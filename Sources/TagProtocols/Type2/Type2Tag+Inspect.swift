// SPDX-License-Identifier: Apache-2.0

/// What a tag tells of itself beside its message.
extension Type2Tag {
    /// The eight octets of GET_VERSION; nil where the tag does not have the command, or its reader can't send it.
    package func versionOctets() async throws(TagError) -> [UInt8]? {
        try await readVersion()?.octets
    }

    /// The 32 octets of READ_SIG; nil where the tag does not have the command, or its reader can't send it.
    package func readSignature() async throws(TagError) -> [UInt8]? {
        try await ask(.readSignature)
    }

    /// A counter by READ_CNT, and whether CHECK_TEARING_EVENT says that it is whole.
    ///
    /// - Parameter number: 0 to 2.
    /// - Returns: the count; nil where the tag keeps it back. `tearing` is nil where it has no such command.
    package func readCounter(_ number: UInt8) async throws(TagError) -> (count: UInt32, tearing: UInt8?)? {
        guard let octets = try await ask(.readCounter(number)) else { return nil }
        let count = octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        return (count, try await ask(.checkTearing(number))?.first)
    }

    /// The memory from page 0 on.
    ///
    /// - Parameter count: how many pages.
    /// - Returns: four octets a page; nil where the tag keeps a page back.
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
