// SPDX-License-Identifier: Apache-2.0

/// The message authentication codes of FeliCa Lite and Lite-S: triple DES with session keys that are derived from the
/// card key and a challenge (FeliCa Lite-S User's Manual, 5).
///
/// The chip and the cipher use opposite byte orders, so each half of a block is reversed before and after. All
/// functions return 8 bytes, and throw ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
public struct FeliCaLiteCodes: Sendable, Hashable {
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
    public init(cardKey: [UInt8], challenge: [UInt8]) throws(CryptographyError) {
        guard cardKey.count == 16, challenge.count == 16 else {
            throw CryptographyError(.wrongLength, "The card key and the challenge of FeliCa Lite-S have 16 bytes each.")
        }
        let turned = Self.turned(challenge)
        let cipher = try BlockCipher.des(Self.turned(cardKey))
        let keys = try cipher.encrypt(turned, .blockChaining(vector: Array(repeating: 0, count: 8)))
        reading = try .des(keys)
        writing = try .des(Array(keys[8...] + keys[..<8]))
        vector = Array(turned[..<8])
    }

    /// Computes the MAC that FeliCa Lite returns in block 81 for the data that was read.
    public func mac(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] { try code(data, reading) }

    /// Computes the MAC that FeliCa Lite-S returns in block 91 for the data that was read.
    ///
    /// - Parameters:
    ///   - blocks: the numbers of the requested blocks: at most four, with MAC_A last.
    ///   - data: the bytes of the blocks before MAC_A.
    public func readCode(blocks: [UInt8], data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let numbers = blocks.flatMap { [$0, 0x00] } + [UInt8](repeating: 0xFF, count: max(0, 8 - 2 * blocks.count))
        return try code(numbers + data, reading)
    }

    /// Computes the MAC to send in block 91 when writing one block.
    ///
    /// - Parameters:
    ///   - block: the block's number.
    ///   - data: the bytes to write.
    ///   - counter: the write counter, 24 bits.
    public func writeCode(block: UInt8, data: [UInt8], counter: UInt32) throws(CryptographyError) -> [UInt8] {
        let count = (0..<3).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
        return try code(count + [0x00, block, 0x00, Self.macA, 0x00] + data, writing)
    }

    private func code(_ data: [UInt8], _ cipher: BlockCipher) throws(CryptographyError) -> [UInt8] {
        guard !data.isEmpty else {
            throw CryptographyError(.wrongLength, "A FeliCa Lite-S MAC covers at least one block.")
        }
        return try cipher.encrypt(Self.turned(data), .blockChaining(vector: vector)).suffix(8).reversed()
    }

    /// Reverses each group of 8 bytes.
    private static func turned(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: 8).flatMap { bytes[$0..<min(bytes.count, $0 + 8)].reversed() }
    }
}

/// The tag's half of a mutual authentication by triple DES or AES in CBC: AUTHENTICATE of MIFARE Ultralight C, and
/// AUTHENTICATE ISO and AES of MIFARE DESFire (MF0ICU2 data sheet, 7.5.5; MF3ICD81 data sheet, 9.4).
///
/// The tag sends its challenge. The reader proves that it knows the key: it sends its own challenge and the tag's,
/// rotated. The tag answers with the reader's challenge, rotated. The CBC chain continues through all messages, except in
/// the authentication of MIFARE Ultralight AES, where each message begins a chain.
package struct ChallengeProof: Sendable {
    private let cipher: BlockCipher
    private let chains: Bool
    @Hidden private var challenge: [UInt8]
    package let sent: [UInt8]

    /// Begins an authentication.
    ///
    /// If libcrypto is missing, the challenge is sent unencrypted, and ``finish(_:)`` throws.
    ///
    /// - Parameter challenge: random bytes, in whole blocks.
    package init(cipher: BlockCipher, challenge: [UInt8], chains: Bool = true) {
        self.cipher = cipher
        self.chains = chains
        self.challenge = challenge
        sent = (try? cipher.encrypt(challenge, .blockChaining(vector: cipher.zeros))) ?? challenge
    }

    /// Checks the reader's proof.
    ///
    /// - Parameter proof: the reader's message, which is twice as long as the challenge.
    /// - Returns: the reader's challenge and the tag's answer; nil if the proof is wrong.
    package func finish(
        _ proof: [UInt8]
    ) throws(CryptographyError) -> (readerChallenge: [UInt8], answer: [UInt8])? {
        guard proof.count == 2 * challenge.count else { return nil }
        let challenges = try cipher.decrypt(proof, .blockChaining(vector: cipher.vector(after: sent, chains)))
        guard ConstantTime.areEqual(challenges[challenge.count...], challenge.rotated) else { return nil }
        let readerChallenge = Array(challenges[..<challenge.count])
        let vector = cipher.vector(after: proof, chains)
        return (readerChallenge, try cipher.encrypt(readerChallenge.rotated, .blockChaining(vector: vector)))
    }
}

/// The reader's half of the authentication of ``ChallengeProof``.
package struct ReaderProof: Sendable {
    private let cipher: BlockCipher
    private let chains: Bool
    @Hidden private var challenge: [UInt8]
    @Hidden package private(set) var cardChallenge: [UInt8]
    package let sent: [UInt8]

    /// Answers a tag's encrypted challenge.
    ///
    /// - Parameters:
    ///   - challenge: random bytes, as many as the tag sent.
    ///   - received: the tag's encrypted challenge, in whole blocks.
    package init(
        cipher: BlockCipher,
        challenge: [UInt8],
        answering received: [UInt8],
        chains: Bool = true
    ) throws(CryptographyError) {
        let cardChallenge = try cipher.decrypt(received, .blockChaining(vector: cipher.zeros))
        let vector = cipher.vector(after: received, chains)
        sent = try cipher.encrypt(challenge + cardChallenge.rotated, .blockChaining(vector: vector))
        self.cipher = cipher
        self.chains = chains
        self.challenge = challenge
        self.cardChallenge = cardChallenge
    }

    /// Returns whether the tag's answer proves that it knows the key.
    package func isConfirmed(by answer: [UInt8]) throws(CryptographyError) -> Bool {
        let vector = cipher.vector(after: sent, chains)
        return ConstantTime.areEqual(try cipher.decrypt(answer, .blockChaining(vector: vector)), challenge.rotated)
    }
}

extension BlockCipher {
    fileprivate func vector(after message: [UInt8], _ chains: Bool) -> [UInt8] {
        chains ? Array(message.suffix(blockLength)) : zeros
    }
}

extension [UInt8] {
    /// The bytes with the first one moved to the end. A proof repeats a challenge in this form.
    package var rotated: [UInt8] { Array(dropFirst() + prefix(1)) }
}
