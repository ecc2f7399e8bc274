// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `NTAG 424 DNA with keys` {
    let uid = hex("04 de 5f 1e ac c0 40")

    func key(_ number: UInt8) throws -> DESFireKey {
        try #require(DESFireKey(.aes, (0..<16).map { $0 &* 3 &+ number &* 32 }, version: number))
    }

    /// A reader in the application of a tag with five keys.
    func reader(_ change: (inout NTAG424Contents) -> Void = { _ in }) throws -> CardReader {
        var contents = NTAG424Contents(uid: uid)
        contents.keys = try (0..<5).map { try key($0) }
        change(&contents)
        var reader = CardReader(card: NTAG424Card(contents), isWrapped: true, frameLimit: 255)
        selectApplication(&reader)
        return reader
    }

    private func selectApplication(_ reader: inout CardReader) {
        let answer = reader.card.process(hex("00 a4 04 0c 07 d2 76 00 00 85 01 01 00"), tear: nil)
        #expect(answer.bytes == [0x90, 0x00])
    }

    // MARK: NXP AN12196

    /// A file with text in a place.
    private func file(_ texts: [(Int, String)]) -> [UInt8] {
        var file = [UInt8](repeating: 0x30, count: 256)
        for (offset, text) in texts { file.replaceSubrange(offset..<(offset + text.utf8.count), with: text.utf8) }
        return file
    }

    private func text(_ file: [UInt8], _ range: Range<Int>) -> String? {
        String(validating: file[range], as: UTF8.self)
    }

    @Test func `The enciphered identity and its code, AN12196, 3.4`() throws {
        let messaging = SecureDynamicMessaging(piccDataOffset: 20, codeOffset: 60)
        let mirrored = try messaging.mirrored(
            file([]),
            uid: uid,
            counter: 0x3D,
            keys: Array(repeating: .zero(.aes), count: 5),
            padding: hex("da 5c f6 09 41")
        )
        #expect(text(mirrored, 20..<52) == "EF963FF7828658A599F3041510671E88")
        #expect(text(mirrored, 60..<76) == "94EED9EE65337086")
        #expect(mirrored[..<20] == file([])[..<20])
    }

    @Test func `An enciphered part of the file, AN12196, 3.4`() throws {
        var messaging = SecureDynamicMessaging(piccDataOffset: 20, codeOffset: 102, codeInputOffset: 64)
        messaging.options |= 0x10
        messaging.encryptedPart = .init(offset: 64, length: 32)
        let mirrored = try messaging.mirrored(
            file([(64, "xxxxxxxxxxxxxxxx"), (96, "&cmac=")]),
            uid: hex("04 95 8c aa 5c 5e 80"),
            counter: 8,
            keys: Array(repeating: .zero(.aes), count: 5),
            padding: [0, 0, 0, 0, 0]
        )
        #expect(text(mirrored, 64..<102) == "CEE9A53E3E463EF1F459635736738962&cmac=")
        #expect(text(mirrored, 102..<118) == "ECC1E7F6C6C73BF6")
    }

    @Test func `A UID and a counter that are shown`() throws {
        var contents = NTAG424Contents(uid: hex("04 1e 3c 8a 2d 6b 80"))
        let isSet = contents.setLink("https://example.com/t?uid={uid}&ctr={counter}&cmac={cmac}")
        #expect(isSet)
        contents.readCounter = 5
        let link = try link(CardReader(card: NTAG424Card(contents)))
        #expect(link == "example.com/t?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3")
    }

    // MARK: Links

    /// Reads the link as a phone does: the length, then the rest.
    private func link(_ reader: CardReader) throws -> String {
        var reader = reader
        return try link(&reader)
    }

    private func link(_ reader: inout CardReader) throws -> String {
        selectApplication(&reader)
        #expect(reader.card.process(hex("00 a4 00 0c 02 e1 04"), tear: nil).bytes == [0x90, 0x00])
        let length = reader.card.process(hex("00 b0 00 00 02"), tear: nil).bytes[1]
        let first = reader.card.process([0x00, 0xB0, 0x00, 0x02, length / 2], tear: nil).bytes.dropLast(2)
        let second = reader.card.process([0x00, 0xB0, 0x00, 0x02 + length / 2, length - length / 2], tear: nil).bytes
        // D1 01 len 55 04: one URI that begins with https://.
        return try #require(String(validating: (first + second.dropLast(2)).dropFirst(5), as: UTF8.self))
    }

    @Test func `A link changes at every read, and proves itself with the keys`() throws {
        var reader = try reader { $0.setLink("https://example.com/t?e={picc}&c={cmac}") }
        var seen: Set<String> = []
        for count in UInt8(1)...4 {
            let link = try link(&reader)
            #expect(link.hasPrefix("example.com/t?e="))
            #expect(seen.insert(link).inserted)
            let parts = link.dropFirst(16).split(separator: "&c=")
            let plain = try BlockCipher.aes(key(2).bytes).decrypt(hex(String(parts[0])))
            #expect(Array(plain[..<11]) == [0xC7] + uid + [count, 0, 0])
            let session = try BlockCipher.aes(key(1).bytes).cmac(hex("3c c3 00 01 00 80") + plain[1..<11])
            let code = try BlockCipher.aes(session).cmac([])
            #expect(hex(String(parts[1])) == (0..<8).map { code[2 * $0 + 1] })
        }
        #expect((reader.card as? NTAG424Card)?.contents.readCounter == 4)
    }

    @Test func `Only a reading from the start is counted`() throws {
        var reader = try reader {
            $0.setLink("https://example.com/{uid}{counter}")
            $0.files[1].dynamicMessaging?.counterKey = 0x0E
        }
        func count() -> UInt8 { reader.send(0xF6, [2]).data.first ?? 0xFF }
        func read(_ offset: UInt8) { _ = reader.card.process([0x00, 0xB0, 0x84, offset, 0x10], tear: nil) }
        #expect(count() == 0)
        read(0)
        read(16)
        read(0)
        #expect(count() == 1)
        read(0)
        _ = reader.send(0xAD, [2, 0, 0, 0, 8, 0, 0])
        _ = reader.send(0xAD, [2, 8, 0, 0, 8, 0, 0])
        read(0)
        #expect(count() == 4)
    }

    @Test func `At its limit the file is not read any more, but by who has a key`() throws {
        var reader = try reader {
            $0.setLink("https://example.com/{uid}{counter}")
            $0.files[1].dynamicMessaging?.options |= 0x20
            $0.files[1].dynamicMessaging?.counterLimit = 1
        }
        let read: [UInt8] = [2, 0, 0, 0, 0x10, 0, 0]
        #expect(reader.send(0xAD, read).status == 0)
        #expect(reader.send(0xAD, read).status == 0)
        #expect(reader.transmit(0x60, []).status == 0)
        #expect(reader.send(0xAD, read).status == 0x9D)
        #expect(reader.card.process(hex("00 b0 84 00 10"), tear: nil).bytes == [0x69, 0x82])
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        #expect(try reader.command(0xAD, read).status == 0)
    }

    @Test func `A counter that can't count any further is an error of the integrity`() throws {
        var reader = try reader {
            $0.setLink("https://example.com/{uid}{counter}")
            $0.readCounter = 0xFF_FFFE
        }
        let read: [UInt8] = [2, 0, 0, 0, 0x10, 0, 0]
        #expect(reader.send(0xAD, read).status == 0)
        #expect(reader.transmit(0x60, []).status == 0)
        #expect(reader.send(0xAD, read).status == 0x1E)
        #expect(reader.card.process(hex("00 b0 84 00 10"), tear: nil).bytes == [0x69, 0x82])
    }

    @Test func `A link that does not fit or has other names is refused`() {
        var contents = NTAG424Contents()
        let before = contents
        for link in [
            "https://e.com/{uid}{uid}", "https://e.com/{what}", "https://e.com/{uid", "https://e.com/{picc}{uid}",
            "https://e.com/", "https://e.com/{picc}" + String(repeating: "x", count: 240),
        ] {
            let isSet = contents.setLink(link)
            #expect(!isSet, "\(link)")
        }
        #expect(contents == before)
    }

    // MARK: Commands

    @Test func `A reader sets up dynamic messages, AN12196, 5.8 and 5.9`() throws {
        var reader = try reader { $0.files[1].accessRights = 0xEEE0 }
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        let ndef = hex("00 51 d1 01 4d 55 04") + Array("choose.url.com/ntag424?e=".utf8)
        let whole = ndef + Array(String(repeating: "0", count: 32).utf8) + Array("&c=".utf8)
        let written = try reader.command(0x8D, [2, 0, 0, 0, UInt8(whole.count), 0, 0], whole)
        #expect(written == CardReader.Answer(status: 0))
        let settings = hex("40 00 e0 c1 f1 21 20 00 00 43 00 00 43 00 00")
        #expect(try reader.command(0x5F, [2], settings, mode: .enciphered) == CardReader.Answer(status: 0))
        let read = try reader.command(0xF5, [2], mode: .maced)
        #expect(
            read == CardReader.Answer(status: 0, data: hex("00 40 00 e0 00 01 00 c1 f1 21 20 00 00 43 00 00 43 00 00"))
        )
        // The counter is for key 1.
        #expect(try reader.command(0xF6, [2], mode: .maced, answers: .enciphered).status == 0xAE)
        reader.session = .none
        let link = try link(&reader)
        #expect(link.hasPrefix("choose.url.com/ntag424?e="))
        #expect(!link.contains(String(repeating: "0", count: 32)))
        #expect(try reader.authenticate(0x71, 1, key(1)) == 0)
        let counter = try reader.command(0xF6, [2], mode: .maced, answers: .enciphered)
        #expect(counter == CardReader.Answer(status: 0, data: [1, 0, 0, 0, 0]))
    }

    @Test(arguments: [
        "40 00 e0 c1 f1 21 20 00 00 43 00 00", "40 00 e0 c1 f1 21 20 00 00 43 00 00 f8 00 00",
        "40 00 e0 c1 f1 21 20 00 00 43 00 00 30 00 00", "40 00 e0 c0 f1 21 20 00 00 43 00 00 43 00 00", "04 00 e0",
        "00 00 e0 00", "00 00",
        // Keys that the tag does not have, and bits that are reserved.
        "40 00 e0 c1 f5 21 20 00 00 43 00 00 43 00 00", "40 00 e0 c1 e1 21 20 00 00 43 00 00 43 00 00",
        "40 00 e0 c1 f1 51 43 00 00 43 00 00", "40 00 e0 c1 f1 25 20 00 00", "40 00 e0 c1 f1 2e 20 00 00",
        // Places that overlap, and a code that is before what it covers.
        "40 00 e0 c1 f1 21 20 00 00 20 00 00 30 00 00", "40 00 e0 c1 f1 21 20 00 00 44 00 00 43 00 00",
        // Keys for the file that the tag does not have.
        "00 05 e0", "00 00 d0", "40 05 e0 c1 f1 21 20 00 00 43 00 00 43 00 00",
        // A byte behind the last place.
        "40 00 e0 c1 f1 21 20 00 00 43 00 00 43 00 00 00",
        // An identity of nothing, a UID that is nowhere, and a counter for a key that is not counted.
        "40 00 e0 01 ff 2f 20 00 00", "40 00 e0 81 ff f1 43 00 00 43 00 00", "40 00 e0 81 f1 2f 20 00 00",
        // An encrypted part without a key, a limit without a counter, and one that is reached already.
        "40 00 e0 d1 ff 2f 20 00 00", "40 00 e0 a1 ff 2f 20 00 00 05 00 00", "40 00 e0 e1 ff 2f 20 00 00 00 00 00",
    ])
    func `File settings that can't be are refused`(settings: String) throws {
        var reader = try reader()
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        #expect(try reader.command(0x5F, [2], hex(settings), mode: .enciphered).status == 0x9E)
        #expect((reader.card as? NTAG424Card)?.contents.files == NTAG424Contents(uid: uid).files)
    }

    @Test(arguments: [
        "00 04 e0", "40 00 e0 01 ff f1 43 00 00 43 00 00", "40 00 e0 41 f1 2f 20 00 00", "40 00 e0 81 ff 2f 20 00 00",
        "40 00 e0 e1 ff 2f 20 00 00 01 00 00", "40 00 e0 01 ff ff",
    ]) func `File settings with all that they need are taken`(settings: String) throws {
        var reader = try reader()
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        #expect(try reader.command(0x5F, [2], hex(settings), mode: .enciphered) == CardReader.Answer(status: 0))
        #expect((reader.card as? NTAG424Card)?.contents.files[1].settings == hex(settings))
    }

    @Test(arguments: [(UInt32(5), UInt8(0x9E)), (6, 0x00)])
    func `A limit is above the counter`(limit: UInt32, status: UInt8) throws {
        var reader = try reader {
            $0.setLink("https://example.com/{uid}{counter}")
            $0.readCounter = 5
        }
        let file = try #require(reader.card as? NTAG424Card).contents.files[1]
        var messaging = try #require(file.dynamicMessaging)
        messaging.options |= 0x20
        messaging.counterLimit = limit
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        #expect(try reader.command(0x5F, [2], hex("40 e0 ee") + messaging.bytes, mode: .enciphered).status == status)
        // Another limit is no new beginning.
        #expect((reader.card as? NTAG424Card)?.contents.readCounter == 5)
    }

    @Test func `Enciphered and coded data, the UID, and versions`() throws {
        var reader = try reader()
        #expect(try reader.authenticate(0x71, 3, key(3)) == 0)
        let data = Array(repeating: UInt8(0xA5), count: 33)
        let header: [UInt8] = [3, 4, 0, 0, 33, 0, 0]
        #expect(try reader.command(0x8D, header, data, mode: .enciphered) == CardReader.Answer(status: 0))
        let uid = try reader.command(0x51, mode: .maced, answers: .enciphered)
        #expect(uid == CardReader.Answer(status: 0, data: self.uid))
        #expect(try reader.command(0x64, [4], mode: .maced) == CardReader.Answer(status: 0, data: [4]))
        let version = try reader.command(0x60, mode: .maced)
        #expect(version.isProved)
        #expect(version.data.count == 28)
        let signature = try reader.command(0x3C, [0], mode: .maced, answers: .enciphered)
        #expect(signature == CardReader.Answer(status: 0x90, data: Array(repeating: 0, count: 56)))
        #expect(try reader.authenticate(0x77, 2, key(2)) == 0)
        let read = try reader.command(0xAD, header, mode: .maced, answers: .enciphered)
        #expect(read == CardReader.Answer(status: 0, data: data))
        // Key 2 may read and not write.
        #expect(try reader.command(0x8D, header, data, mode: .enciphered).status == 0xAE)
        #expect(reader.send(0xAD, header).status == 0xAE)
    }

    @Test func `Keys are changed by key 0 alone`() throws {
        var reader = try reader()
        let new = try #require(DESFireKey(.aes, Array(0x50..<0x60), version: 9))
        #expect(try reader.authenticate(0x71, 1, key(1)) == 0)
        #expect(try reader.changeKey(1, from: key(1), to: new, isOwn: true).status == 0xAE)
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        #expect(try reader.changeKey(4, from: key(4), to: new, isOwn: false) == CardReader.Answer(status: 0))
        #expect(try reader.changeKey(0, from: key(0), to: new, isOwn: true).status == 0)
        #expect(try reader.authenticate(0x71, 4, new) == 0)
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0xAE)
        #expect(try reader.authenticate(0x71, 0, new) == 0)
        // A wrong old key.
        #expect(try reader.changeKey(4, from: key(4), to: new, isOwn: false).status == 0x1E)
        #expect(try reader.authenticate(0x71, 4, new) == 0)
    }

    // MARK: Corners

    @Test func `The counter begins anew when dynamic messages are switched on, and not when they are changed`() throws {
        var reader = try reader {
            $0.setLink("https://example.com/{uid}{counter}")
            $0.files[1].dynamicMessaging?.counterKey = 0x0E
        }
        let file = try #require(reader.card as? NTAG424Card).contents.files[1]
        let messaging = try #require(file.dynamicMessaging)
        #expect(reader.send(0xAD, [2, 0, 0, 0, 8, 0, 0]).status == 0)
        #expect(reader.send(0xF6, [2]).data == [1, 0, 0, 0, 0])
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        let settings = hex("40 e0 ee") + messaging.bytes
        #expect(try reader.command(0x5F, [2], settings, mode: .enciphered).status == 0)
        #expect((reader.card as? NTAG424Card)?.contents.readCounter == 1)
        #expect(try reader.command(0x5F, [2], hex("00 e0 ee"), mode: .enciphered).status == 0)
        #expect((reader.card as? NTAG424Card)?.contents.readCounter == 1)
        #expect(try reader.command(0x5F, [2], settings, mode: .enciphered).status == 0)
        #expect((reader.card as? NTAG424Card)?.contents.readCounter == 0)
    }

    @Test(arguments: [(UInt8(0x0F), UInt8(0x9D)), (0x0E, 0x00), (0x01, 0xAE)])
    func `The counter is told to whom its settings name`(counterKey: UInt8, status: UInt8) throws {
        var reader = try reader {
            $0.setLink("https://example.com/{uid}{counter}")
            $0.files[1].dynamicMessaging?.counterKey = counterKey
        }
        #expect(reader.send(0xF6, [2]).status == status)
        #expect(reader.send(0xF6, [3]).status == 0x9D)
    }

    /// Offset, length, and the number of bytes or the status.
    @Test(arguments: [
        (0, 0, 256), (0, 256, 256), (0, 257, -0xBE), (44, 256, 256), (45, 256, -0xBE), (45, 0, 255), (299, 0, 1),
        (299, 1, 1), (300, 0, -0xBE), (299, 2, -0xBE),
    ]) func `READ DATA gives up to 256 bytes, and none behind the end`(offset: Int, length: Int, count: Int) throws {
        var reader = try reader { $0.files[1].data = [UInt8](repeating: 0x33, count: 300) }
        func bytes(_ number: Int) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8), 0] }
        let answer = reader.send(0xAD, [2] + bytes(offset) + bytes(length))
        #expect(answer.status == (count < 0 ? UInt8(-count) : 0))
        #expect(answer.data == [UInt8](repeating: 0x33, count: max(0, count)))
    }

    @Test func `ISO commands are refused where data have to be enciphered, and with long lengths`() throws {
        var reader = try reader()
        func send(_ command: String) -> String { hexText(reader.card.process(hex(command), tear: nil).bytes) }
        #expect(send("00 b0 84 00 00 00 10") == "67 00")
        #expect(send("00 b0 85 00 01") == "69 82")
        #expect(send("00 b0 84 00 01") == "00 90 00")
        #expect(try reader.authenticate(0x71, 2, key(2)) == 0)
        #expect(send("00 b0 85 00 01") == "69 82")
        #expect(send("00 d6 85 00 01 55") == "69 82")
        #expect(try reader.authenticate(0x71, 3, key(3)) == 0)
        #expect(send("00 d6 85 00 01 55") == "69 82")
        // With a key, ISO commands are refused where everybody else may use them too.
        #expect(send("00 b0 84 00 01") == "69 82")
        #expect(send("00 d6 84 00 01 55") == "69 82")
        #expect((reader.card as? NTAG424Card)?.contents.files == NTAG424Contents(uid: uid).files)
    }

    /// SDMOptions, the offset and length of the encrypted part, and whether they can be. The code begins at 100, and
    /// covers the file from 40 on.
    @Test(arguments: [
        (UInt8(0xD1), 40, 32, true), (0xD1, 68, 32, true), (0xD1, 69, 32, false), (0xD1, 40, 60, false),
        (0xD1, 40, 48, false), (0xD1, 40, 0, false), (0xD1, 39, 32, false), (0x91, 40, 32, false),
        (0x51, 40, 32, false),
    ]) func `The encrypted part has its place in the file`(options: UInt8, offset: Int, length: Int, fits: Bool)
        throws
    {
        var messaging = SecureDynamicMessaging(piccDataOffset: 0, codeOffset: 100, codeInputOffset: 40)
        messaging.options = options
        messaging.encryptedPart = .init(offset: offset, length: length)
        var reader = try reader { $0.files[1].accessRights = 0xEEEE }
        let status = reader.send(0x5F, [2] + hex("40 ee ee") + messaging.bytes).status
        #expect(status == (fits ? 0x00 : 0x9E))
        let held = try #require(reader.card as? NTAG424Card).contents.files[1].dynamicMessaging
        #expect(held == (fits ? messaging : nil))
    }

    @Test(arguments: [
        ("{cmac}", "f1"), ("{picc}", "2f"), ("{uid}", "ef"), ("{counter}", "ef"), ("{uid}{cmac}", "e1"),
        ("{picc}{cmac}", "21"),
    ]) func `A link has the settings of its places, as a tag keeps them`(places: String, rights: String) throws {
        var contents = NTAG424Contents(uid: uid)
        contents.readCounter = 7
        let isSet = contents.setLink("https://example.com/" + places)
        #expect(isSet)
        #expect(contents.readCounter == 0)
        let messaging = try #require(contents.files[1].dynamicMessaging)
        #expect(SecureDynamicMessaging(messaging.bytes) == messaging)
        // The keys of the data and of the code.
        #expect(hexText(messaging.bytes[2..<3]) == rights)
        var reader = try reader { $0.files[1].accessRights = 0xEEEE }
        #expect(reader.send(0x5F, [2] + hex("40 ee ee") + messaging.bytes) == CardReader.Answer(status: 0))
    }
}
