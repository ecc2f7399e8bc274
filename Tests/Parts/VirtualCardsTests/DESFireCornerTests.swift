// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Checks the ends of what a MIFARE DESFire has room for, and what it refuses.
@Suite struct `MIFARE DESFire at its limits` {
    /// Sends commands to a card, one after the other, each with the answer that it should have.
    func expect(
        _ contents: DESFireContents,
        _ exchanges: KeyValuePairs<String, String>,
        _ location: SourceLocation = #_sourceLocation
    ) {
        var card = DESFireCard(contents)
        for (command, answer) in exchanges {
            let given = hexText(card.process(hex(command), tear: nil).bytes)
            #expect(given == answer, "\(command)", sourceLocation: location)
        }
    }

    /// A card with an application that a reader has selected.
    func reader(
        _ application: DESFireApplication,
        generation: DESFireContents.Generation = .ev1
    ) -> CardReader {
        let contents = DESFireContents(generation: generation, applications: [application])
        var reader = CardReader(card: DESFireCard(contents))
        #expect(reader.send(0x5A, [UInt8(application.identifier), 0, 0]).status == 0)
        return reader
    }

    // MARK: Applications

    @Test func `An application has 1 to 14 keys of one kind, an identifier, and perhaps a name of 16 bytes`() {
        let name = String(repeating: " 41", count: 16)
        expect(
            DESFireContents(size: .kilobytes2),
            [
                "ca 01 00 00 0f 00": "9e", "ca 01 00 00 0f 0f": "9e", "ca 01 00 00 0f c1": "9e",
                "ca 00 00 00 0f 01": "9e", "ca 01 00 00 0f": "7e", "ca 01 00 00 0f 01 00": "7e",
                "ca 01 00 00 0f 21 10 e1 41\(name)": "7e", "ca 01 00 00 0f 0e": "00", "ca 01 00 00 0f 01": "de",
                "ca 02 00 00 0f 21 10 e1\(name)": "00", "6a": "00 01 00 00 02 00 00",
                "6d": "00 02 00 00 10 e1\(name)", "5a 01 00 00": "00", "ca 03 00 00 0f 01": "9d", "6a": "9d",
            ]
        )
    }

    @Test func `A card has 28 applications`() {
        var card = DESFireCard(DESFireContents())
        for number in UInt8(1)...28 {
            #expect(card.process([0xCA, number, 0, 0, 0x0F, 1], tear: nil).bytes == [0x00])
        }
        #expect(card.process([0xCA, 29, 0, 0, 0x0F, 1], tear: nil).bytes == [0xCE])
        #expect(card.contents.applications.count == 28)
    }

