// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Cards of applications, and the NDEF application of a generic Type 4 tag (NFC Forum T4T; ISO/IEC 7816-4).
struct CardTests {
    private static let version2 = "00 a4 04 00 07 d2 76 00 00 85 01 01 00"

    /// A card with the application selected, and of a file: `SELECT` selects the application, `CC` and `FILE` its files.
    private func stage(_ application: NDEFApplication, isSelected: Bool = true) async throws -> Stage {
        let names = ["SELECT": Self.version2, "CC": "00 a4 00 0c 02 e1 03", "FILE": "00 a4 00 0c 02 e1 04"]
        let stage = Stage(ApplicationCard([application]), names: names)
        if isSelected { try await stage.check("SELECT -> 90 00; FILE -> 90 00") }
        return stage
    }

    @Test func `NDEF application: SELECT leads to the container and the message, and access rights are enforced`()
        async throws
    {
        try await play(
            """
            == Before a SELECT nothing is read (T4T, 5.1)
            00 b0 00 00 02 -> 69 85; SELECT -> 90 00; 00 b0 00 00 02 -> 69 86; CC -> 90 00
            00 b0 00 00 0f -> 00 0f 20 00 ff 00 ff 04 06 e1 04 00 40 00 00 90 00; FILE -> 90 00
            00 d6 00 00 05 00 03 d0 00 00 -> 90 00; 00 b0 00 00 02 -> 00 03 90 00; 00 b0 00 02 03 -> d0 00 00 90 00
            == A SELECT that fails leaves the application and the file selected
            SELECT -> 90 00; CC -> 90 00; 00 a4 04 00 07 d2 76 00 00 85 01 00 -> 6a 82; 00 b0 00 00 02 -> 00 0f 90 00
            00 a4 04 00 04 d2 76 00 00 -> 67 00; 00 a4 04 00 11 00*17 -> 67 00; 00 b0 00 00 02 -> 00 0f 90 00
            00 a4 04 01 07 d2 76 00 00 85 01 01 -> 6a 86; 00 a4 00 0c 02 e1 05 -> 6a 82; 00 b0 00 00 02 -> 00 0f 90 00
            == Write access is enforced as soon as it is written
            SELECT -> 90 00; CC -> 90 00; 00 d6 00 0e 01 ff -> 90 00; FILE -> 90 00; 00 d6 00 00 01 01 -> 69 82
            00 b0 00 00 01 -> 00 90 00
            == Selecting the application again forgets the file, and so does a loss of power
            SELECT -> 90 00; FILE -> 90 00; SELECT -> 90 00; 00 b0 00 00 01 -> 69 86; power; 00 b0 00 00 01 -> 69 85
            """
        ) { _ in try await stage(NDEFApplication(size: 64), isSelected: false) }
        var hidden = NDEFApplication(size: 16)
        hidden.files[0xE103]?[13] = 0x80
        hidden.isCapabilityContainerWritable = false
        let step = "00 b0 00 00 01 -> 69 82; CC -> 90 00; 00 d6 00 0e 01 ff -> 69 82"
        try await stage(hidden).check(step)
        for (mapping, byte) in [(NDEFApplication.Mapping.version1, "00"), (.version2, "01"), (.version3, "01")] {
            let other = byte == "00" ? "01" : "00"
            let name = "00 a4 04 00 07 d2 76 00 00 85 01"
            let stage = try await stage(NDEFApplication(mapping: mapping), isSelected: false)
            try await stage.check("\(name) \(other) -> 6a 82; \(name) \(byte) -> 90 00", "\(mapping)")
        }
    }

