// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Testing

/// Checks the codes of FeliCa Lite-S against values that nfcpy's algorithm gives with another library.
struct FeliCaLiteCodesTests {
    private let cardKey: [UInt8] = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]
    private let challenge: [UInt8] = Array((0x20..<0x28).reversed()) + Array((0x28..<0x30).reversed())
    private let data: [UInt8] = Array(0x40..<0x50)

    @Test("Codes of blocks that are read")
    func reading() throws {
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        #expect(try codes.mac(data) == [0x44, 0xA8, 0xC3, 0xB3, 0x7F, 0x1F, 0x97, 0x00])
        let code = try codes.readCode(blocks: [0x05, 0x91], data: data)
        #expect(code == [0xE7, 0xA4, 0x26, 0x52, 0x07, 0xFD, 0xC3, 0x74])
    }

    @Test("The code of a block that is written")
    func writing() throws {
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        let code = try codes.writeCode(block: 0x05, data: data, counter: 0x1234)
        #expect(code == [0xB7, 0xF6, 0xF3, 0x05, 0x9B, 0xE2, 0x85, 0x31])
    }

    /// Codes by the formulas of the FeliCa Lite-S User's Manual (2.10), with the cipher alone.
    private func expected(_ data: [UInt8], firstHalfFirst: Bool) throws -> [UInt8] {
        func turned(_ bytes: [UInt8]) -> [UInt8] {
            stride(from: 0, to: bytes.count, by: 8).flatMap { bytes[$0..<$0 + 8].reversed() }
        }
        let session = try BlockCipher.des(turned(cardKey)).encrypt(
            turned(challenge),
            .blockChaining(vector: [UInt8](repeating: 0, count: 8))
        )
        let key = firstHalfFirst ? session : Array(session[8...] + session[..<8])
        let vector = Array(turned(challenge)[..<8])
        let all = try BlockCipher.des(key).encrypt(turned(data), .blockChaining(vector: vector))
        return all.suffix(8).reversed()
    }

    @Test("The numbers of one to four blocks fill a block of the code", arguments: 0...4)
    func numbers(count: Int) throws {
        let blocks = [UInt8](0x05..<UInt8(0x05 + count))
        let numbers = blocks.flatMap { [$0, 0x00] } + [UInt8](repeating: 0xFF, count: 8 - 2 * count)
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        #expect(try codes.readCode(blocks: blocks, data: data) == expected(numbers + data, firstHalfFirst: true))
        #expect(try codes.mac(data) == expected(data, firstHalfFirst: true))
    }

    @Test("A counter of three bytes is in front of what is written")
    func counter() throws {
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        for counter: UInt32 in [0, 0x00FF_FFFE, 0x1234_5678] {
            let head = (0..<3).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) } + [0, 0x0E, 0, 0x91, 0]
            #expect(
                try codes.writeCode(block: 0x0E, data: data, counter: counter)
                    == expected(head + data, firstHalfFirst: false)
            )
        }
    }

    @Test("Wrong lengths are refused")
    func wrongLengths() throws {
        #expect(throws: CryptographyError.self) { try FeliCaLiteCodes(cardKey: [1], challenge: challenge) }
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        #expect(throws: CryptographyError.self) { try FeliCaLiteCodes(cardKey: cardKey, challenge: [1]) }
        #expect(throws: CryptographyError.self) { try codes.mac([]) }
        #expect(throws: CryptographyError.self) { try codes.mac([1, 2, 3]) }
        // Keys of the cipher, but of no card.
        for count in [8, 24] {
            let other = [UInt8](repeating: 0x55, count: count)
            #expect(throws: CryptographyError.self) { try FeliCaLiteCodes(cardKey: other, challenge: challenge) }
            #expect(throws: CryptographyError.self) { try FeliCaLiteCodes(cardKey: cardKey, challenge: other) }
        }
    }

    @Test("What has a wrong length is told from what the library refuses")
    func codesOfWrongLengths() throws {
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        let calls: [() throws -> [UInt8]] = [
            { try FeliCaLiteCodes(cardKey: [1], challenge: challenge).mac(data) },
            { try FeliCaLiteCodes(cardKey: cardKey, challenge: [1]).mac(data) }, { try codes.mac([]) },
            { try codes.mac([1, 2, 3]) }, { try codes.readCode(blocks: [5, 0x91], data: [1]) },
            { try codes.writeCode(block: 5, data: [1], counter: 0) },
        ]
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: CryptographyError.self) { try call() }
            #expect(error?.code == .wrongLength, "\(index)")
        }
    }
}
