// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Testing

/// The codes of FeliCa Lite-S, against values that nfcpy's algorithm gives with another library.
struct FeliCaLiteCodesTests {
    private let cardKey: [UInt8] = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]
    private let challenge: [UInt8] = Array((0x20..<0x28).reversed()) + Array((0x28..<0x30).reversed())
    private let data: [UInt8] = Array(0x40..<0x50)

    /// Codes by the formulas of the FeliCa Lite-S User's Manual (2.10), with the cipher alone.
    private func expected(_ data: [UInt8], firstHalfFirst: Bool) throws -> [UInt8] {
        func turned(_ bytes: [UInt8]) -> [UInt8] {
            stride(from: 0, to: bytes.count, by: 8).flatMap { bytes[$0..<$0 + 8].reversed() }
        }
        let zeros = BlockCipher.Mode.blockChaining(vector: [UInt8](repeating: 0, count: 8))
        let session = try BlockCipher.des(turned(cardKey)).encrypt(turned(challenge), zeros)
        let key = firstHalfFirst ? session : Array(session[8...] + session[..<8])
        let vector = BlockCipher.Mode.blockChaining(vector: Array(turned(challenge)[..<8]))
        return try BlockCipher.des(key).encrypt(turned(data), vector).suffix(8).reversed()
    }

    @Test func `FeliCa Lite-S read MAC: covers the numbers of up to four blocks, filled up with FF, and the data`()
        throws
    {
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        #expect(try codes.mac(data) == bytes("44A8C3B37F1F9700"))
        #expect(try codes.readCode(blocks: [0x05, 0x91], data: data) == bytes("E7A4265207FDC374"))
        #expect(try codes.mac(data) == expected(data, firstHalfFirst: true))
        for count in 0...4 {
            let blocks = [UInt8](0x05..<UInt8(0x05 + count))
            let numbers = blocks.flatMap { [$0, 0x00] } + [UInt8](repeating: 0xFF, count: 8 - 2 * count)
            let wanted = try expected(numbers + data, firstHalfFirst: true)
            #expect(try codes.readCode(blocks: blocks, data: data) == wanted, "\(count)")
        }
    }

    @Test func `FeliCa Lite-S write MAC: covers a counter of three bytes, the block's number and the data`() throws {
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        let example = try codes.writeCode(block: 0x05, data: data, counter: 0x1234)
        #expect(example == bytes("B7F6F3059BE28531"))
        for counter: UInt32 in [0, 0x00FF_FFFE, 0x1234_5678] {
            let head = (0..<3).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) } + [0, 0x0E, 0, 0x91, 0]
            let wanted = try expected(head + data, firstHalfFirst: false)
            #expect(try codes.writeCode(block: 0x0E, data: data, counter: counter) == wanted, "\(counter)")
        }
    }

    @Test func `wrong lengths of keys, challenges and data: wrongLength`() throws {
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        var calls: [() throws -> [UInt8]] = [
            { try codes.mac([]) }, { try codes.mac([1, 2, 3]) }, { try codes.readCode(blocks: [5, 0x91], data: [1]) },
            { try codes.writeCode(block: 5, data: [1], counter: 0) },
        ]
        // Also keys of the cipher that are of no card.
        for count in [1, 8, 24] {
            let other = [UInt8](repeating: 0x55, count: count)
            calls.append { [challenge, data] in try FeliCaLiteCodes(cardKey: other, challenge: challenge).mac(data) }
            calls.append { [cardKey, data] in try FeliCaLiteCodes(cardKey: cardKey, challenge: other).mac(data) }
        }
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: CryptographyError.self) { try call() }
            #expect(error?.code == .wrongLength, "\(index)")
        }
    }
}
