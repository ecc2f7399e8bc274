// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Checks what an NTAG 424 DNA refuses, and what ends what was begun.
extension `NTAG 424 DNA with keys` {
    @Test func `An answer in frames goes on with an empty command alone, and ends with an ISO command`() throws {
        var reader = try reader()
        #expect(reader.send(0x60).status == 0xAF)
        #expect(reader.send(0xAF, [1]).status == 0x7E)
        #expect(reader.send(0xAF).status == 0x1C)
        #expect(reader.send(0x60).status == 0xAF)
        #expect(reader.exchange("00 b0 84 00 01") == "00 90 00")
        #expect(reader.send(0xAF).status == 0x1C)
        #expect(reader.send(0x60).status == 0xAF)
        #expect(reader.send(0x64, [0]) == CardReader.Answer(status: 0xCA))
        #expect(reader.send(0xAF).status == 0x1C)
        #expect(reader.send(0x64, [1]) == CardReader.Answer(status: 0, data: [1]))
        #expect(reader.exchange("90 60 01 00 00") == "6a 86")
        #expect(reader.exchange("90 60 00 01 00") == "6a 86")
    }

    @Test func `P1 of SELECT says whether the application or a file is meant`() throws {
        var reader = try reader()
        for (command, answer) in [
            ("00 a4 01 0c 02 e1 10", "90 00"), ("00 a4 01 0c 02 e1 04", "6a 82"), ("00 a4 02 0c 02 e1 10", "6a 82"),
            ("00 a4 02 0c 02 3f 00", "6a 82"), ("00 a4 03 0c 02 e1 04", "6a 86"), ("00 a4 02 0c 02 e1 03", "90 00"),
            ("00 b0 00 00 02", "00 17 90 00"), ("00 a4 00 0c 02 3f 00", "90 00"), ("00 b0 00 00 02", "69 85"),
        ] {
            #expect(reader.exchange(command) == answer, "\(command)")
        }
    }

