// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Checks which application and file a command is for, and what ends what was begun.
extension `MIFARE DESFire at its limits` {
    private func file(_ number: UInt8, _ kind: DESFireFile.Kind, iso: UInt16? = nil) -> DESFireFile {
        DESFireFile(number: number, isoIdentifier: iso, accessRights: 0xEEEE, kind: kind)
    }

    @Test func `P1 of SELECT says whether an application or a file is meant`() {
        expect(
            .ndef(),
            [
                "00 a4 01 0c 02 e1 10": "90 00", "00 a4 01 0c 02 e1 03": "6a 82", "00 a4 02 0c 02 e1 10": "6a 82",
                "00 a4 02 0c 02 3f 00": "6a 82", "00 a4 02 0c 02 e1 03": "90 00", "00 b0 00 00 02": "00 0f 90 00",
                "00 a4 00 0c": "90 00", "00 b0 00 00 01": "69 86",
            ]
        )
    }

    @Test func `A short identifier selects its file, and a reading may end with the file`() {
        expect(
            .ndef(),
            [
                "00 a4 00 0c 02 e1 10": "90 00", "00 b0 00 00 01": "69 86", "00 b0 81 00 02": "00 0f 90 00",
                "00 b0 00 02 01": "20 90 00", "00 b0 00 0e 01": "00 90 00", "00 b0 00 0e 02": "00 62 82",
                "00 b0 00 0d 00": "00 00 90 00",
            ]
        )
    }

    @Test func `The commands of an ISO authentication are refused by the rights`() {
        expect(
            .ndef(),
            [
                "00 84 00 00 08": "69 82", "00 82 00 00 02 01 02": "69 82", "00 88 00 00 02 01 02 00": "69 82",
                "00 c0 00 00 00": "6d 00",
            ]
        )
    }