    @Test func `NDEF application limits: beyond MLe, MLc or the file, or with wrong parameters, a status word`()
        async throws
    {
        let refusals = """
            00 a4 00 0c 02 e1 05 = 6a 82 | 00 a4 00 0c 01 e1 = 67 00 | 00 a4 08 0c 02 e1 04 = 6a 86 | 00 d6 00 00 = 67 00
            00 a4 00 03 02 e1 04 = 6a 86 | 00 b0 00 00 10 = 67 00 | 00 b0 00 00 0f = 00*15 90 00 | 00 b0 00 40 01 = 6b 00
            00 b0 80 00 01 = 6a 86 | 00 d6 00 00 05 01 02 03 04 05 = 67 00 | 00 d6 00 40 01 00 = 6b 00
            00 d6 00 3e 04 01 02 03 04 = 6a 84 | 00 c0 00 00 = 6d 00 | 80 b0 00 00 01 = 6e 00 | 00 d6 80 00 01 00 = 6a 86
            00 b1 00 00 05 54 03 00 00 00 04 = 6d 00 | 00 b0 00 00 = 67 00 | 00 b0 00 00 00 = 00*15 90 00
            00 b0 00 00 00 00 00 = 00*15 90 00 | 00 b0 00 00 00 00 0f = 00*15 90 00 | 00 b0 00 00 00 01 00 = 67 00
            00 b0 00 3c 00 = 00*4 90 00 | 00 b0 00 3c 05 = 00*4 62 82 | 00 b0 00 3c 04 = 00*4 90 00
            """
        for row in refusals.split(whereSeparator: { "|\n".contains($0) }) {
            let step = String(row).replacing("=", with: "->")
            let stage = try await stage(NDEFApplication(size: 64, maximumRead: 15, maximumWrite: 4))
            try await stage.check(step)
        }
        for (count, milliseconds) in [(1, 5), (64, 5), (65, 10), (128, 10), (129, 15)] {
            let step = "00 d6 00 00 \(hexText([UInt8(count)])) 01*\(count) -> 90 00; work -> \(milliseconds)"
            try await stage(NDEFApplication(size: 200)).check(step)
        }
    }

    @Test func `NDEF application mapping 3: data objects carry offsets and data beyond 7FFF, within MLe and MLc`()
        async throws
    {
        let large = NDEFApplication(mapping: .version3, size: 0x1_0000)
        let small = NDEFApplication(mapping: .version3, size: 64, maximumRead: 15, maximumWrite: 8)
        try await play(
            """
            == Beyond 7FFF (T4T 3.0, 5.4.6)
            tag large
            00 d7 00 00 0a 54 03 00 90 00 53 03 01 02 03 -> 90 00
            00 b1 00 00 05 54 03 00 90 00 05 -> 53 03 01 02 03 90 00; 00 b1 00 00 05 54 03 01 00 00 05 -> 6b 00
            00 b1 00 00 02 54 03 05 -> 6a 80; 00 d7 00 00 07 54 03 00 90 00 53 00 -> 6a 80
            00 d7 00 00 09 54 03 00 90 00 53 03 01 02 -> 6a 80
            == The place is in the data or in P1 and P2, never in both
            tag large
            00 b1 00 01 05 54 03 00 00 00 04 -> 6a 86; 00 b1 01 00 05 54 03 00 00 00 04 -> 6a 86
            00 d7 00 01 08 54 03 00 00 00 53 01 77 -> 6a 86; 00 d7 01 00 08 54 03 00 00 00 53 01 77 -> 6a 86
            00 d7 00 00 08 54 03 00 00 00 53 01 77 -> 90 00
            == All bytes with their data object are no more than MLe, and an update no more than MLc
            00 b1 00 00 05 54 03 00 00 00 00 -> 53 0d 00*13 90 00
            00 b1 00 00 00 00 05 54 03 00 00 00 00 00 -> 53 0d 00*13 90 00
            00 d7 00 00 08 54 03 00 00 04 53 01 77 -> 90 00; 00 d7 00 00 09 54 03 00 00 04 53 02 88 99 -> 67 00
            00 b0 00 04 02 -> 77 00 90 00
            == Write access is in byte 16 of the container
            tag large
            CC -> 90 00; 00 d6 00 10 01 ff -> 90 00; FILE -> 90 00; 00 d6 00 00 01 01 -> 69 82
            00 d7 00 00 08 54 03 00 00 00 53 01 77 -> 69 82; 00 b0 00 00 01 -> 00 90 00
            00 b1 00 00 05 54 03 00 00 00 03 -> 53 01 00 90 00
            """
        ) { text in try await stage(text == "large" ? large : small) }
        // Le counts the header of the data object.
        let lengths: [(String, String, Int)] = [
            ("03", "53 01", 1), ("81", "53 7f", 127), ("82", "53 7f", 127), ("83", "53 81 80", 128),
            ("ff", "53 81 fc", 252),
            ("01 02", "53 81 ff", 255), ("01 03", "53 81 ff", 255), ("01 04", "53 82 01 00", 256),
        ]
        let application = NDEFApplication(mapping: .version3, size: 1000, maximumRead: 0x1000)
        for (length, head, count) in lengths {
            let field = hex(length).count == 1 ? "05" : "00 00 05"
            let step = "00 b1 00 00 \(field) 54 03 00 00 00 \(length) -> \(head) 00*\(count) 90 00"
            try await stage(application).check(step)
        }
        try await stage(application).check("00 b1 00 00 05 54 03 00 00 00 02 -> 67 00")
    }