    @Test(arguments: ["00 a4 04 0c 07 d2 76 00 00 85 01 00", "00 a4 00 0c", "00 a4 03 0c", "00 a4 00 0c 02 3f 00"])
    func `The tag itself is selected by its name, by its identifier and without one`(select: String) throws {
        var reader = try reader()
        #expect(reader.exchange("00 b0 84 00 01") == "00 90 00")
        #expect(reader.exchange(select) == "90 00")
        #expect(reader.exchange("00 b0 84 00 01") == "69 85")
        #expect(reader.send(0x64, [0]).status == 0x9D)
        for command in ["00 a4 01 0c", "00 a4 02 0c"] { #expect(reader.exchange(command) == "67 00") }
        #expect(reader.exchange("00 a4 04 0c 07 d2 76 00 00 85 01 02") == "6a 82")
    }

    @Test func `READ SIGNATURE of another form has a status of its own`() throws {
        var reader = try reader { $0.signature = Array(repeating: 7, count: 56) }
        for data in [[], [1], [0, 0]] as [[UInt8]] { #expect(reader.send(0x3C, data).status == 0x0C) }
        #expect(reader.send(0x3C, [0]) == CardReader.Answer(status: 0x90, data: Array(repeating: 7, count: 56)))
    }

    /// The rights of a file, and the statuses of reading and writing it without a key.
    @Test(arguments: [
        (FileAccessRights(rawValue: 0xFFF0), UInt8(0x9D), UInt8(0x9D)), (0xF2F0, 0x9D, 0xAE), (0x2FF0, 0xAE, 0x9D),
        (0xFF20, 0xAE, 0xAE),
    ]) func `What nobody may do is denied, whatever the key`(rights: FileAccessRights, read: UInt8, write: UInt8)
        throws
    {
        var reader = try reader { $0.files[2].accessRights = rights }
        #expect(reader.send(0xAD, [3, 0, 0, 0, 1, 0, 0]).status == read)
        #expect(reader.send(0x8D, [3, 0, 0, 0, 1, 0, 0, 7]).status == write)
    }

    @Test func `A file that is read with its code alone needs that key of dynamic messages`() throws {
        var reader = try reader {
            $0.setLink("https://example.com/{uid}{cmac}")
            $0.files[1].accessRights = 0xFFF0
        }
        #expect(reader.send(0xAD, [2, 0, 0, 0, 1, 0, 0]).status == 0)
        #expect(try reader.authenticate(0x71, 3, key(3)) == 0)
        #expect(try reader.command(0xAD, [2, 0, 0, 0, 1, 0, 0]).status == 0xAE)
    }

    @Test func `A short identifier selects its file, and a reading may end with the file`() throws {
        var reader = try reader()
        for (command, answer) in [
            ("00 b0 00 00 01", "69 85"), ("00 b0 80 00 01", "69 85"), ("00 b0 83 00 02", "00 17 90 00"),
            ("00 b0 00 02 01", "20 90 00"), ("00 b0 80 02 01", "20 90 00"), ("00 b0 00 1f 01", "00 90 00"),
            ("00 b0 00 1f 02", "00 90 00"), ("00 b0 00 1e 00", "00 00 90 00"), ("00 b0 00 20 01", "6a 86"),
            ("00 b0 86 00 01", "6a 82"),
        ] {
            #expect(reader.exchange(command) == answer, "\(command)")
        }
    }

    @Test func `Before the application is selected there are no keys, and no transaction to go on with`() throws {
        var reader = CardReader(card: NTAG424Card(NTAG424Contents(uid: uid)), isWrapped: true)
        #expect(reader.send(0x71, [0, 0]).status == 0x9D)
        #expect(reader.send(0x64, [0]).status == 0x9D)
        #expect(reader.exchange("00 a4 04 0c 07 d2 76 00 00 85 01 01 00") == "90 00")
        #expect(reader.send(0x77, [0]).status == 0x9D)
        #expect(reader.send(0x64, [0]) == CardReader.Answer(status: 0, data: [0]))
        #expect(reader.send(0x71, [0, 0]).status == 0xAF)
    }

    @Test func `An authentication that is begun ends the one before it`() throws {
        var reader = try reader()
        #expect(try reader.authenticate(0x71, 3, key(3)) == 0)
        #expect(reader.send(0x71, [0, 0]).status == 0xAF)
        #expect(reader.send(0xAD, [3, 0, 0, 0, 1, 0, 0]).status == 0xCA)
        #expect(reader.send(0xAD, [3, 0, 0, 0, 1, 0, 0]).status == 0xAE)
    }

    @Test(arguments: [false, true])
    func `No transaction goes on after the application is selected again, or the power was off`(isOff: Bool) throws {
        var reader = try reader()
        #expect(try reader.authenticate(0x71, 3, key(3)) == 0)
        if isOff { reader.card.losePower() }
        #expect(reader.exchange("00 a4 04 0c 07 d2 76 00 00 85 01 01 00") == "90 00")
        #expect(reader.send(0x77, [0]).status == 0x9D)
        #expect(reader.send(0xAD, [3, 0, 0, 0, 1, 0, 0]).status == 0xAE)
    }

    @Test func `SET CONFIGURATION is for key 0, and knows no option`() throws {
        var reader = try reader()
        #expect(reader.send(0x5C, [0]).status == 0xAE)
        for (number, status) in [(UInt8(1), UInt8(0xAE)), (0, 0x9E)] {
            #expect(try reader.authenticate(0x71, number, key(number)) == 0)
            #expect(try reader.command(0x5C, [0], mode: .maced, answers: .maced).status == status)
        }
    }

    @Test func `Dynamic messages are for the NDEF file, whose counter may stay hidden`() throws {
        var reader = try reader()
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        let other = hex("40 30 23 c1 f1 21 20 00 00 43 00 00 43 00 00")
        #expect(try reader.command(0x5F, [3], other, mode: .enciphered).status == 0x9D)
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        let hidden = hex("40 00 e0 c1 f1 ef 20 00 00 ff ff ff")
        #expect(try reader.command(0x5F, [2], hidden, mode: .enciphered).status == 0x00)
        let files = try #require(reader.card as? NTAG424Card).contents.files
        #expect(files.map { $0.dynamicMessaging == nil } == [true, false, true])
    }

    @Test func `A limit may be below what was counted before dynamic messages were switched on`() throws {
        var reader = try reader { $0.readCounter = 5 }
        #expect(try reader.authenticate(0x71, 0, key(0)) == 0)
        let settings = hex("40 00 e0 e1 ff 2f 20 00 00 03 00 00")
        #expect(try reader.command(0x5F, [2], settings, mode: .enciphered) == CardReader.Answer(status: 0))
        #expect((reader.card as? NTAG424Card)?.contents.readCounter == 0)
    }

    @Test func `The answer of AUTHENTICATE EV2 FIRST has the reader's capabilities`() throws {
        var reader = try reader()
        #expect(reader.send(0x71, [0, 6, 1]).status == 0x7E)
        #expect(reader.send(0x71, [0]).status == 0x7E)
        let cipher = try BlockCipher.aes(key(0).bytes)
        let zero = BlockCipher.Mode.blockChaining(vector: [UInt8](repeating: 0, count: 16))
        for capabilities in [[1, 2, 3, 4, 5, 6], [9]] as [[UInt8]] {
            let first = reader.send(0x71, [0, UInt8(capabilities.count)] + capabilities)
            #expect(first.status == 0xAF)
            let theirs = try cipher.decrypt(first.data, zero)
            let mine = Array(UInt8(0x61)..<0x71)
            let second = reader.send(0xAF, try cipher.encrypt(mine + theirs.dropFirst() + theirs.prefix(1), zero))
            #expect(second.status == 0x00)
            let answer = try cipher.decrypt(second.data, zero)
            #expect(answer.count == 32)
            #expect(Array(answer[4..<20]) == Array(mine.dropFirst() + mine.prefix(1)))
            let padding = [UInt8](repeating: 0, count: 6 - capabilities.count)
            #expect(Array(answer[20...]) == [0, 0, 0, 0, 0, 0] + capabilities + padding)
        }
    }

    /// SDMOptions, and the enciphered identity with them: its tag, the UID and the counter.
    @Test(arguments: [
        (UInt8(0xC1), "c7 04 de 5f 1e ac c0 40 3d 00 00"), (0x81, "87 04 de 5f 1e ac c0 40"), (0x41, "40 3d 00 00"),
    ]) func `The enciphered identity has what is mirrored`(options: UInt8, identity: String) throws {
        var messaging = SecureDynamicMessaging(piccDataOffset: 20, codeOffset: 60)
        messaging.options = options
        let padding = Array(UInt8(1)...15)
        let mirrored = try messaging.mirrored(
            [UInt8](repeating: 0x30, count: 256),
            uid: uid,
            counter: 0x3D,
            keys: Array(repeating: .zero(.aes), count: 5),
            padding: padding
        )
        let shown = try #require(String(validating: mirrored[20..<52], as: UTF8.self))
        let plain = try BlockCipher.aes([UInt8](repeating: 0, count: 16)).decrypt(hex(shown))
        #expect(hexText(plain) == hexText((hex(identity) + padding).prefix(16)))
    }
}

extension CardReader {
    /// Sends a command as it is; the answer as text.
    fileprivate mutating func exchange(_ command: String) -> String {
        hexText(card.process(hex(command), tear: nil).bytes)
    }
}
