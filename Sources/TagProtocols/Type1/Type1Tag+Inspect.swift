// SPDX-License-Identifier: Apache-2.0

extension Type1Tag {
    /// The memory from block 0 on.
    ///
    /// - Parameter count: how many octets, such as 120 or 512.
    /// - Returns: nil where the tag has fewer.
    package func readOctets(_ count: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            try await fetch(0..<count)
        } catch {
            guard error.code == .lengthOverrun else { throw error }
            return nil
        }
        let octets = (0..<count).compactMap { memory[octet: $0] }
        return octets.count == count ? octets : nil
    }
}
