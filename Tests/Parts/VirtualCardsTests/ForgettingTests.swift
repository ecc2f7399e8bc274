// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// What a card forgets when its power goes or when something else is selected, and what it keeps.
@Suite struct `What a card forgets, and when` {
    private func makeContents() -> DESFireContents {
        let value = DESFireFile.Kind.value(lower: 0, upper: 100, current: 10, limitedCredit: false)
        let files = [
            DESFireFile(number: 1, isoIdentifier: 0xE101, accessRights: 0xEEEE, kind: .standard([7])),
            DESFireFile(number: 2, accessRights: 0xEEEE, kind: .backup([0])),
            DESFireFile(number: 3, accessRights: 0x1110, kind: .standard([9])),
            DESFireFile(number: 4, accessRights: 0xEEEE, kind: value),
        ]
        return DESFireContents(applications: [
            DESFireApplication(identifier: 1, keyCount: 0x82, files: files), DESFireApplication(identifier: 2),
        ])
    }

    /// Sends commands to a card, each with the answer that it should have.
    private func expect(
        _ card: inout some Card,
        _ exchanges: KeyValuePairs<String, String>,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for (command, answer) in exchanges {
            let given = hexText(card.process(hex(command), tear: nil).bytes)
            #expect(given == answer, "\(command)", sourceLocation: location)
        }
    }

    // MARK: MIFARE DESFire

    @Test(arguments: [true, false])
    func `The file and the transaction are forgotten with the power, and with the next selection`(isOff: Bool) {
        var card = DESFireCard(makeContents())
        expect(
            &card,
            [
                "5a 01 00 00": "00", "00 a4 02 0c 02 e1 01": "90 00", "00 b0 00 00 01": "07 90 00",
                "3d 02 00 00 00 01 00 00 aa": "00",
            ]
        )
        if isOff {
            card.losePower()
            expect(&card, ["6f": "9d"])
        }
        expect(
            &card,
            [
                "5a 01 00 00": "00", "00 b0 00 00 01": "69 86", "c7": "0c", "bd 02 00 00 00 00 00 00": "00 00",
                "00 a4 02 0c 02 e1 01": "90 00", "5a 02 00 00": "00", "00 b0 00 00 01": "69 86",
            ]
        )
    }

    @Test func `An application that is not there leaves the other one selected`() {
        var card = DESFireCard(makeContents())
        expect(&card, ["5a 01 00 00": "00", "5a 09 00 00": "a0", "6f": "00 01 02 03 04"])
    }

    @Test func `All files of a transaction are committed, and none of one that is aborted`() {
        var card = DESFireCard(makeContents())
        expect(
            &card,
            [
                "5a 01 00 00": "00", "3d 02 00 00 00 01 00 00 aa": "00", "0c 04 05 00 00 00": "00", "a7": "00",
                "c7": "0c", "bd 02 00 00 00 00 00 00": "00 00", "6c 04": "00 0a 00 00 00",
                "3d 02 00 00 00 01 00 00 bb": "00", "0c 04 06 00 00 00": "00", "c7": "00",
                "bd 02 00 00 00 00 00 00": "00 bb", "6c 04": "00 10 00 00 00", "c7": "0c",
            ]
        )
    }

    @Test func `The rest of an answer, and a proof that is waited for, are forgotten with the power`() {
        for command in ["60", "0a 00"] {
            var card = DESFireCard(makeContents())
            #expect(card.process(hex(command), tear: nil).bytes.first == 0xAF)
            card.losePower()
            expect(&card, ["af": "1c"])
        }
    }

    @Test func `An authentication is forgotten with the power`() throws {
        var reader = CardReader(card: DESFireCard(makeContents()))
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        reader.card.losePower()
        #expect(reader.send(0xFC).status == 0xAE)
        #expect((reader.card as? DESFireCard)?.contents == makeContents())
    }

    @Test func `No challenge of a MIFARE DESFire comes twice, with or without a loss of power`() {
        var card = DESFireCard(makeContents())
        var challenges: Set<[UInt8]> = []
        for isOff in [true, true, false, false] {
            let challenge = card.process(hex("0a 00"), tear: nil).bytes
            #expect(challenge.count == 9)
            challenges.insert(challenge)
            if isOff { card.losePower() } else { expect(&card, ["af": "7e"]) }
        }
        #expect(challenges.count == 4)
    }

    // MARK: NTAG 424 DNA

    @Test func `No challenge of an NTAG 424 DNA comes twice, and one that was sent is forgotten with the power`() {
        var card = NTAG424Card()
        var challenges: Set<[UInt8]> = []
        for _ in 0..<3 {
            expect(&card, ["00 a4 04 0c 07 d2 76 00 00 85 01 01 00": "90 00"])
            let challenge = card.process(hex("90 71 00 00 02 00 00 00"), tear: nil).bytes
            #expect(challenge.count == 18)
            challenges.insert(challenge)
            card.losePower()
            expect(&card, ["90 af 00 00 00": "91 1c"])
        }
        #expect(challenges.count == 3)
    }

    // MARK: Others

    @Test func `A travel document forgets the file and its challenge with the power`() throws {
        var contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        contents.cardAccess = hex("31 00")
        var card = EMRTDCard(contents)
        expect(&card, ["00 a4 02 0c 02 01 1c": "90 00", "00 b0 00 00 00": "31 00 90 00"])
        card.losePower()
        expect(&card, ["00 b0 00 00 00": "69 86", EMRTDTerminal.selectApplication: "90 00"])
        #expect(card.process(hex("00 84 00 00 08"), tear: nil).bytes.suffix(2) == [0x90, 0x00])
        card.losePower()
        let zeros = hexText([UInt8](repeating: 0, count: 40))
        expect(&card, ["00 82 00 00 28 \(zeros) 28": "69 85"])
    }

    @Test func `A card of which only the version is known forgets the rest of it with the power`() {
        let version = (1...28).map { UInt8($0) }
        var card = VersionCard(VersionCardContents(.mifarePlus, version: version))
        expect(&card, ["60": "af 01 02 03 04 05 06 07"])
        card.losePower()
        expect(&card, ["af": "1c", "60": "af 01 02 03 04 05 06 07", "af": "af 08 09 0a 0b 0c 0d 0e"])
    }
}
