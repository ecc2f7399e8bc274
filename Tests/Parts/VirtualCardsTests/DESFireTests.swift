// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `MIFARE DESFire EV1` {
    private let selectNDEF = "00 a4 04 00 07 d2 76 00 00 85 01 01 00"

    private func run(_ contents: DESFireContents, _ commands: [String]) -> [String] {
        var card = DESFireCard(contents)
        return commands.map { hexText(card.process(hex($0), tear: nil).bytes) }
    }

    @Test func `The activation is that of the product`() async throws {
        let script = try LinkScript(.nfcA, VirtualType4Tag(DESFireContents.ndef()))
        await script.activateA(hex("04 11 22 33 44 55 66"))
        #expect(await script.send("e0 80") == "06 75 77 81 02 80")
        #expect(await script.send("02 60") == "02 af 04 01 01 01 00 18 05")
        #expect(await script.send("03 af") == "03 af 04 01 01 01 04 18 05")
        #expect(await script.send("02 af") == "02 00 04 11 22 33 44 55 66 ba 54 45 72 80 23 21")
    }

    @Test func `GET VERSION is wrapped in APDUs too`() {
        let answers = run(
            .ndef(size: .kilobytes8),
            ["90 60 00 00 00", "90 af 00 00 00", "90 af 00 00 00", "90 af 00 00 00"]
        )
        #expect(
            answers == [
                "04 01 01 01 00 1a 05 91 af", "04 01 01 01 04 1a 05 91 af",
                "04 11 22 33 44 55 66 ba 54 45 72 80 23 21 91 00", "91 1c",
            ]
        )
    }

    @Test(arguments: [(DESFireContents.Size.kilobytes2, "08 00"), (.kilobytes4, "10 00"), (.kilobytes8, "1e 00")])
    func `The NDEF application as ISO commands see it`(size: DESFireContents.Size, bytes: String) {
        let answers = run(
            .ndef(size: size),
            [
                selectNDEF, "00 a4 00 0c 02 e1 03", "00 b0 00 00 0f", "00 d6 00 0e 01 ff", "00 a4 00 0c 02 e1 04",
                "00 d6 00 00 05 00 03 d0 00 00", "00 b0 00 00 3b", "00 b0 00 00 3c", "00 b0 82 00 02",
                "00 d6 00 00 35" + String(repeating: "00", count: 53), "00 b0 7f 00 01", "00 b0 85 00 01",
            ]
        )
        #expect(answers[2] == "00 0f 20 00 3b 00 34 04 06 e1 04 \(bytes) 00 00 90 00")
        #expect(answers[3] == "69 82")
        #expect(answers[5] == "90 00")
        #expect(answers[6].hasPrefix("00 03 d0 00 00 00"))
        #expect(answers[6].hasSuffix("90 00"))
        #expect(answers[7...] == ["67 00", "00 03 90 00", "67 00", "6b 00", "6a 82"])
    }

    @Test func `SELECT by identifiers goes from the card to the application and its files`() {
        let answers = run(
            .ndef(),
            [
                "00 a4 00 0c 02 e1 03", "00 a4 00 0c 02 e1 10", "00 a4 00 0c 02 e1 03", "00 a4 00 0c 02 3f 00",
                "00 b0 00 00 01", "00 a4 00 0c 02 e1 04", "00 a4 04 00 07 d2 76 00 00 85 01 00", "00 a4 09 00 02 e1 03",
            ]
        )
        #expect(answers == ["6a 82", "90 00", "90 00", "90 00", "69 86", "6a 82", "90 00", "6a 86"])
    }

    @Test func `Native commands list, read and write in frames of 59 bytes`() {
        let data = String(repeating: "a5 ", count: 52)
        let answers = run(
            .ndef(size: .kilobytes2),
            [
                "6a", "5a 01 00 00", "6f", "61", "f5 01", "f5 02", "45", "64 00", "3d 02 00 00 00 50 00 00 \(data)",
                "af" + String(repeating: "5a", count: 28), "bd 02 00 00 00 50 00 00", "af", "bd 02 ff 07 00 02 00 00",
                "bd 03 00 00 00 00 00 00", "3d 01 00 00 00 01 00 00 00",
            ]
        )
        #expect(answers[0...3] == ["00 01 00 00", "00", "00 01 02", "00 03 e1 04 e1"])
        #expect(answers[4] == "00 00 00 00 e0 0f 00 00")
        #expect(answers[5] == "00 00 00 e0 ee 00 08 00")
        #expect(answers[6...9] == ["00 0f 01", "00 00", "af", "00"])
        let whole = String(repeating: "a5 ", count: 52) + String(repeating: "5a ", count: 28)
        #expect(answers[10] == "af " + hexText(hex(whole).prefix(59)))
        #expect(answers[11] == "00 " + hexText(hex(whole).dropFirst(59)))
        #expect(answers[12...] == ["be", "f0", "ae"])
    }

    @Test func `Keys that the reader does not know: a challenge, then AE`() {
        let answers = run(
            .ndef(),
            [
                "0a 00", "af" + String(repeating: "00", count: 16), "1a 00",
                "90 af 00 00 10" + String(repeating: "00", count: 16) + "00",
                "0a 05", "aa 00", "71 00 00", "c4 00", "51", "fc", "af",
            ]
        )
        #expect(hex(answers[0]).count == 9)
        #expect(answers[0].hasPrefix("af"))
        #expect(hex(answers[2]).count == 9)
        #expect([answers[1], answers[3]] == ["ae", "91 ae"])
        #expect(answers[4...] == ["40", "ae", "1c", "ae", "ae", "ae", "1c"])
    }

    @Test func `A blank card becomes an NDEF tag without a key`() {
        let answers = run(
            DESFireContents(size: .kilobytes2),
            [
                selectNDEF, "90 5a 00 00 03 00 00 00 00", "90 ca 00 00 0e 01 00 00 0f 21 10 e1 d2 76 00 00 85 01 01 00",
                "90 5a 00 00 03 01 00 00 00", "90 cd 00 00 09 01 03 e1 00 ee ee 0f 00 00 00",
                "90 cd 00 00 09 02 04 e1 00 ee ee 00 08 00 00", "90 cd 00 00 09 02 04 e1 00 ee ee 00 08 00 00",
                "90 cd 00 00 09 03 05 e1 00 ee ee 00 10 00 00", selectNDEF, "00 a4 00 0c 02 e1 03", "00 d6 00 00 01 00",
            ]
        )
        #expect(
            answers == [
                "6a 82", "91 00", "91 00", "91 00", "91 00", "91 00", "91 de", "91 0e", "90 00", "90 00", "90 00",
            ]
        )
        var closed = DESFireContents()
        closed.keySettings = 0x0B
        #expect(run(closed, ["ca 01 00 00 0f 01", "5a 01 00 00", "ff", ""]) == ["ae", "a0", "1c", "7e"])
    }

    @Test func `A backup file changes with COMMIT TRANSACTION alone`() {
        let file = DESFireFile(number: 4, accessRights: 0xEEEE, kind: .backup([0, 0, 0, 0]))
        let contents = DESFireContents(applications: [DESFireApplication(identifier: 0x112233, files: [file])])
        let answers = run(
            contents,
            [
                "5a 33 22 11", "3d 04 00 00 00 02 00 00 aa bb", "bd 04 00 00 00 00 00 00", "a7", "c7",
                "3d 04 01 00 00 01 00 00 cc", "c7", "bd 04 00 00 00 00 00 00", "f5 04", "df 04",
                "bd 04 00 00 00 00 00 00",
            ]
        )
        #expect(
            answers == [
                "00", "00", "00 00 00 00 00", "00", "0c", "00", "00", "00 00 cc 00 00", "00 01 00 ee ee 04 00 00", "00",
                "f0",
            ]
        )
    }

    @Test func `Several writes to a backup file are committed together`() {
        let file = DESFireFile(number: 4, accessRights: 0xEEEE, kind: .backup([0, 0, 0, 0]))
        let answers = run(
            DESFireContents(applications: [DESFireApplication(identifier: 1, files: [file])]),
            [
                "5a 01 00 00", "3d 04 00 00 00 01 00 00 aa", "3d 04 02 00 00 01 00 00 bb", "c7",
                "bd 04 00 00 00 00 00 00",
            ]
        )
        #expect(answers == ["00", "00", "00", "00", "00 aa 00 bb 00"])
    }

    @Test func `Values and records are read`() {
        let files = [
            DESFireFile(
                number: 1,
                accessRights: 0xEEEE,
                kind: .value(lower: 0, upper: 1000, current: 258, limitedCredit: false)
            ),
            DESFireFile(
                number: 2,
                accessRights: 0xEEEE,
                kind: .linearRecords(size: 2, maximum: 4, records: [1, 1, 2, 2, 3, 3])
            ),
        ]
        let contents = DESFireContents(applications: [DESFireApplication(identifier: 1, files: files)])
        let answers = run(
            contents,
            [
                "5a 01 00 00", "6c 01", "f5 01", "f5 02", "bb 02 00 00 00 01 00 00", "bb 02 01 00 00 00 00 00",
                "bb 02 03 00 00 01 00 00", "bd 02 00 00 00 00 00 00", "0c 01 01 00 00 00",
            ]
        )
        #expect(
            answers == [
                "00", "00 02 01 00 00", "00 02 00 ee ee 00 00 00 00 e8 03 00 00 00 00 00 00 00",
                "00 03 00 ee ee 02 00 00 04 00 00 03 00 00", "00 03 03", "00 01 01 02 02", "be", "9d", "00",
            ]
        )
    }
}