    @Test func `An application is deleted by the card's key or its own`() throws {
        let contents = DESFireContents(applications: (1...3).map { DESFireApplication(identifier: $0) })
        expect(
            contents,
            [
                "da 05 00 00": "a0", "5a 01 00 00": "00", "da 02 00 00": "9d", "da 01 00 00": "ae", "5a 00 00 00": "00",
                "da 02 00 00": "ae", "6a": "00 01 00 00 02 00 00 03 00 00",
            ]
        )
        var master = CardReader(card: DESFireCard(contents))
        #expect(try master.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try master.command(0xDA, [2, 0, 0]).status == 0)
        #expect(try master.command(0x6A).data == [1, 0, 0, 3, 0, 0])
        var reader = CardReader(card: DESFireCard(contents))
        #expect(reader.send(0x5A, [1, 0, 0]).status == 0)
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try reader.command(0xDA, [1, 0, 0]).status == 0)
        // The card itself is selected now.
        reader.session = .none
        #expect(reader.send(0x6A).data == [2, 0, 0, 3, 0, 0])
    }

    @Test func `Where not everybody may create an application, the card's key alone deletes one`() throws {
        var contents = DESFireContents(applications: (1...2).map { DESFireApplication(identifier: $0) })
        contents.keySettings = 0x0B
        expect(contents, ["da 01 00 00": "ae", "5a 01 00 00": "00", "da 01 00 00": "ae"])
        var reader = CardReader(card: DESFireCard(contents))
        #expect(reader.send(0x5A, [1, 0, 0]).status == 0)
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try reader.command(0xDA, [1, 0, 0]).status == 0xAE)
        #expect(reader.send(0x5A, [0, 0, 0]).status == 0)
        reader.session = .none
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try reader.command(0xDA, [1, 0, 0]).status == 0)
        #expect(try reader.command(0x6A).data == [2, 0, 0])
    }

    @Test func `The NDEF application is listed by its names`() {
        expect(.ndef(), ["6d": "00 01 00 00 10 e1 d2 76 00 00 85 01 01"])
    }

    @Test func `A list is asked for without data`() {
        expect(
            .ndef(),
            ["6a 00": "7e", "6d 00": "7e", "5a 01 00 00": "00", "6f 00": "7e", "61 00": "7e", "6f": "00 01 02"]
        )
    }

    @Test func `Of two applications with one identifier the first counts`() throws {
        let files = [UInt8(1), 2].map { DESFireFile(number: $0, accessRights: 0xEEEE, kind: .standard([7])) }
        let contents = DESFireContents(applications: files.map { DESFireApplication(identifier: 9, files: [$0]) })
        expect(contents, ["5a 09 00 00": "00", "6f": "00 01"])
        var reader = CardReader(card: DESFireCard(contents))
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try reader.command(0xDA, [9, 0, 0]).status == 0)
        let card = try #require(reader.card as? DESFireCard)
        #expect(card.contents.applications == [contents.applications[1]])
    }

    @Test func `What may not be listed freely is not listed`() throws {
        var contents = DESFireContents.ndef()
        contents.keySettings = 0x0D
        contents.applications[0].keySettings = 0x0D
        expect(
            contents,
            [
                "45": "ae", "6a": "ae", "6d": "ae", "5a 01 00 00": "00", "6f": "ae", "61": "ae", "f5 01": "ae",
                "45": "ae",
            ]
        )
        var reader = CardReader(card: DESFireCard(contents))
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try reader.command(0x45).data == [0x0D, 0x01])
    }

    @Test(arguments: [UInt8(0), 1]) func `What may not be listed freely is listed with the master key alone`(key: UInt8)
        throws
    {
        let file = DESFireFile(number: 1, isoIdentifier: 0xE101, accessRights: 0xEEEE, kind: .standard([7]))
        let application = DESFireApplication(identifier: 1, keySettings: 0x0D, keyCount: 0xA2, files: [file])
        for (command, data, answer) in [
            (UInt8(0x6F), [], [1]), (0x61, [], [0x01, 0xE1]), (0xF5, [1], [0, 0, 0xEE, 0xEE, 1, 0, 0]),
            (0x45, [], [0x0D, 0x82]),
        ] as [(UInt8, [UInt8], [UInt8])] {
            var reader = reader(application)
            #expect(try reader.authenticate(0xAA, key, .zero(.aes)) == 0)
            let given = try reader.command(command, data)
            #expect(given == (key == 0 ? CardReader.Answer(status: 0, data: answer) : CardReader.Answer(status: 0xAE)))
        }
    }

    // MARK: Files

    @Test func `Each file takes its units of 32 bytes, and gives them back`() {
        expect(
            DESFireContents(size: .kilobytes2, applications: [DESFireApplication(identifier: 1)]),
            [
                "5a 01 00 00": "00", "6e": "00 e0 08 00",
                "cd 01 00 ee ee 20 00 00": "00", "6e": "00 c0 08 00",
                "cb 02 00 ee ee 21 00 00": "00", "6e": "00 40 08 00",
                "cc 03 00 ee ee 00 00 00 00 64 00 00 00 00 00 00 00 00": "00", "6e": "00 20 08 00",
                "c1 04 00 ee ee 0a 00 00 07 00 00": "00", "6e": "00 c0 07 00",
                "c0 05 00 ee ee 01 00 00 02 00 00": "00", "6e": "00 a0 07 00",
                "df 02": "00", "6e": "00 20 08 00",
            ]
        )
    }

    @Test func `A backup file needs its memory twice`() {
        let contents = DESFireContents(size: .kilobytes2, applications: [DESFireApplication(identifier: 1)])
        expect(
            contents,
            ["5a 01 00 00": "00", "cb 09 00 ee ee ff 07 00": "0e", "cd 09 00 ee ee ff 07 00": "00"]
        )
        expect(contents, ["5a 01 00 00": "00", "cb 09 00 ee ee 60 04 00": "00"])
        expect(contents, ["5a 01 00 00": "00", "cb 09 00 ee ee 61 04 00": "0e"])
    }

    @Test func `A file of records needs its memory in whole units`() {
        let contents = DESFireContents(size: .kilobytes2, applications: [DESFireApplication(identifier: 1)])
        expect(
            contents,
            ["5a 01 00 00": "00", "c1 09 00 ee ee e1 08 00 01 00 00": "0e", "c1 09 00 ee ee e0 08 00 01 00 00": "00"]
        )
        expect(
            contents,
            ["5a 01 00 00": "00", "c0 09 00 ee ee 71 04 00 02 00 00": "0e", "c0 09 00 ee ee 70 04 00 02 00 00": "00"]
        )
    }

    @Test func `A file that can't be is refused`() {
        let applications = [
            DESFireApplication(identifier: 1), DESFireApplication(identifier: 2, keyCount: 0x01),
            DESFireApplication(identifier: 3, keySettings: 0x0B),
        ]
        expect(
            DESFireContents(applications: applications),
            [
                "cd 02 00 ee ee 01 00 00": "9d", "5a 01 00 00": "00",
                "cd 1f 00 ee ee 01 00 00": "00", "cd 20 00 ee ee 01 00 00": "9e", "cd 1f 00 ee ee 02 00 00": "de",
                "cd 02 03 e1 00 ee ee 01 00 00": "00", "cd 03 03 e1 00 ee ee 01 00 00": "de",
                "cd 03 00 ee ee 00 00 00": "9e", "cd 03 00 ee ee 01 00": "7e",
                "c0 03 00 ee ee 01 00 00 01 00 00": "9e", "c1 03 00 ee ee 01 00 00 00 00 00": "9e",
                "c1 03 00 ee ee 00 00 00 01 00 00": "9e", "c1 03 00 ee ee 01 00 00 01 00 00": "00",
                "cc 04 00 ee ee 05 00 00 00 04 00 00 00 05 00 00 00 00": "9e",
                "cc 04 00 ee ee 00 00 00 00 04 00 00 00 05 00 00 00 00": "9e",
                "cc 04 00 ee ee 01 00 00 00 04 00 00 00 00 00 00 00 00": "9e",
                "cc 04 00 ee ee 01 00 00 00 04 00 00 00 04 00 00 00 00": "00", "6c 04": "00 04 00 00 00",
                "5a 02 00 00": "00", "cd 02 03 e1 00 ee ee 01 00 00": "9e",
                "5a 03 00 00": "00", "cd 02 00 ee ee 01 00 00": "ae",
            ]
        )
    }

    @Test func `A file of records may have an ISO identifier`() {
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1)]),
            [
                "5a 01 00 00": "00", "c1 05 03 e1 00 ee ee 04 00 00 03 00": "7e",
                "c1 05 03 e1 00 ee ee 04 00 00 03 00 00 00": "7e", "c1 05 03 e1 00 ee ee 04 00 00 03 00 00": "00",
                "f5 05": "00 03 00 ee ee 04 00 00 03 00 00 00 00 00",
                "c0 06 04 e1 00 ee ee 02 00 00 05 00 00": "00",
                "f5 06": "00 04 00 ee ee 02 00 00 05 00 00 00 00 00", "61": "00 03 e1 04 e1",
            ]
        )
    }

    @Test(
        arguments: [
            ([], .ev1), ([0x04, 0x01, 0x01], .ev1), ([0x04, 0x01, 0x01, 0x01], .ev1), ([0x04, 0x01, 0x01, 0x12], .ev2),
            ([0x04, 0x01, 0x01, 0x33], .ev3), ([0x02, 0x02, 0x02, 0x30], .ev1),
        ] as [([UInt8], DESFireContents.Generation)]
    ) func `The generation is in the fourth byte of the version`(
        version: [UInt8],
        generation: DESFireContents.Generation
    ) {
        var contents = DESFireContents()
        contents.version = version
        #expect(contents.generation == generation)
    }

    @Test func `A value reaches its limits, and no further`() {
        let kind = DESFireFile.Kind.value(lower: 0, upper: 100, current: 50, limitedCredit: false)
        let file = DESFireFile(number: 1, accessRights: 0xEEEE, kind: kind)
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1, files: [file])]),
            [
                "5a 01 00 00": "00", "0c 01 33 00 00 00": "be", "dc 01 33 00 00 00": "be",
                "0c 01 00 00 00 80": "9e", "dc 01 00 00 00 80": "9e", "c7": "0c",
                "0c 01 32 00 00 00": "00", "0c 01 01 00 00 00": "be", "c7": "00", "6c 01": "00 64 00 00 00",
                "dc 01 64 00 00 00": "00", "dc 01 01 00 00 00": "be", "a7": "00", "6c 01": "00 64 00 00 00",
            ]
        )
    }

    @Test func `Data are written as long as announced, and read in frames or at once`() {
        let file = DESFireFile(number: 1, accessRights: 0xEEEE, kind: .standard([UInt8](repeating: 7, count: 100)))
        let applications = [DESFireApplication(identifier: 1, files: [file])]
        let sevens = String(repeating: " 07", count: 59)
        let rest = String(repeating: " 07", count: 41)
        expect(
            DESFireContents(generation: .ev2, applications: applications),
            [
                "5a 01 00 00": "00", "ad 01 00 00 00 00 00 00": "00\(sevens)\(rest)",
                "bd 01 00 00 00 00 00 00": "af\(sevens)", "af": "00\(rest)",
                "bd 01 00 00 00 00 00 00": "af\(sevens)", "af 00": "7e", "af": "1c",
                "3d 01 00 00 00 01 00 00 aa bb": "7e", "3d 01 00 00 00 00 00 00": "9e",
                "3d 01 63 00 00 02 00 00 aa bb": "be", "3d 01 00 00 01 01 00 00 aa": "be",
                "bd 01 63 00 00 00 00 00": "00 07",
                "bd 01 64 00 00 00 00 00": "be", "bd 01 63 00 00 02 00 00": "be",
            ]
        )
        expect(
            DESFireContents(applications: applications),
            ["5a 01 00 00": "00", "ad 01 00 00 00 00 00 00": "1c", "8d 01 00 00 00 01 00 00 aa": "1c"]
        )
    }

    @Test func `Settings of files are changed by who has the right, to what there is`() {
        let files = [(UInt8(1), FileAccessRights(rawValue: 0xEEEE)), (2, 0xEEEF), (3, 0xEEE0)].map {
            DESFireFile(number: $0.0, accessRights: $0.1, kind: .standard([0]))
        }
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1, files: files)]),
            [
                "5a 01 00 00": "00", "5f 01 04 ee ee": "9e", "5f 01 03 ee ee": "00",
                "f5 01": "00 00 03 ee ee 01 00 00", "5f 02 00 ee ee": "9d", "5f 03 00 ee ee": "ae",
            ]
        )
    }

    @Test(arguments: [DESFireContents.Generation.ev2, .ev3])
    func `READ SIGNATURE has a status of its own`(generation: DESFireContents.Generation) throws {
        var contents = DESFireContents(generation: generation)
        contents.signature = (0..<56).map { UInt8($0 * 3) }
        let signature = hexText(contents.signature)
        expect(
            contents,
            [
                "3c 00": "90 \(signature)", "90 3c 00 00 01 00 00": "\(signature) 91 90", "3c 01": "9e", "3c": "9e",
                "6a": "00",
            ]
        )
        contents.masterKey = .zero(.aes)
        var reader = CardReader(card: DESFireCard(contents))
        #expect(try reader.authenticate(0x71, 0, .zero(.aes)) == 0)
        let proved = try reader.command(0x3C, [0], mode: .maced, answers: .enciphered)
        #expect(proved == CardReader.Answer(status: 0x90, data: contents.signature))
        expect(DESFireContents(), ["3c 00": "1c"])
    }

    // MARK: Keys

    @Test func `The version of a key is asked with the key's number alone`() {
        expect(DESFireContents(), ["64 00 00": "7e", "64 01": "40", "64 00": "00 00"])
    }

    @Test func `Only AUTHENTICATE EV2 FIRST has more data than the key's number`() {
        expect(
            DESFireContents(generation: .ev2),
            [
                "0a 00 00": "7e", "1a 00 00": "7e", "aa 00 00": "7e", "77 00 00": "7e", "71 00": "7e",
                "71 00 02 01": "7e",
            ]
        )
    }

    @Test func `A commit without changes leaves the session open`() throws {
        var reader = reader(DESFireApplication(identifier: 1, keyCount: 0x81))
        #expect(try reader.authenticate(0xAA, 0, .zero(.aes)) == 0)
        #expect(try reader.command(0xC7).status == 0x0C)
        let uid = try reader.command(0x51, answers: .enciphered)
        #expect(uid == CardReader.Answer(status: 0, data: DESFireContents().uid))
    }

    /// The key settings, the key that the reader has proved, the one that it changes, and the status.
    @Test(arguments: [
        (UInt8(0xEF), UInt8(1), UInt8(1), UInt8(0x00)), (0xEF, 1, 2, 0x9D), (0xEF, 0, 1, 0x9D), (0xFF, 1, 1, 0x9D),
        (0xFF, 0, 0, 0x00), (0x1F, 0, 1, 0x00), (0x1F, 1, 1, 0x9D), (0x1F, 1, 2, 0x00), (0x1F, 0, 2, 0x9D),
        (0x0E, 0, 0, 0x9D), (0x0F, 0, 2, 0x00), (0x0F, 1, 2, 0x9D), (0x0F, 1, 0, 0x9D),
    ]) func `The key settings say who changes which key`(settings: UInt8, proved: UInt8, changed: UInt8, status: UInt8)
        throws
    {
        var reader = reader(DESFireApplication(identifier: 1, keySettings: settings, keyCount: 0x83))
        #expect(try reader.authenticate(0xAA, proved, .zero(.aes)) == 0)
        let new = try #require(DESFireKey(.aes, Array(0x50..<0x60), version: 9))
        let answer = try reader.changeKey(changed, from: .zero(.aes), to: new, isOwn: changed == proved)
        #expect(answer.status == status)
        let card = try #require(reader.card as? DESFireCard)
        #expect((card.contents.applications[0].keys[Int(changed)] == new) == (status == 0))
    }

    @Test(arguments: [(UInt8(0x0F), UInt8(0x00)), (0x07, 0x9D)])
    func `Settings that are frozen stay`(settings: UInt8, status: UInt8) throws {
        var reader = reader(DESFireApplication(identifier: 1, keySettings: settings, keyCount: 0x81))
        #expect(try reader.authenticate(0xAA, 0, .zero(.aes)) == 0)
        #expect(try reader.command(0x54, [], [0x0D], mode: .enciphered).status == status)
        let card = try #require(reader.card as? DESFireCard)
        #expect(card.contents.applications[0].keySettings == (status == 0 ? 0x0D : settings))
    }

    @Test(arguments: [(UInt8(0), UInt8(0x00)), (1, 0xAE)])
    func `Key settings are changed with the master key alone`(key: UInt8, status: UInt8) throws {
        var reader = reader(DESFireApplication(identifier: 1, keySettings: 0x0F, keyCount: 0x82))
        #expect(try reader.authenticate(0xAA, key, .zero(.aes)) == 0)
        #expect(try reader.command(0x54, [], [0x0D], mode: .enciphered).status == status)
        let card = try #require(reader.card as? DESFireCard)
        #expect(card.contents.applications[0].keySettings == (status == 0 ? 0x0D : 0x0F))
    }

    @Test func `ISO commands are refused where data have to be enciphered`() throws {
        let file = DESFireFile(
            number: 1,
            communication: .enciphered,
            accessRights: 0x1110,
            kind: .standard([UInt8](repeating: 0, count: 16))
        )
        var reader = reader(DESFireApplication(identifier: 1, keyCount: 0x82, files: [file]))
        func send(_ command: String) -> String { hexText(reader.card.process(hex(command), tear: nil).bytes) }
        #expect(send("00 b0 81 00 02") == "69 82")
        #expect(send("00 d6 81 00 01 55") == "69 82")
        #expect(try reader.authenticate(0xAA, 1, .zero(.aes)) == 0)
        #expect(send("00 b0 81 00 02") == "69 85")
        #expect(send("00 d6 81 00 01 55") == "69 85")
        #expect((reader.card as? DESFireCard)?.contents.applications[0].files[0] == file)
    }
}
