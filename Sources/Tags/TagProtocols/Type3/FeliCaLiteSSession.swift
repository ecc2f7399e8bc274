// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// A session with a FeliCa Lite-S whose card key is known. The chip proves that it knows the key, and the reader may do
/// the same. A MAC protects each read and write (FeliCa Lite-S User's Manual, 5).
///
/// ```swift
/// var session = try await FeliCaLiteSSession.begin(with: card, cardKey: key)
/// try await session.authenticateReader()
/// let block = try await session.read([0x05])
/// ```
///
/// The session ends when the card loses power, or when another challenge is written.
public struct FeliCaLiteSSession: Sendable {
    /// The card.
    public let card: FeliCaCard
    /// Whether the card has accepted the reader's proof.
    public private(set) var isReaderAuthenticated = false

    private let codes: FeliCaLiteCodes
    private var writeCounter: UInt32 = 0

    /// The maximum number of blocks in one read. The fourth block is the MAC.
    public static let maximumBlocksPerRead = 3

    private static let challengeBlock = 0x80
    private static let writeCounterBlock: UInt8 = 0x90
    private static let stateBlock: UInt8 = 0x92
    private static let blockSize = 16

    /// Starts a session with a card that was found by polling for system 88B4 or 12FC. Writes a challenge of 16 bytes,
    /// random by default, and verifies the card's proof that it knows the 16 bytes of block CK (internal
    /// authentication).
    ///
    /// - Throws: ``TagError`` with `authenticationFailed` when the card has a different key, `unsupported` when the
    ///   system's OpenSSL is missing, `refused`, and the errors of ``FeliCaCard/send(_:_:timeout:)``.
    public static func begin(
        with card: FeliCaCard,
        cardKey: [UInt8],
        challenge: [UInt8]? = nil
    ) async throws(TagError) -> FeliCaLiteSSession {
        let challenge = challenge ?? (0..<16).map { _ in UInt8.random(in: 0...255) }
        let codes = try coded { () throws(CryptographyError) in
            try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        }
        let status = try await card.write(service: Type3Tag.writeService, blocks: [challengeBlock], data: challenge)
        guard status.isSuccess else { throw TagError(.refused, "The card refused a challenge with \(status).") }
        var session = FeliCaLiteSSession(card: card, codes: codes)
        // The MAC of the write counter is the card's proof.
        session.writeCounter = UInt32(bytes: try await session.read([writeCounterBlock])[..<3].reversed())
        return session
    }

    /// Proves to the card that the reader knows the key (external authentication), for the blocks that require it.
    ///
    /// - Throws: ``TagError`` with `authenticationFailed` when the card did not accept the proof, and the errors of
    ///   ``write(_:_:)``.
    public mutating func authenticateReader() async throws(TagError) {
        try await write(Self.stateBlock, [0x01] + [UInt8](repeating: 0, count: 15))
        guard try await read([Self.stateBlock]).first == 0x01 else {
            throw TagError(.authenticationFailed, "The card did not accept the reader's proof (STATE is not 1).")
        }
        isReaderAuthenticated = true
    }

    /// Reads 1 to 3 blocks of 16 bytes, and verifies their MAC.
    ///
    /// - Throws: ``TagError`` with `authenticationFailed` when the MAC is wrong, `refused`, `unsupported`, and the
    ///   errors of ``FeliCaCard/send(_:_:timeout:)``.
    public func read(_ blocks: [UInt8]) async throws(TagError) -> [UInt8] {
        precondition((1...Self.maximumBlocksPerRead).contains(blocks.count), "1 to 3 blocks can be read at a time")
        let numbers = blocks + [FeliCaLiteCodes.macA]
        let bytes: [UInt8]
        switch try await card.read(service: Type3Tag.readService, blocks: numbers.map { Int($0) }) {
        case .success(let answer): bytes = answer
        case .failure(let status):
            throw TagError(.refused, "Reading with a MAC returned \(status) (FeliCa Lite-S User's Manual, 4.4).")
        }
        let data = Array(bytes.prefix(blocks.count * Self.blockSize))
        let expected = try coded { () throws(CryptographyError) in
            try codes.readCode(blocks: numbers, data: data)
        }
        guard ConstantTime.areEqual(bytes.dropFirst(data.count).prefix(8), expected) else {
            throw TagError(.authenticationFailed, "The MAC of the read data is wrong: the card has a different key.")
        }
        return data
    }

    /// Reads consecutive blocks, three at a time.
    func read(_ blocks: Range<Int>) async throws(TagError) -> [UInt8] {
        var bytes: [UInt8] = []
        for first in stride(from: blocks.lowerBound, to: blocks.upperBound, by: Self.maximumBlocksPerRead) {
            let end = min(blocks.upperBound, first + Self.maximumBlocksPerRead)
            bytes += try await read((first..<end).map { UInt8(truncatingIfNeeded: $0) })
        }
        return bytes
    }

    /// Writes a block of 16 bytes with a MAC. If the answer is lost, the block may or may not have been written.
    ///
    /// - Throws: ``TagError`` with `updateFailed` when the card refused, `unsupported`, and the errors of
    ///   ``FeliCaCard/send(_:_:timeout:)``.
    public mutating func write(_ block: UInt8, _ data: [UInt8]) async throws(TagError) {
        precondition(data.count == Self.blockSize, "a block has 16 bytes")
        let count = [UInt8](littleEndian: Int(writeCounter), count: 3)
        let code = try coded { () throws(CryptographyError) in
            try codes.writeCode(block: block, data: data, counter: writeCounter)
        }
        let status = try await card.write(
            service: Type3Tag.writeService,
            blocks: [Int(block), Int(FeliCaLiteCodes.macA)],
            data: data + code + count + [UInt8](repeating: 0, count: 5)
        )
        guard status.isSuccess else {
            let reason = "Writing block \(block) with a MAC returned \(status) (FeliCa Lite-S User's Manual, 4.5)."
            throw TagError(.updateFailed, reason)
        }
        writeCounter += 1
    }
}
