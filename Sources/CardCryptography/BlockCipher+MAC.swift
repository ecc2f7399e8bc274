// SPDX-License-Identifier: Apache-2.0

extension BlockCipher {
    /// The message authentication code CMAC (NIST SP 800-38B).
    ///
    /// - Parameters:
    ///   - message: any number of octets.
    ///   - vector: the block that the first one is combined with: zero in the standard, and what cards that chain their
    ///     codes take the code before for.
    /// - Returns: one block; protocols cut it to what they need.
    /// - Throws: ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
    public func cmac(_ message: [UInt8], vector: [UInt8]? = nil) throws(CryptographyError) -> [UInt8] {
        let zero = [UInt8](repeating: 0, count: blockLength)
        let first = Self.doubled(try encrypt(zero))
        let count = max(1, (message.count + blockLength - 1) / blockLength)
        let isWhole = message.count == count * blockLength
        var padded = message
        if !isWhole {
            padded.append(0x80)
            padded += Array(repeating: 0, count: count * blockLength - padded.count)
        }
        let mask = isWhole ? first : Self.doubled(first)
        let start = padded.count - blockLength
        for index in 0..<blockLength { padded[start + index] ^= mask[index] }
        return Array(try encrypt(padded, .blockChaining(vector: vector ?? zero)).suffix(blockLength))
    }

    /// Twice a block in the field of SP 800-38B, 5.3: its polynomial ends in 87 for 16 octets and in 1B for 8.
    private static func doubled(_ block: [UInt8]) -> [UInt8] {
        var result = block
        var carry: UInt8 = 0
        for index in block.indices.reversed() {
            result[index] = block[index] << 1 | carry
            carry = block[index] >> 7
        }
        if carry == 1, let last = result.indices.last { result[last] ^= block.count == 16 ? 0x87 : 0x1B }
        return result
    }

    /// The message authentication code of ISO/IEC 9797-1, algorithm 3 with DES, that ICAO 9303 calls the retail MAC.
    ///
    /// - Parameters:
    ///   - message: whole blocks of 8 octets: padding is the caller's.
    ///   - key: 16 octets.
    /// - Returns: 8 octets.
    /// - Throws: ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
    public static func retailMAC(_ message: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard key.count == 16, !message.isEmpty else {
            throw CryptographyError(.wrongLength, "A retail MAC takes a key of 16 octets and at least one block.")
        }
        let first = try BlockCipher.des(Array(key[..<8]))
        let second = try BlockCipher.des(Array(key[8...]))
        let zero = [UInt8](repeating: 0, count: 8)
        let chained = try first.encrypt(message, .blockChaining(vector: zero))
        return try first.encrypt(try second.decrypt(Array(chained.suffix(8))))
    }
}
