// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@Suite struct `Cyclic redundancy checks` {
    @Test func `CRC_A gives the examples of ISO 14443-3 annex B`() {
        #expect(CyclicRedundancyCheck.a([0x00, 0x00]) == 0x1EA0)
        #expect(CyclicRedundancyCheck.a([0x12, 0x34]) == 0xCF26)
    }

    @Test func `CRC_B gives the examples of ISO 14443-3 annex B`() {
        #expect(CyclicRedundancyCheck.b([0x00, 0x00, 0x00]) == 0xC6CC)
        #expect(CyclicRedundancyCheck.b([0x0F, 0xAA, 0xFF]) == 0xD1FC)
    }

    @Test func `The FeliCa CRC is that of XMODEM`() {
        #expect(CyclicRedundancyCheck.f(Array("123456789".utf8)) == 0x31C3)
    }
}
