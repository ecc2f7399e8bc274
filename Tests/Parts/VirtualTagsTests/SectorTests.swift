// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Sectors of NTAG I2C` {
    @Test func `SECTOR SELECT is acknowledged by silence, and lasts until the next activation`() async throws {
        let script = try Script(VirtualType2Tag(.ntagI2C2K, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a2 04 01 02 03 04") == "ACK")
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("a2 04 05 06 07 08") == "ACK")
        #expect(await script.send("30 04").hasPrefix("05 06 07 08"))
        #expect(await script.send("a2 00 09 09 09 09") == "ACK")
        #expect(await script.send("50 00") == "timeout")
        try await script.activate()
        #expect(await script.send("30 04").hasPrefix("01 02 03 04"))
        #expect(await script.send("30 00").hasPrefix("04 a1 b2 c3"))
    }

    @Test(arguments: [("02 00 00 00", Type2Product.ntagI2C2K), ("01 00 00 00", .ntagI2C1K), ("01", .ntagI2C2K)])
    func `A sector that is not there is refused`(_ sector: String, _ product: Type2Product) async throws {
        let script = try Script(VirtualType2Tag(product, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send(sector) == "NAK 0")
        #expect(await script.send("30 00") == "timeout")
        try await script.activate()
        #expect(await script.send("c2 00") == "NAK 0")
    }

    @Test func `Sector 3 has the session registers and nothing else`() async throws {
        let script = try Script(VirtualType2Tag(.ntagI2C1K, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("03 00 00 00") == "timeout")
        #expect(await script.send("30 f8") == String(repeating: "00 ", count: 15) + "00")
        #expect(await script.send("30 04") == "NAK 0")
    }

    @Test func `Reading ends at the end of a sector's memory`() async throws {
        let script = try Script(VirtualType2Tag(.ntagI2C2K, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("3a f0 ff").split(separator: " ").count == 64)
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("3a 00 df").split(separator: " ").count == 896)
        #expect(await script.send("30 e8") == "01 00 f8 48 08 01 00 00 00 00 00 00 00 00 00 00")
        #expect(await script.send("30 ea") == "NAK 0")
    }

    @Test func `A READ at the end of the first sector has zeros, and nothing of the second one`() async throws {
        let script = try Script(VirtualType2Tag(.ntagI2C2K, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a2 fe 01 02 03 04") == "ACK")
        #expect(await script.send("a2 ff 05 06 07 08") == "ACK")
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("a2 00 09 09 09 09") == "ACK")
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("00 00 00 00") == "timeout")
        #expect(await script.send("30 fe") == "01 02 03 04 05 06 07 08 00 00 00 00 00 00 00 00")
        #expect(await script.send("30 fc") == "00 00 00 00 00 00 00 00 01 02 03 04 05 06 07 08")
    }

    @Test func `The lock bits of the second sector lock both`() async throws {
        let script = try Script(VirtualType2Tag(.ntagI2C2K, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("a2 e0 01 40 00 00") == "ACK")
        #expect(await script.send("30 e0").hasPrefix("01 40 00 00"))
        // Bit 14 is for the last half block: pages 208 to 223 of the second sector.
        #expect(await script.send("a2 d0 01 02 03 04") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a2 10 01 02 03 04") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a2 30 01 02 03 04") == "ACK")
    }
}
