// SPDX-License-Identifier: Apache-2.0

/// The message authentication codes of FeliCa Lite and Lite-S: triple DES with session keys that are derived from the
/// card key and a challenge (FeliCa Lite-S User's Manual, 5).
///
/// The chip uses the opposite byte order of the cipher, so each half of a block is reversed before and after.
public struct FeliCaLiteCodes: Sendable, Hashable {
    /// The number of the block MAC_A.
    package static let macA: UInt8 = 0x91

    private let reading: BlockCipher
    private let writing: BlockCipher
    /// The first half of the challenge, the initial vector of every MAC.
    private let vector: [UInt8]

    /// Derives the session keys.
    ///
    /// - Parameters:
    ///   - cardKey: block CK: 16 bytes, as written to the chip.
    ///   - challenge: block RC: 16 bytes, as written to the chip.
    /// - Throws: ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
    public init(cardKey: [UInt8], challenge: [UInt8]) throws(CryptographyError) {
        guard cardKey.count == 16, challenge.count == 16 else {
            throw CryptographyError(.wrongLength, "Card key and challenge of FeliCa Lite-S have 16 bytes each.")
        }
        let turned = Self.turned(challenge)
        let cipher = try BlockCipher.des(Self.turned(cardKey))
        let keys = try cipher.encrypt(turned, .blockChaining(vector: Array(repeating: 0, count: 8)))
        reading = try .des(keys)
        writing = try .des(Array(keys[8...] + keys[..<8]))
        vector = Array(turned[..<8])
    }

    /// Computes the MAC of FeliCa Lite, in block 81, over blocks that were read.
    ///
    /// - Parameter data: the blocks' bytes.
    /// - Returns: 8 bytes.
    /// - Throws: ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
    public func mac(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try code(data, reading)
    }

    /// Computes the MAC of FeliCa Lite-S, in block 91, over blocks that were read.
    ///
    /// - Parameters:
    ///   - blocks: the numbers of the requested blocks, with MAC_A as the last one; four at most.
    ///   - data: the bytes of the blocks before MAC_A.
    /// - Returns: 8 bytes.
    /// - Throws: ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
    public func readCode(blocks: [UInt8], data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let numbers = blocks.flatMap { [$0, 0x00] } + [UInt8](repeating: 0xFF, count: max(0, 8 - 2 * blocks.count))
        return try code(numbers + data, reading)
    }

    /// Computes the MAC for writing one block, in block 91.
    ///
    /// - Parameters:
    ///   - block: the block's number.
    ///   - data: the bytes to write.
    ///   - counter: the write counter, 24 bits.
    /// - Returns: 8 bytes.
    /// - Throws: ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
    public func writeCode(block: UInt8, data: [UInt8], counter: UInt32) throws(CryptographyError) -> [UInt8] {
        let count = (0..<3).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
        return try code(count + [0x00, block, 0x00, Self.macA, 0x00] + data, writing)
    }

    private func code(_ data: [UInt8], _ cipher: BlockCipher) throws(CryptographyError) -> [UInt8] {
        guard !data.isEmpty else {
            throw CryptographyError(.wrongLength, "A code of FeliCa Lite-S is over at least one block.")
        }
        return try cipher.encrypt(Self.turned(data), .blockChaining(vector: vector)).suffix(8).reversed()
    }

    /// Reverses each group of 8 bytes.
    private static func turned(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: 8).flatMap { bytes[$0..<min(bytes.count, $0 + 8)].reversed() }
    }
}
