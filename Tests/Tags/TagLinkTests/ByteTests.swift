// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// Numbers as bytes, and bytes as text.
struct ByteTests {
    @Test(arguments: [0, 1, 0xFF, 0x100, 0x1234, 0xFFFF] as [UInt16])
    func `two-byte number: big and little endian as in the standard library`(number: UInt16) {
        let bigEndian = unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
        #expect(number.bigEndianBytes == bigEndian && number.littleEndianBytes == bigEndian.reversed())
        #expect(UInt16(high: bigEndian[0], low: bigEndian[1]) == number)
        #expect(Int(high: bigEndian[0], low: bigEndian[1]) == Int(number))
    }

    @Test func `bytes of a number: any count, in either order, from any offset`() {
        #expect(UInt32(bytes: []) == 0 && UInt32(bytes: [0x01, 0x02, 0x03]) == 0x010203)
        #expect(UInt32(bytes: [0x01, 0x02, 0x03].reversed()) == 0x030201)
        #expect(UInt64(bytes: [0xFF, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]) == 0x0102_0304_0506_0708)
        #expect(Int(bytes: [UInt8](repeating: 0xFF, count: 8)) == -1)
        let orders: [(Int, count: Int, big: [UInt8], little: [UInt8])] = [
            (0x0102_0304, 4, [1, 2, 3, 4], [4, 3, 2, 1]), (0x0102_0304, 3, [2, 3, 4], [4, 3, 2]),
            (0x0102, 3, [0, 1, 2], [2, 1, 0]), (1, 0, [], []),
        ]
        for (number, count, big, little) in orders {
            #expect([UInt8](bigEndian: number, count: count) == big)
            #expect([UInt8](littleEndian: number, count: count) == little)
        }
        let bytes: [UInt8] = [0xFF, 0x01, 0x02, 0x83, 0xFF]
        #expect(bytes.littleEndian(at: 1, count: 3) == 0x830201 && bytes.littleEndian(at: 4, count: 1) == 0xFF)
        #expect(bytes.littleEndian(at: 2, count: 0) == 0)
        // The lowest bit of the first byte is the first.
        let bits: [UInt8] = [0b1000_0001, 0b0000_0010]
        #expect((0..<16).filter { bits.hasBit($0) } == [0, 7, 9])
    }

    @Test func `hex text: two digits a byte, read in pairs with spaces between bytes where asked for`() {
        #expect(([0x00, 0x0F, 0x10, 0xFF] as [UInt8]).hexText() == "000f10ff")
        #expect(([0x00, 0x0F, 0x10] as [UInt8]).hexText(separator: ":") == "00:0f:10")
        #expect(
            0x0F.hexText(digits: 1) == "F" && 0x0F.hexText(digits: 4) == "000F" && 0x1234.hexText(digits: 2) == "1234"
        )
        for byte: UInt8 in .min ... .max {
            let digit = UInt8(String(decoding: [byte], as: UTF8.self), radix: 16)
            #expect(byte.hexDigitValue == (byte == 0x2B || byte == 0x2D ? nil : digit), "\(byte)")
        }
        let texts: [(String, separated: [UInt8]?, joined: [UInt8]?)] = [
            ("", [], []), ("  ", [], nil), ("00fFAb", nil, [0x00, 0xFF, 0xAB]),
            (" 00  fF Ab ", [0x00, 0xFF, 0xAB], nil),
            ("04", [4], [4]),
        ]
        for (text, separated, joined) in texts {
            #expect([UInt8](hexadecimal: text.utf8, separated: true) == separated, "\(text)")
            #expect([UInt8](hexadecimal: text.utf8, separated: false) == joined, "\(text)")
        }
        for text in ["0", "0 4", "00 4", "04 5 E", "0 0 4 4", "04\t5E", "0x04", "04 g0", "004", "00:4"] {
            for separated in [true, false] {
                #expect([UInt8](hexadecimal: text.utf8, separated: separated) == nil, "\(text)")
            }
        }
    }

    @Test func `IDm of a FeliCa card's systems: only the high four bits of the first byte differ`() {
        let pairs: [([UInt8], [UInt8], Bool)] = [
            ([0x01, 2, 3], [0x01, 2, 3], true), ([0x01, 2, 3], [0xF1, 2, 3], true),
            ([0x01, 2, 3], [0x02, 2, 3], false), ([0x01, 2, 3], [0x11, 2, 4], false),
            ([0x01, 2], [0x11, 2, 3], false), ([], [], true), ([], [1], false), ([1], [], false),
        ]
        for (idm, other, isOne) in pairs { #expect(idm.isIDmOfSameCard(as: other) == isOne, "\(idm) \(other)") }
    }
}
