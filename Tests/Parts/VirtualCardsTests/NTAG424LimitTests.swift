// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Checks lengths, rights, times and power cuts of an NTAG 424 DNA.
extension `NTAG 424 DNA with keys` {
    /// A card whose every command is cut.
    private struct CutCard: Card {
        var card: any Card
        let rest: TornWrite

        mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer { card.process(message, tear: rest) }

        mutating func losePower() { card.losePower() }
    }

    private func answer(_ reader: inout CardReader, _ command: String) -> String {
        hexText(reader.card.process(hex(command), tear: nil).bytes)
    }

    @Test(arguments: [
        (UInt8(0x60), "01", UInt8(0x7E)), (0x64, "05", 0x40), (0x64, "", 0x7E), (0xF5, "02 02", 0x7E),
        (0xF5, "", 0x7E), (0xF6, "02 09", 0x7E), (0xAD, "02 00 00 00 01 00", 0x7E),
        (0xAD, "02 00 00 00 01 00 00 09", 0x7E), (0x8D, "02 00 00 00 01 00", 0x7E),
        (0x8D, "02 00 00 00 00 00 00", 0x7E), (0x8D, "02 00 00 00 00 00 00 07", 0x7E),
        (0x8D, "02 ff 00 00 02 00 00 01 02", 0xBE), (0x5F, "02 00 e0 ee", 0xAE),
    ])
    func `A wrong length, number or right has its status, and changes nothing`(
        command: UInt8,
        data: String,
        status: UInt8
    ) throws {
        var reader = try reader()
        #expect(reader.send(command, hex(data)) == CardReader.Answer(status: status))
        #expect((reader.card as? NTAG424Card)?.contents.files == NTAG424Contents(uid: uid).files)
    }

    @Test func `Settings that nobody may change are denied`() throws {
        var reader = try reader { $0.files[1].accessRights = 0xEEEF }
        #expect(reader.send(0x5F, hex("02 00 ee ee")).status == 0x9D)
    }

    @Test func `With a key there are the same lengths and numbers, and settings of other files`() throws {
        var reader = try reader()
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        #expect(try reader.command(0x51, [1], mode: .maced, answers: .enciphered).status == 0x7E)
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        #expect(try reader.changeKey(5, from: key(4), to: key(3), isOwn: false).status == 0x40)
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        let settings = try reader.command(0x5F, [3], hex("03 30 24"), mode: .enciphered)
        #expect(settings == CardReader.Answer(status: 0))
        #expect((reader.card as? NTAG424Card)?.contents.files[2].settings == hex("03 30 24"))
    }

    @Test func `A selection forgets the file and the key, and a loss of power the application`() throws {
        var reader = try reader()
        #expect(answer(&reader, "00 a4 00 0c 02 e1 03") == "90 00")
        #expect(answer(&reader, "00 b0 00 00 01") == "00 90 00")
        #expect(answer(&reader, "00 a4 04 0c 07 d2 76 00 00 85 01 01 00") == "90 00")
        #expect(answer(&reader, "00 b0 00 00 01") == "69 85")
        #expect(try reader.authenticate(0x71, 3, key(3)) == 0)
        #expect(answer(&reader, "00 a4 00 0c 02 e1 10") == "90 00")
        #expect(reader.send(0xAD, [3, 0, 0, 0, 1, 0, 0]).status == 0xAE)
        #expect(answer(&reader, "00 b0 84 00 01") == "00 90 00")
        reader.card.losePower()
        #expect(answer(&reader, "00 b0 84 00 01") == "69 85")
    }

    @Test func `UPDATE BINARY reaches the last byte, with up to 255 at once`() throws {
        var reader = try reader()
        #expect(answer(&reader, "00 a4 00 0c 02 e1 04") == "90 00")
        for (command, status) in [
            ("00 d6 00 ff 01 55", "90 00"), ("00 d6 00 ff 02 55 55", "6a 84"), ("00 d6 01 00 01 55", "6b 00"),
            ("00 d6 00 00 ff" + String(repeating: " 66", count: 255), "90 00"),
        ] {
            #expect(answer(&reader, command) == status, "\(command.prefix(14))")
        }
        let data = (reader.card as? NTAG424Card)?.contents.ndefFile
        #expect(data == [UInt8](repeating: 0x66, count: 255) + [0x55])
    }

    @Test func `Of two files with one identifier the first counts`() throws {
        var reader = try reader {
            var other = $0.files[0]
            other.data = [9, 9]
            $0.files.append(other)
        }
        #expect(answer(&reader, "00 a4 02 0c 02 e1 03") == "90 00")
        #expect(answer(&reader, "00 b0 00 00 02") == "00 17 90 00")
        #expect(answer(&reader, "00 b0 83 00 02") == "00 17 90 00")
    }