@Suite struct `NTAG 424 DNA` {
    private func run(_ card: NTAG424Card, _ commands: [String]) -> [String] {
        var card = card
        return commands.map { hexText(card.process(hex($0), tear: nil).bytes) }
    }

    private let select = "00 a4 04 0c 07 d2 76 00 00 85 01 01 00"

    @Test func `Its files as ISO commands see them`() {
        let answers = run(
            NTAG424Card(),
            [
                select, "00 b0 83 00 20", "00 a4 00 0c 02 e1 04", "00 d6 00 00 05 00 03 d0 00 00", "00 b0 00 00 05",
                "00 b0 00 00 00", "00 b0 01 00 01", "00 a4 02 0c 02 e1 05", "00 b0 00 00 01", "00 d6 83 00 01 00",
                "00 a4 00 0c 02 e1 06", "00 d6 84 ff 02 00 00",
            ]
        )
        #expect(
            answers[1]
                == "00 17 20 01 00 00 ff 04 06 e1 04 01 00 00 00 05 06 e1 05 00 80 82 83 00 00 00 00 00 00 00 00 00 90 00"
        )
        #expect(answers[3...4] == ["90 00", "00 03 d0 00 00 90 00"])
        #expect(hex(answers[5]).count == 258)
        #expect(answers[6...] == ["6a 86", "90 00", "69 82", "69 82", "6a 82", "6a 84"])
    }

    @Test func `GET VERSION, file settings and native data`() {
        let answers = run(
            NTAG424Card(),
            [
                "90 60 00 00 00", "90 af 00 00 00", "90 af 00 00 00", "90 f5 00 00 01 02 00", select,
                "90 f5 00 00 01 02 00", "90 f5 00 00 01 03 00", "90 8d 00 00 09 02 00 00 00 02 00 00 12 34 00",
                "90 ad 00 00 07 02 00 00 00 02 00 00 00", "90 ad 00 00 07 03 00 00 00 02 00 00 00",
                "90 ad 00 00 07 02 ff 00 00 02 00 00 00", "90 51 00 00 00", "90 11 00 00 00", "80 60 00 00 00",
            ]
        )
        #expect(answers[0] == "04 04 02 30 00 11 05 91 af")
        #expect(answers[1] == "04 04 02 01 02 11 05 91 af")
        #expect(answers[2] == "04 de 5f 1e ac c0 40 cf 39 d4 49 80 34 20 91 00")
        #expect(
            answers[3...] == [
                "91 9d", "90 00", "00 00 e0 ee 00 01 00 91 00", "00 03 30 23 80 00 00 91 00", "91 00", "12 34 91 00",
                "91 ae", "91 be", "91 ae", "91 1c", "6e 00",
            ]
        )
    }

    @Test func `Keys that the reader does not know: a challenge, then AE`() {
        let answers = run(
            NTAG424Card(),
            [
                select, "90 71 00 00 02 00 00 00", "90 af 00 00 20" + String(repeating: "00", count: 32) + "00",
                "90 71 00 00 02 07 00 00",
            ]
        )
        #expect(hex(answers[1]).count == 18)
        #expect(answers[1].hasSuffix("91 af"))
        #expect(answers[2...] == ["91 ae", "91 40"])
    }
}
