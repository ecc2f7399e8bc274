// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// Numbers of octets, against the standard library's own order of octets.
@Suite("Numbers of octets")
struct OctetOrderTests {
    @Test("are two octets in either order", arguments: [0, 1, 0xFF, 0x100, 0x1234, 0xFFFF] as [UInt16])
    func areTwoOctets(_ number: UInt16) {
        let bigEndian = unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
        #expect(number.bigEndianOctets == bigEndian)
        #expect(number.littleEndianOctets == bigEndian.reversed())
        #expect(UInt16(high: bigEndian[0], low: bigEndian[1]) == number)
        #expect(Int(high: bigEndian[0], low: bigEndian[1]) == Int(number))
    }

    @Test("are as many octets as there are")
    func areAsManyAsThereAre() {
        #expect(UInt32(octets: []) == 0)
        #expect(UInt32(octets: [0x01, 0x02, 0x03]) == 0x010203)
        #expect(UInt32(octets: [0x01, 0x02, 0x03].reversed()) == 0x030201)
        #expect(UInt64(octets: [0xFF, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]) == 0x0102_0304_0506_0708)
        #expect(Int(octets: [UInt8](repeating: 0xFF, count: 8)) == -1)
    }
}
