// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualTags

/// Payment cards (EMV book 3 and 4) and cards of which only the version is known.
struct OtherCardTests {
    // MARK: Payment cards

    private static let identifier = "a0 00 00 00 03 10 10"

    private func payment(_ change: (inout EMVContents) -> Void = { _ in }) -> Stage {
        var contents = EMVContents(applicationIdentifier: hex(Self.identifier), accountNumber: hex("41 11"))
        contents.interchangeProfile = [0x20, 0x00]
        change(&contents)
        let names = [
            "AID": Self.identifier, "SELECT": "00 a4 04 00 07 \(Self.identifier) 00",
            "OPTIONS": "80 a8 00 00 02 83 00 00",
            "RECORD": "00 b2 01 0c 00", "PPSE": "32 50 41 59 2e 53 59 53 2e 44 44 46 30 31",
        ]
        return Stage(EMVCard(contents), names: names)
    }

    @Test func `Payment card: directory, application, options and record are answered in a terminal's order only`()
        async throws
    {
        let options = "77 0a 82 02 20 00 94 04 08 01 01 00 90 00"
        try await play(
            """
            == Processing options are given once, and then the record (EMV book 3, 6.5.8)
            SELECT -> 6f 0b 84 07 AID a5 00 90 00; RECORD -> 69 85; OPTIONS -> \(options); OPTIONS -> 69 85
            RECORD -> 70 04 5a 02 41 11 90 00; SELECT -> 6f ..; RECORD -> 69 85; OPTIONS -> \(options); power
            RECORD -> 69 85
            == The directory names the application
            00 a4 04 00 0e PPSE 00 -> 6f 23 84 0e PPSE a5 11 bf 0c 0e 61 0c 4f 07 AID 87 01 01 90 00; RECORD -> 6d 00
            ** Processing options are asked for in one way alone
            SELECT -> ?; 80 a8 00 00 00 -> 67 00; RECORD -> 69 85
            SELECT -> ?; 80 a8 00 01 02 83 00 00 -> 6a 86; RECORD -> 69 85
            SELECT -> ?; 00 a8 00 00 02 83 00 00 -> 6d 00; RECORD -> 69 85
            == What the card does not have is refused
            SELECT -> ?; OPTIONS -> ?; 00 b2 01 0d 00 -> 6a 86; 00 b2 02 0c 00 -> 6a 83; 00 b2 01 14 00 -> 6a 83
            80 b2 01 0c 00 -> 6d 00; 80 ca 9f 17 00 -> 6a 88; 80 ae 00 00 00 -> 6d 00
            """
        ) { _ in payment() }
        let full = payment {
            ($0.label, $0.name, $0.cardholder, $0.pinTries) = ("AB", "CD", "AB", 3)
            $0.expiration = EMVContents.Date([0x30, 0x12, 0x31])
            $0.effective = EMVContents.Date([0x25, 0x01, 0x02])
            ($0.country, $0.currency) = (0x0840, 0x0978)
        }
        try await play(
            """
            == All that is known of a card, in this order
            00 a4 04 00 0e PPSE 00 -> 6f 27 84 0e PPSE a5 15 bf 0c 12 61 10 4f 07 AID 50 02 41 42 87 01 01 90 00
            SELECT -> 6f 18 84 07 AID a5 0d 50 02 41 42 9f 11 01 01 9f 12 02 43 44 90 00; OPTIONS -> ?
            RECORD -> 70 1f 5a 02 41 11 5f 20 02 41 42 5f 24 03 30 12 31 5f 25 03 25 01 02 5f 28 02 08 40 9f 42 02 09 78 90 00
            80 ca 9f 17 00 -> 9f 17 01 03 90 00; 80 ca 9f 36 00 -> 6a 88
            """
        ) { _ in full }
        try await payment { $0.applicationIdentifier = [] }.check("00 a4 04 00 0e PPSE 00 -> 6a 82")
    }

