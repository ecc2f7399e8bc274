// SPDX-License-Identifier: Apache-2.0

extension Type3Tag {
    /// Block 88 of a FeliCa Lite or Lite-S, the memory configuration; nil where the tag keeps it back.
    package func readMemoryConfiguration() async throws(TagError) -> [UInt8]? {
        try await register(FeliCaLite.memoryConfiguration)
    }

    /// Block 90 of a FeliCa Lite-S, how often it was written; nil where the tag keeps it back.
    package func readWriteCounter() async throws(TagError) -> UInt32? {
        try await register(FeliCaLite.writeCounter).map { $0.prefix(3).reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private func register(_ block: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            return try await check(block..<block + 1)
        } catch {
            guard error.code == .refused || error.code == .badAnswer else { throw error }
            return nil
        }
    }
}