    @Test func `Native commands have their own lengths`() {
        let files = [file(1, .standard([UInt8](repeating: 7, count: 100)))]
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1, files: files)]),
            [
                "5a 01 00": "7e", "5a 01 00 00 00": "7e", "da 01 00": "7e", "fc 00": "7e", "45 00": "7e", "6e 00": "7e",
                "60 00": "7e", "51 00": "7e", "5a 01 00 00": "00", "bd 01 00 00 00 01 00": "7e",
                "3d 01 00 00 00 01 00": "7e", "6c 01 00": "7e", "eb 01 00": "7e", "df 01 00": "7e", "f5 01 00": "7e",
                "cc 04 00 ee ee 00 00 00 00 09 00 00 00 05 00 00 00": "7e", "6f": "00 01",
            ]
        )
        expect(.ndef(), ["90 60 00 00": "04 01 01 01 00 18 05 91 af"])
    }

    @Test func `ISO commands reach the last byte of a file, with up to 52 bytes at once`() {
        expect(
            .ndef(size: .kilobytes2),
            [
                "00 a4 04 01 07 d2 76 00 00 85 01 01": "6a 86", "00 a4 04 00 07 d2 76 00 00 85 01 01": "90 00",
                "00 b0 81 00 01 aa 01": "67 00", "00 b0 81 0f 01": "6b 00",
                "00 d6 82 00 34\(String(repeating: " 55", count: 52))": "90 00", "00 a4 00 0c 02 e1 04": "90 00",
                "00 d6 07 ff 01 55": "90 00", "00 d6 07 ff 02 55 55": "6a 84", "00 d6 08 00 01 55": "6b 00",
            ]
        )
    }

    @Test func `The free memory is that of the size, or what it was set to`() {
        expect(DESFireContents(size: .kilobytes4), ["6e": "00 e0 12 00"])
        expect(DESFireContents(size: .kilobytes8), ["6e": "00 00 1f 00"])
        var contents = DESFireContents(size: .kilobytes2, applications: [DESFireApplication(identifier: 1)])
        contents.freeMemory = 31
        expect(
            contents,
            [
                "5a 01 00 00": "00", "6e": "00 1f 00 00", "cc 04 00 ee ee 00 00 00 00 09 00 00 00 05 00 00 00 00": "0e",
            ]
        )
    }

    @Test func `An application has the key versions that it is made with, and keys of zeros before one that is set`()
        throws
    {
        let key = try #require(DESFireKey(.aes, Array(1...16), version: 5))
        #expect(DESFireApplication(identifier: 1, keyCount: 0x82, keyVersions: [7, 9]).keyVersions == [7, 9])
        var application = DESFireApplication(identifier: 1, keyCount: 0x83, keys: [])
        application.setKey(2, key)
        #expect(application.keys == [.zero(.aes), .zero(.aes), key])
    }

    @Test func `A wrapped command has no parameters`() {
        expect(.ndef(), ["90 60 01 00 00": "6a 86", "90 60 00 01 00": "6a 86", "90 6e 01 00 00": "6a 86"])
    }

    @Test func `An ISO command ends an answer in frames`() {
        let sevens = String(repeating: " 07", count: 59)
        let files = [file(1, .standard([UInt8](repeating: 7, count: 100)))]
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1, files: files)]),
            [
                "5a 01 00 00": "00", "bd 01 00 00 00 00 00 00": "af\(sevens)", "00 b0 81 00 01": "07 90 00",
                "af": "1c",
            ]
        )
    }

    @Test func `A file that is deleted is not selected any more`() {
        let files = [file(1, .standard([1]), iso: 0xE101), file(2, .standard([2]), iso: 0xE102)]
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1, files: files)]),
            [
                "5a 01 00 00": "00", "00 a4 02 0c 02 e1 01": "90 00", "00 b0 00 00 01": "01 90 00", "df 01": "00",
                "00 b0 00 00 01": "69 86", "00 b0 82 00 01": "02 90 00",
            ]
        )
    }

    @Test func `Deleting a file takes back what was to be committed`() {
        let files = (UInt8(1)...3).map { file($0, .backup([0])) }
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1, files: files)]),
            [
                "5a 01 00 00": "00", "3d 02 00 00 00 01 00 00 aa": "00", "df 01": "00", "c7": "0c",
                "bd 02 00 00 00 00 00 00": "00 00", "bd 03 00 00 00 00 00 00": "00 00",
            ]
        )
    }

    @Test func `An authentication that is begun ends the one before it`() throws {
        let file = DESFireFile(number: 1, accessRights: 0x1110, kind: .standard([7]))
        var reader = reader(DESFireApplication(identifier: 1, keyCount: 0x82, files: [file]))
        #expect(try reader.authenticate(0xAA, 1, .zero(.aes)) == 0)
        #expect(try reader.command(0xBD, [1, 0, 0, 0, 1, 0, 0]).data == [7])
        #expect(reader.send(0xAA, [0]).status == 0xAF)
        #expect(reader.send(0xBD, [1, 0, 0, 0, 1, 0, 0]) == CardReader.Answer(status: 0xCA))
        #expect(reader.send(0xBD, [1, 0, 0, 0, 1, 0, 0]) == CardReader.Answer(status: 0xAE))
    }

    @Test func `A new command before the last frame is refused, and ends the one before it`() {
        let version = "04 01 01 01 00 18 05"
        expect(
            .ndef(),
            [
                "60": "af \(version)", "5a 01 00 00": "ca", "af": "1c", "5a 01 00 00": "00",
                "3d 02 00 00 00 03 00 00 aa": "af", "bd 02 00 00 00 03 00 00": "ca", "af bb cc": "1c",
                "bd 02 00 00 00 03 00 00": "00 00 00 00", "90 60 00 00 00": "\(version) 91 af",
                "90 6f 00 00 00": "91 ca", "90 6f 00 00 00": "01 02 91 00",
            ]
        )
    }

    @Test func `The name of the card selects it, unless an application has that name`() {
        let select = "00 a4 04 00 07 d2 76 00 00 85 01"
        expect(
            .ndef(),
            [
                "\(select) 01": "90 00", "00 b0 81 00 02": "00 0f 90 00", "\(select) 00": "90 00",
                "00 b0 81 00 02": "6a 82", "90 6a 00 00 00": "01 00 00 91 00", "\(select) 02": "6a 82",
            ]
        )
        var contents = DESFireContents.ndef()
        contents.applications[0].name = hex("d2 76 00 00 85 01 00")
        expect(contents, ["\(select) 00": "90 00", "00 b0 81 00 02": "00 0f 90 00"])
    }

    @Test func `A name has 1 to 16 bytes`() {
        var contents = DESFireContents.ndef()
        contents.applications[0].name = [UInt8](repeating: 0x41, count: 16)
        let name = String(repeating: " 41", count: 16)
        expect(
            contents,
            [
                "00 a4 04 00 11\(name) 41": "67 00", "00 a4 04 00": "67 00", "00 a4 04 00 01 41": "6a 82",
                "00 a4 04 00 10\(name)": "90 00", "00 b0 81 00 02": "00 0f 90 00",
            ]
        )
    }

    @Test(arguments: [(UInt8(0x0F), UInt8(0x00)), (0x0E, 0x9D)])
    func `The card's settings say whether its master key may change`(settings: UInt8, status: UInt8) throws {
        var contents = DESFireContents()
        contents.keySettings = settings
        var reader = CardReader(card: DESFireCard(contents))
        let old = DESFireKey.zero(.des)
        let new = try #require(DESFireKey(.des, Array(UInt8(1)...16)))
        #expect(try reader.authenticate(0x0A, 0, old) == 0)
        #expect(try reader.changeKey(0, from: old, to: new, isOwn: true).status == status)
        let card = try #require(reader.card as? DESFireCard)
        #expect(card.contents.masterKey == (status == 0 ? new : old))
    }
}
