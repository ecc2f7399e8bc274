// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `A payment card in front of a terminal` {
    private let select = "00 a4 04 00 07 a0 00 00 00 03 10 10 00"
    private let options = "80 a8 00 00 02 83 00 00"
    private let record = "00 b2 01 0c 00"

    private func run(_ commands: [String]) -> [String] {
        var contents = EMVContents(applicationIdentifier: hex("a0 00 00 00 03 10 10"), accountNumber: hex("41 11"))
        contents.interchangeProfile = [0x20, 0x00]
        var card = EMVCard(contents)
        return commands.map { hexText(card.process(hex($0), tear: nil).bytes) }
    }

    @Test func `Processing options are given once, and then the record`() {
        let answers = run([select, record, options, options, record])
        #expect(
            answers[1...] == [
                "69 85", "77 0a 82 02 20 00 94 04 08 01 01 00 90 00", "69 85", "70 04 5a 02 41 11 90 00",
            ]
        )
    }

    @Test func `Selecting the application again begins anew`() {
        #expect(
            run([select, options, record, select, record])[2...] == [
                "70 04 5a 02 41 11 90 00", "6f 0b 84 07 a0 00 00 00 03 10 10 a5 00 90 00", "69 85",
            ]
        )
    }

    @Test(arguments: [
        ("80 a8 00 00 03 83 01 00 00", "67 00"), ("80 a8 00 00 02 83 01 00", "67 00"), ("80 a8 00 00 00", "67 00"),
        ("80 a8 00 01 02 83 00 00", "6a 86"), ("80 a8 01 00 02 83 00 00", "6a 86"),
        ("00 a8 00 00 02 83 00 00", "6d 00"),
    ]) func `Processing options are asked for in one way alone`(command: String, status: String) {
        // What was refused has not begun a payment.
        #expect(run([select, command, record])[1...] == [status, "69 85"])
    }

    @Test(arguments: [
        ("00 b2 01 0d 00", "6a 86"), ("00 b2 02 0c 00", "6a 83"), ("00 b2 01 14 00", "6a 83"),
        ("80 b2 01 0c 00", "6d 00"),
        ("80 ca 9f 17 00", "6a 88"), ("80 ae 00 00 00", "6d 00"),
    ]) func `What the card does not have is refused`(command: String, status: String) {
        #expect(run([select, options, command])[2] == status)
    }

    @Test func `The record has what is known of the card, and in this order`() {
        var contents = EMVContents(applicationIdentifier: hex("a0 00 00 00 03 10 10"), accountNumber: hex("41 11"))
        contents.cardholder = "AB"
        contents.expiration = EMVContents.Date([0x30, 0x12, 0x31])
        contents.effective = EMVContents.Date([0x25, 0x01, 0x02])
        contents.country = 0x0840
        contents.currency = 0x0978
        var card = EMVCard(contents)
        let answers = [select, options, record].map { hexText(card.process(hex($0), tear: nil).bytes) }
        #expect(
            answers[2] == "70 1f 5a 02 41 11 5f 20 02 41 42 5f 24 03 30 12 31 5f 25 03 25 01 02 "
                + "5f 28 02 08 40 9f 42 02 09 78 90 00"
        )
    }

    @Test func `The directory and the application have the card's names`() {
        let name = "32 50 41 59 2e 53 59 53 2e 44 44 46 30 31"
        let identifier = "a0 00 00 00 03 10 10"
        var contents = EMVContents(applicationIdentifier: hex(identifier), accountNumber: hex("41 11"))
        func answers(_ contents: EMVContents, _ commands: [String]) -> [String] {
            var card = EMVCard(contents)
            return commands.map { hexText(card.process(hex($0), tear: nil).bytes) }
        }
        let directory = "00 a4 04 00 0e \(name) 00"
        #expect(
            answers(contents, [directory, record]) == [
                "6f 23 84 0e \(name) a5 11 bf 0c 0e 61 0c 4f 07 \(identifier) 87 01 01 90 00", "6d 00",
            ]
        )
        contents.label = "AB"
        contents.name = "CD"
        #expect(
            answers(contents, [directory, select]) == [
                "6f 27 84 0e \(name) a5 15 bf 0c 12 61 10 4f 07 \(identifier) 50 02 41 42 87 01 01 90 00",
                "6f 18 84 07 \(identifier) a5 0d 50 02 41 42 9f 11 01 01 9f 12 02 43 44 90 00",
            ]
        )
        let unknown = EMVContents(applicationIdentifier: [], accountNumber: [])
        #expect(answers(unknown, [directory]) == ["6a 82"])
        #expect(unknown.interchangeProfile == [0, 0])
    }

    @Test func `The tries of the PIN are told where they are known, and nothing else is`() {
        var contents = EMVContents(applicationIdentifier: hex("a0 00 00 00 03 10 10"), accountNumber: hex("41 11"))
        contents.pinTries = 3
        var card = EMVCard(contents)
        let answers = [select, "80 ca 9f 17 00", "80 ca 9f 36 00"].map {
            hexText(card.process(hex($0), tear: nil).bytes)
        }
        #expect(answers.dropFirst() == ["9f 17 01 03 90 00", "6a 88"])
    }

    @Test func `A payment that has begun is over without power`() {
        var card = EMVCard(
            EMVContents(applicationIdentifier: hex("a0 00 00 00 03 10 10"), accountNumber: hex("41 11"))
        )
        for command in [select, options] {
            #expect(card.process(hex(command), tear: nil).bytes.suffix(2) == [0x90, 0x00])
        }
        card.losePower()
        #expect(card.process(hex(record), tear: nil).bytes == [0x69, 0x85])
    }

    @Test func `A text of a card is one line of up to 64 bytes`() {
        for (text, isHeld) in [
            (String(repeating: "A", count: 64), true), (String(repeating: "A", count: 65), false), (" ", true),
            ("A\u{1F}", false), ("", true),
        ] {
            #expect(EMVContents.canHold(text) == isHeld)
        }
    }

    @Test(arguments: [
        (0, 0, true), (0, 10, true), (0, 11, false), (4, 10, false), (5, 10, true), (5, 11, false), (16, 10, true),
        (17, 10, false),
    ]) func `An application's name has 5 to 16 bytes or none, and a card's number 10 at most`(
        name: Int,
        number: Int,
        isInRange: Bool
    ) {
        let contents = EMVContents(
            applicationIdentifier: Array(repeating: 0xA0, count: name),
            accountNumber: Array(repeating: 0x41, count: number)
        )
        #expect(contents.isInRange == isInRange)
    }
}