    @Test func `NDEF application power cut: a write of 128 bytes leaves the old bytes or the new ones`() async throws {
        for (rest, left) in [("old", "00"), ("new", "ff")] {
            let step = "tear \(rest); 00 d6 00 00 80 ff*128 -> ?; tear none; 00 b0 00 00 80 -> \(left)*128 90 00"
            try await stage(NDEFApplication(size: 200)).check(step)
        }
    }

    @Test func `Type 4 tag faults: refusals are statuses, and power cuts tear the file`() async throws {
        let tag = VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 16)]))
        let stage = try Stage(.nfcA, [tag], names: ["SELECT": Self.version2])
        let step = """
            wake; e0 80 -> ?; 02 SELECT -> 02 90 00; 03 00 a4 00 0c 02 e1 04 -> 03 90 00; arm write 1 refuse 00 + write 2 tear new; \
            02 00 b0 00 00 02 -> 02 00 00 90 00; 03 00 d6 00 00 02 12 34 -> 03 65 81; 02 00 b0 00 00 02 -> 02 00 00 90 00; \
            03 00 d6 00 00 02 12 34 -> -
            """
        try await stage.check(step)
        let application = try #require((tag.card as? ApplicationCard)?.applications.first as? NDEFApplication)
        #expect(application.files[0xE104]?.prefix(2) == [0x12, 0x34])
    }

    @Test func `APDU: short and extended lengths are read, and bytes that are no command give nil`() {
        #expect(CardCommand(hex("00 b0 00 00 00 00 00"))?.expectedLength == 65536)
        #expect(CardCommand(hex("00 b0 00 00 00 01 00"))?.expectedLength == 256)
        let both = CardCommand(hex("00 d6 00 00 00 00 02 aa bb 01 00"))
        #expect(both?.data == hex("aa bb") && both?.expectedLength == 256)
        for text in [
            "", "00 b0 00", "00 d6 00 00 02 aa", "00 d6 00 00 02 aa bb 00 00", "00 d6 00 00 00 00",
            "00 d6 00 00 00 00 02 aa",
        ] {
            #expect(CardCommand(hex(text)) == nil, "\(text)")
        }
    }

    @Test
    func `Scripted card: answers a command in turn, the last one again, and from the start after a loss of power`()
        async throws
    {
        var card = ScriptedCard([
            (hex("01"), hex("aa 90 00")), (hex("01"), hex("bb 90 00")), (hex("02"), hex("cc 90 00")),
        ])
        card.answer([5], with: [0x90, 0], workTime: .milliseconds(7), waitingTimeExtensions: [3, 4])
        let answer = card.process([5], tear: nil)
        #expect(answer.workTime == .milliseconds(7) && answer.waitingTimeExtensions == [3, 4])
        let turn = "01 -> aa 90 00; 02 -> cc 90 00; 01 -> bb 90 00; 01 -> bb 90 00; 03 -> 6d 00"
        try await Stage(card).check("\(turn); power; \(turn)")
        let other = ScriptedCard([], otherwise: CardAnswer([0x6A, 0x81]))
        try await Stage(other).check("01 -> 6a 81")
    }

    @Test func `Card of several applications: one is selected at a time, and a selection forgets the file`()
        async throws
    {
        let names = ["NAME": "00 a4 04 00 07 d2 76 00 00 85 01", "FILE": "00 a4 00 0c 02 e1 04"]
        let card = ApplicationCard([NDEFApplication(size: 8), NDEFApplication(mapping: .version1, size: 16)])
        try await play(
            """
            == The second one, and back
            NAME 01 -> 90 00; FILE -> 90 00; 00 b0 00 07 01 -> 00 90 00; 00 b0 00 08 01 -> 6b 00
            NAME 00 -> 90 00; 00 b0 00 00 01 -> 69 86; FILE -> 90 00; 00 b0 00 0f 01 -> 00 90 00
            NAME 01 -> 90 00; 00 b0 00 00 01 -> 69 86; power; FILE -> 6a 82
            """
        ) { _ in Stage(card, names: names) }
    }
}
