// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `A card of which only the version is known` {
    /// The bytes of a version, with two of the last ones chosen.
    private static func version(_ count: Int, _ fab: UInt8 = 26, _ flags: UInt8 = 27) -> [UInt8] {
        var version = (1...29).map { UInt8($0) }
        (version[25], version[26]) = (fab, flags)
        return Array(version.prefix(count))
    }

    private static func send(_ message: String, to card: inout VersionCard) -> String {
        hexText(card.process(hex(message), tear: nil).bytes)
    }

    @Test func `gives its version in three frames, wrapped or not, and knows no other command`() {
        var card = VersionCard(VersionCardContents(.mifarePlus, version: Self.version(28)))
        #expect(Self.send("60", to: &card) == "af 01 02 03 04 05 06 07")
        #expect(Self.send("af", to: &card) == "af 08 09 0a 0b 0c 0d 0e")
        #expect(Self.send("af", to: &card) == "00 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c")
        #expect(Self.send("af", to: &card) == "1c")
        #expect(Self.send("90 60 00 00 00", to: &card) == "01 02 03 04 05 06 07 91 af")
        #expect(Self.send("90 6a 00 00 00", to: &card) == "91 1c")
        #expect(Self.send("60 00", to: &card) == "7e")
    }

    @Test(arguments: [
        ("04 04 02 10", "NTAG 413 DNA"), ("04 04 02 30", "NTAG 424 DNA"), ("04 04 08 30", "NTAG 424 DNA TagTamper"),
        ("04 04 02 20", VersionCardContents.Family.ntag4xx.rawValue),
        ("04 04 02", VersionCardContents.Family.ntag4xx.rawValue),
    ]) func `names its chip by its version`(version: String, chip: String) {
        #expect(VersionCardContents(.ntag4xx, version: hex(version)).chip == chip)
        var plus = VersionCardContents(.mifarePlus, version: hex(version))
        #expect(plus.chip == "MIFARE Plus")
        plus.cardType = "Mifare Plus EV2"
        #expect(plus.chip == "Mifare Plus EV2")
    }

    @Test func `takes a command of four bytes as one without data`() {
        var card = VersionCard(VersionCardContents(.mifarePlus, version: Self.version(28)))
        #expect(Self.send("90 60 00 00", to: &card) == "01 02 03 04 05 06 07 91 af")
        #expect(Self.send("00 a4 00 00", to: &card) == "6a 82")
        #expect(Self.send("00 b0 00 00", to: &card) == "6d 00")
    }

    @Test func `forgets the rest of its version with a command of another kind`() {
        var card = VersionCard(VersionCardContents(.mifarePlus, version: Self.version(28)))
        #expect(Self.send("60", to: &card) == "af 01 02 03 04 05 06 07")
        #expect(Self.send("00 a4 00 00", to: &card) == "6a 82")
        #expect(Self.send("af", to: &card) == "1c")
    }

    /// The number of bytes that are known, the bytes with the fab's five bits, and the length of the last frame.
    @Test(arguments: [
        (29, UInt8(0x0F), UInt8(0x80), 15), (29, 0x0E, 0x80, 14), (29, 0x0F, 0x7F, 14), (28, 0x0F, 0x80, 14),
    ])
    func `has a byte more where the fab's five bits are ones`(known: Int, fab: UInt8, flags: UInt8, length: Int) {
        let version = Self.version(known, fab, flags)
        var card = VersionCard(VersionCardContents(.ntag4xx, version: version))
        for command in [0x60, 0xAF] as [UInt8] { _ = card.process([command], tear: nil) }
        #expect(card.process([0xAF], tear: nil).bytes == [0x00] + version[14..<14 + length])
    }
}
