// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Checks files of records and values at their ends.
extension `MIFARE DESFire at its limits` {
    private func contents(_ kind: DESFireFile.Kind) -> DESFireContents {
        let file = DESFireFile(number: 1, accessRights: 0xEEEE, kind: kind)
        return DESFireContents(applications: [DESFireApplication(identifier: 1, files: [file])])
    }

    @Test func `A linear file takes as many records as it has room for, and reads no more than it has`() {
        expect(
            contents(.linearRecords(size: 2, maximum: 2, records: [])),
            [
                "5a 01 00 00": "00", "3b 01 00 00 00 03 00 00 01 02 03": "be", "3b 01 01 00 00 02 00 00 01 02": "be",
                "3b 01 00 00 00 00 00 00": "9e", "c7": "0c",
                "3b 01 00 00 00 02 00 00 a1 a2": "00", "c7": "00", "3b 01 01 00 00 01 00 00 b2": "00", "c7": "00",
                "3b 01 00 00 00 02 00 00 c1 c2": "be", "c7": "0c",
                "f5 01": "00 03 00 ee ee 02 00 00 02 00 00 02 00 00",
                "bb 01 00 00 00 00 00 00": "00 a1 a2 00 b2", "bb 01 00 00 00 01 00 00": "00 00 b2",
                "bb 01 01 00 00 01 00 00": "00 a1 a2", "bb 01 01 00 00 02 00 00": "be",
                "bb 01 00 00 00 03 00 00": "be", "bb 01 02 00 00 00 00 00": "be",
            ]
        )
    }

    @Test func `Records that are cleared make room for a new one after the commit, and are read until then`() {
        expect(
            contents(.linearRecords(size: 2, maximum: 1, records: [0xA1, 0xA2])),
            [
                "5a 01 00 00": "00", "eb 01": "00", "bb 01 00 00 00 00 00 00": "00 a1 a2",
                "3b 01 00 00 00 02 00 00 b1 b2": "9d", "c7": "00", "bb 01 00 00 00 00 00 00": "be",
                "3b 01 00 00 00 02 00 00 b1 b2": "00", "eb 01": "00", "3b 01 00 00 00 01 00 00 b3": "9d", "a7": "00",
                "3b 01 00 00 00 02 00 00 c1 c2": "00", "c7": "00", "bb 01 00 00 00 00 00 00": "00 c1 c2",
                "eb 01": "00", "a7": "00", "bb 01 00 00 00 00 00 00": "00 c1 c2",
            ]
        )
    }

    @Test func `Files of records have ISO identifiers too, and a type of their own`() {
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1)]),
            [
                "5a 01 00 00": "00", "c0 05 05 e1 00 ee ee 02 00 00 03 00 00": "00",
                "c1 06 06 e1 00 ee ee 03 00 00 01 00 00": "00", "c1 07 07 e1 00 ee ee 03 00 00 01 00": "7e",
                "61": "00 05 e1 06 e1",
                "f5 05": "00 04 00 ee ee 02 00 00 03 00 00 00 00 00",
                "f5 06": "00 03 00 ee ee 03 00 00 01 00 00 00 00 00",
            ]
        )
    }

    @Test func `The settings of a value say whether a limited credit is possible`() {
        let values = "00 00 00 00 64 00 00 00"
        expect(
            DESFireContents(applications: [DESFireApplication(identifier: 1)]),
            [
                "5a 01 00 00": "00", "cc 04 00 ee ee \(values) 0a 00 00 00 01": "00",
                "cc 05 00 ee ee \(values) 0a 00 00 00 00": "00",
                "f5 04": "00 02 00 ee ee \(values) 00 00 00 00 01",
                "f5 05": "00 02 00 ee ee \(values) 00 00 00 00 00",
            ]
        )
    }

    @Test func `A cryptogram with room for more bytes holds just those of its command`() throws {
        let value = DESFireFile.Kind.value(lower: 0, upper: 100, current: 50, limitedCredit: false)
        let records = DESFireFile.Kind.linearRecords(size: 4, maximum: 2, records: [])
        let files = zip(UInt8(1)..., [DESFireFile.Kind.standard([0, 0, 0, 0]), value, records]).map {
            DESFireFile(number: $0, communication: .enciphered, accessRights: 0x0000, kind: $1)
        }
        let application = DESFireApplication(identifier: 1, keyCount: 0x81, files: files)
        for (command, header, data) in [
            (0x0C, [2], [1, 0, 0, 0, 0]), (0xDC, [2], [1, 0, 0, 0, 0]), (0x3D, [1, 0, 0, 0, 1, 0, 0], [7, 7]),
            (0x3B, [3, 0, 0, 0, 1, 0, 0], [7, 7]), (0x5F, [1], [0x03, 0, 0, 0]), (0x54, [], [0x0F, 0]),
        ] as [(UInt8, [UInt8], [UInt8])] {
            var reader = reader(application, generation: .ev2)
            #expect(try reader.authenticate(0x71, 0, .zero(.aes)) == 0)
            let answer = try reader.command(command, header, data, mode: .enciphered, answers: .maced)
            #expect(answer.status == 0x7E, "\(command)")
            #expect((reader.card as? DESFireCard)?.contents.applications == [application])
            #expect(reader.send(0xC7).status == 0x0C)
        }
    }

    /// Key 1 has the right to read, key 2 to write, and key 0 both.
    @Test(arguments: [UInt8(0), 1, 2])
    func `Each right to a value reads and debits it, and one alone credits it`(key: UInt8) throws {
        let kind = DESFireFile.Kind.value(lower: 0, upper: 100, current: 50, limitedCredit: false)
        let file = DESFireFile(number: 1, accessRights: 0x1200, kind: kind)
        var reader = reader(DESFireApplication(identifier: 1, keyCount: 0x83, files: [file]))
        #expect(try reader.authenticate(0xAA, key, .zero(.aes)) == 0)
        let value = try reader.command(0x6C, [1])
        #expect(value == CardReader.Answer(status: 0, data: [50, 0, 0, 0]))
        #expect(try reader.command(0xDC, [1], [5, 0, 0, 0]) == CardReader.Answer(status: 0))
        #expect(try reader.command(0x0C, [1], [1, 0, 0, 0]).status == (key == 0 ? 0x00 : 0xAE))
    }
}
