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

    @Test("Wrong lengths are refused")
    func wrongLengths() throws {
        #expect(throws: CryptographyError.self) { try FeliCaLiteCodes(cardKey: [1], challenge: challenge) }
        let codes = try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
        #expect(throws: CryptographyError.self) { try codes.mac([]) }
        #expect(throws: CryptographyError.self) { try codes.mac([1, 2, 3]) }
    }
}