    // MARK: Time and power

    @Test(arguments: [(1, 2), (32, 2), (33, 4), (240, 16)] as [(Int, Int64)])
    func `A write takes its time for each unit of 32 bytes`(count: Int, milliseconds: Int64) throws {
        var reader = try reader()
        let (size, data) = (UInt8(count), [UInt8](repeating: 0x77, count: count))
        let head: [UInt8] = [0x90, 0x8D, 0, 0, size + 7, 2, 0, 0, 0, size, 0, 0]
        let plain: [UInt8] = [0x00, 0xD6, 0x84, 0x00, size]
        for command in [plain + data, head + data + [0]] {
            let answer = reader.card.process(command, tear: nil)
            #expect(answer.isWrite && answer.workTime == .milliseconds(milliseconds))
        }
        let version = reader.card.process(hex("90 60 00 00 00"), tear: nil)
        #expect(!version.isWrite && version.workTime == .zero)
    }

    @Test(arguments: [TornWrite.old, .new]) func `A power cut leaves the old state or the new one`(rest: TornWrite)
        throws
    {
        var reader = try reader { $0.files[1].accessRights = 0xEEEE }
        let isOld = rest == .old
        let (mode, byte): (CommunicationSettings, UInt8) = isOld ? (.plain, 0x00) : (.enciphered, 0x55)
        let settings = reader.card.process(hex("90 5f 00 00 04 02 03 ee ee 00"), tear: rest)
        #expect(settings.isWrite && settings.workTime == .milliseconds(2))
        #expect((reader.card as? NTAG424Card)?.contents.files[1].communication == mode)
        #expect(reader.card.process(hex("00 d6 84 00 01 55"), tear: rest).isWrite)
        #expect((reader.card as? NTAG424Card)?.contents.ndefFile[0] == byte)
        let new = try #require(DESFireKey(.aes, Array(0x50..<0x60), version: 9))
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        reader.card = CutCard(card: reader.card, rest: rest)
        #expect(try reader.changeKey(4, from: key(4), to: new, isOwn: false).status == 0)
        let card = (reader.card as? CutCard)?.card as? NTAG424Card
        #expect(try card?.contents.keys[4] == (isOld ? key(4) : new))
    }

    // MARK: Dynamic messages

    @Test func `A new tag counts from zero, and keeps the size of its file`() {
        var contents = NTAG424Contents(uid: uid)
        #expect(contents.readCounter == 0)
        let isSet = contents.setLink("https://example.com/{uid}{counter}")
        #expect(isSet && contents.ndefFile.count == 256)
        #expect(contents.files[1].dynamicMessaging?.counterKey == 0x0F)
        let tag = VirtualType4Tag(contents)
        #expect(tag.frontEnd == .nfcA(uid: uid, ats: hex("06 77 77 71 02 80")))
    }

    @Test func `What has no key or no room is not mirrored, and what ends in the file is`() throws {
        let file = [UInt8](repeating: 0x30, count: 256)
        func mirrored(_ messaging: SecureDynamicMessaging, keys: Int) throws -> [UInt8] {
            let keys = Array(repeating: DESFireKey.zero(.aes), count: keys)
            return try messaging.mirrored(file, uid: uid, counter: 1, keys: keys, padding: [1, 2, 3, 4, 5])
        }
        let foreign = SecureDynamicMessaging(piccDataOffset: 20, codeOffset: 60, metaReadKey: 2, fileReadKey: 2)
        #expect(try mirrored(foreign, keys: 2) == file)
        #expect(try mirrored(SecureDynamicMessaging(piccDataOffset: 240, codeOffset: 250), keys: 5) == file)
        var late = SecureDynamicMessaging(piccDataOffset: 0, codeOffset: 240, codeInputOffset: 140)
        late.options |= 0x10
        late.encryptedPart = .init(offset: 140, length: 96)
        #expect(try mirrored(late, keys: 5)[140..<236] != file[140..<236])
    }

    @Test func `An encrypted part may not overlap another place`() throws {
        var messaging = SecureDynamicMessaging(piccDataOffset: 50, codeOffset: 100, codeInputOffset: 40)
        messaging.options = 0xD1
        messaging.encryptedPart = .init(offset: 40, length: 32)
        var reader = try reader { $0.files[1].accessRights = 0xEEEE }
        #expect(reader.send(0x5F, [2] + hex("40 ee ee") + messaging.bytes).status == 0x9E)
    }
}