    @Test func `Payment card contents: texts of up to 64 bytes, AIDs of 5 to 16, account numbers of up to 10 fit`() {
        let texts: [(String, Bool)] = [
            (String(repeating: "A", count: 64), true), (String(repeating: "A", count: 65), false), (" ", true),
            ("A\u{1F}", false), ("", true),
        ]
        for (text, isHeld) in texts { #expect(EMVContents.canHold(text) == isHeld, "\(text)") }
        let sizes: [(Int, Int, Bool)] = [
            (0, 0, true), (0, 10, true), (0, 11, false), (4, 10, false), (5, 10, true), (5, 11, false), (16, 10, true),
            (17, 10, false),
        ]
        for (name, number, isInRange) in sizes {
            let (name, number) = ([UInt8](repeating: 0xA0, count: name), [UInt8](repeating: 0x41, count: number))
            #expect(EMVContents(applicationIdentifier: name, accountNumber: number).isInRange == isInRange)
        }
    }

    // MARK: Versions

    /// The bytes of a version, with two of the last ones chosen.
    private func version(_ count: Int, _ fab: UInt8 = 26, _ flags: UInt8 = 27) -> [UInt8] {
        var version = (1...29).map { UInt8($0) }
        (version[25], version[26]) = (fab, flags)
        return Array(version.prefix(count))
    }

    @Test func `Version card: GET VERSION in three frames, wrapped or not, and no other command`() async throws {
        let first = "af 01 02 03 04 05 06 07"
        try await play(
            """
            == Three frames
            60 -> \(first); af -> af 08 09 0a 0b 0c 0d 0e; af -> 00 \(hexText(UInt8(15)...28)); af -> 1c
            90 60 00 00 00 -> 01 02 03 04 05 06 07 91 af; 90 60 00 00 -> 01 02 03 04 05 06 07 91 af
            90 6a 00 00 00 -> 91 1c; 60 00 -> 7e; 00 a4 00 00 -> 6a 82; 00 b0 00 00 -> 6d 00
            == Another command and a loss of power forget the rest
            60 -> \(first); 00 a4 00 00 -> 6a 82; 90 af 00 00 -> 91 1c; power; 60 -> \(first); power; af -> 1c
            == After an ISO command, native commands are refused outside APDUs until the card loses power
            00 a4 00 00 -> 6a 82; 60 -> 0b; 90 60 00 00 -> 01 02 03 04 05 06 07 91 af; power; 60 -> \(first)
            """
        ) { _ in Stage(VersionCard(VersionCardContents(.mifarePlus, version: version(28)))) }
        // The bytes that are known, those with the fab's five bits, and the length of the last frame.
        let lengths: [(Int, UInt8, UInt8, Int)] = [
            (29, 0x0F, 0x80, 15), (29, 0x0E, 0x80, 14), (29, 0x0F, 0x7F, 14), (28, 0x0F, 0x80, 14),
        ]
        for (known, fab, flags, length) in lengths {
            let version = version(known, fab, flags)
            let last = hexText(version[14..<14 + length])
            try await Stage(VersionCard(VersionCardContents(.ntag4xx, version: version)))
                .check("60 -> ?; af -> ?; af -> 00 \(last)", "\(known) \(fab)")
        }
        for unknown in [version(27), [UInt8](repeating: 0, count: 28)] {
            try await Stage(VersionCard(VersionCardContents(.ntag4xx, version: unknown))).check("60 -> 1c")
        }
        let chips: [(String, String)] = [
            ("04 04 02 10 00 11 05", "NTAG 413 DNA"), ("04 04 02 30 00 11 05", "NTAG 424 DNA"),
            ("04 04 08 30 00 11 05", "NTAG 424 DNA TagTamper"),
            ("04 04 02 20 00 11 05", VersionCardContents.Family.ntag4xx.rawValue),
            ("04 04 02", VersionCardContents.Family.ntag4xx.rawValue),
        ]
        for (version, chip) in chips {
            #expect(VersionCardContents(.ntag4xx, version: hex(version)).chip == chip)
        }
        var plus = VersionCardContents(.mifarePlus, version: version(28))
        #expect(plus.chip == "MIFARE Plus")
        plus.cardType = "Mifare Plus EV2"
        #expect(plus.chip == "Mifare Plus EV2")
    }
}
