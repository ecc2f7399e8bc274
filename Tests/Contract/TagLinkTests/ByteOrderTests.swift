// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// Numbers of bytes, against the standard library's own order of bytes.
@Suite("Numbers of bytes")
struct ByteOrderTests {
    @Test("are two bytes in either order", arguments: [0, 1, 0xFF, 0x100, 0x1234, 0xFFFF] as [UInt16])
    func areTwoBytes(_ number: UInt16) {
        let bigEndian = unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
        #expect(number.bigEndianBytes == bigEndian)
        #expect(number.littleEndianBytes == bigEndian.reversed())
        #expect(UInt16(high: bigEndian[0], low: bigEndian[1]) == number)
        #expect(Int(high: bigEndian[0], low: bigEndian[1]) == Int(number))
    }

    @Test("are as many bytes as there are")
    func areAsManyAsThereAre() {
        #expect(UInt32(bytes: []) == 0)
        #expect(UInt32(bytes: [0x01, 0x02, 0x03]) == 0x010203)
        #expect(UInt32(bytes: [0x01, 0x02, 0x03].reversed()) == 0x030201)
        #expect(UInt64(bytes: [0xFF, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]) == 0x0102_0304_0506_0708)
        #expect(Int(bytes: [UInt8](repeating: 0xFF, count: 8)) == -1)
    }
}

@Suite struct `Bytes of a number` {
    @Test func `are in the order and of the count asked for`() {
        #expect([UInt8](bigEndian: 0x0102_0304, count: 4) == [1, 2, 3, 4])
        #expect([UInt8](bigEndian: 0x0102_0304, count: 3) == [2, 3, 4])
        #expect([UInt8](bigEndian: 0x0102, count: 3) == [0, 1, 2])
        #expect([UInt8](littleEndian: 0x0102_0304, count: 4) == [4, 3, 2, 1])
        #expect([UInt8](littleEndian: 0x0102_0304, count: 2) == [4, 3])
        #expect([UInt8](bigEndian: 1, count: 0).isEmpty && [UInt8](littleEndian: 1, count: 0).isEmpty)
    }

    @Test func `are read from any place`() {
        let bytes: [UInt8] = [0xFF, 0x01, 0x02, 0x83, 0xFF]
        #expect(bytes.littleEndian(at: 1, count: 3) == 0x830201)
        #expect(bytes.littleEndian(at: 0, count: 1) == 0xFF)
        #expect(bytes.littleEndian(at: 4, count: 1) == 0xFF)
        #expect(bytes.littleEndian(at: 2, count: 0) == 0)
    }

    @Test func `have bits, the lowest of the first byte first`() {
        let bytes: [UInt8] = [0b1000_0001, 0b0000_0010]
        #expect((0..<16).filter { bytes.hasBit($0) } == [0, 7, 9])
    }

    @Test func `are two digits each, in hex`() {
        #expect(([0x00, 0x0F, 0x10, 0xFF] as [UInt8]).hexText() == "000f10ff")
        #expect(([0x00, 0x0F, 0x10] as [UInt8]).hexText(separator: ":") == "00:0f:10")
        #expect(
            0x0F.hexText(digits: 1) == "F" && 0x0F.hexText(digits: 4) == "000F" && 0x1234.hexText(digits: 2) == "1234"
        )
        for byte: UInt8 in .min ... .max {
            let digit = UInt8(String(decoding: [byte], as: UTF8.self), radix: 16)
            #expect(byte.hexDigitValue == (byte == 0x2B || byte == 0x2D ? nil : digit), "\(byte)")
        }
    }

    @Test("are read from hex digits in pairs, with spaces between the bytes alone, and only where they are asked for")
    func hexadecimal() {
        func bytes(_ text: String, separated: Bool) -> [UInt8]? {
            [UInt8](hexadecimal: text.utf8, separated: separated)
        }
        #expect(bytes("", separated: false) == [] && bytes("  ", separated: true) == [])
        #expect(bytes("00fFAb", separated: false) == [0x00, 0xFF, 0xAB])
        #expect(bytes(" 00  fF Ab ", separated: true) == [0x00, 0xFF, 0xAB])
        for text in ["0", "0 4", "00 4", "04 5 E", "0 0 4 4", "0044", "04\t5E", "0x04", "04 g0"] {
            #expect(bytes(text, separated: true) == nil, "\(text)")
        }
        for text in ["00 44", " 0044", "0044 ", "004", "00:4"] {
            #expect(bytes(text, separated: false) == nil, "\(text)")
        }
    }
}
