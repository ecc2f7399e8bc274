// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualTags

/// NTAG 424 DNA (NT4H2421Gx; NXP AN12196).
struct NTAG424Tests {
    private let uid = hex("04 de 5f 1e ac c0 40")

    private func key(_ number: UInt8) throws -> DESFireKey {
        try #require(DESFireKey(.aes, (0..<16).map { $0 &* 3 &+ number &* 32 }, version: number))
    }

    private func card(_ box: CardBox) -> NTAG424Contents {
        (box.card as? NTAG424Card)?.contents ?? NTAG424Contents(uid: uid)
    }

    /// A reader in the application of a tag with five keys, and the card. `SELECT` selects the application, `count`
    /// shows the counter, `settings 1` those of a file, `byte 1` the first byte of a file; `changed` compares the files.
    private func make(
        isSelected: Bool = true,
        _ change: (inout NTAG424Contents) -> Void = { _ in }
    ) async throws -> (Stage, CardBox) {
        var contents = NTAG424Contents(uid: uid)
        contents.keys = try (0..<5).map { try key($0) }
        change(&contents)
        let before = contents.files
        let box = CardBox(NTAG424Card(contents))
        var keys = ["new": try #require(DESFireKey(.aes, Array(0x50..<0x60), version: 9))]
        for number in UInt8(0)..<5 { keys["\(number)"] = try key(number) }
        let stage = CardReader(box: box, isWrapped: true, frameLimit: 255).stage(
            keys: keys,
            verbs: [
                "count": { _ in String(card(box).readCounter) },
                "settings": { hexText(card(box).files[Int($0) ?? 0].settings) },
                "byte": { hexText([card(box).files[Int($0) ?? 0].data[0]]) },
                "changed": { _ in card(box).files == before ? "no" : "yes" },
            ]
        )
        stage.names = [
            "SELECT": "00 a4 04 0c 07 d2 76 00 00 85 01 01 00", "NAME": "00 a4 04 0c 07 d2 76 00 00 85 01",
            // The settings of AN12196, 5.9.
            "SDM": "40 00 e0 c1 f1 21 20 00 00 43 00 00 43 00 00",
        ]
        if isSelected { try await stage.check("SELECT -> 90 00") }
        return (stage, box)
    }

    // MARK: Files and commands

    @Test func `NTAG 424 files: ISO commands see them by identifier and by short identifier`() async throws {
        try await play(
            """
            == The three files
            00 b0 83 00 20 -> 00 17 20 01 00 00 ff 04 06 e1 04 01 00 00 00 05 06 e1 05 00 80 82 83 00*9 90 00
            00 a4 00 0c 02 e1 04 -> 90 00; 00 d6 00 00 05 00 03 d0 00 00 -> 90 00
            00 b0 00 00 05 -> 00 03 d0 00 00 90 00; 00 b0 00 00 00 -> #258; 00 b0 01 00 01 -> 6a 86
            00 a4 02 0c 02 e1 05 -> 90 00; 00 b0 00 00 01 -> 69 82; 00 d6 83 00 01 00 -> 69 82
            00 a4 00 0c 02 e1 06 -> 6a 82; 00 d6 84 ff 02 00 00 -> 6a 84
            == A short identifier selects its file, and a reading may end with the file
            00 b0 00 00 01 -> 69 85; 00 b0 80 00 01 -> 69 85; 00 b0 83 00 02 -> 00 17 90 00
            00 b0 00 02 01 -> 20 90 00; 00 b0 80 02 01 -> 20 90 00; 00 b0 00 1f 01 -> 00 90 00
            00 b0 00 1f 02 -> 00 90 00; 00 b0 00 1e 00 -> 00 00 90 00; 00 b0 00 20 01 -> 6a 86
            00 b0 86 00 01 -> 6a 82
            == The tag itself is selected by its name
            00 b0 84 00 01 -> 00 90 00; NAME 00 -> 90 00; 00 b0 84 00 01 -> 69 85; 90 64 00 00 01 00 00 -> 91 9d
            == A selection forgets the file and the key, and a loss of power the application
            00 a4 00 0c 02 e1 03 -> 90 00; 00 b0 00 00 01 -> 00 90 00; SELECT -> 90 00; 00 b0 00 00 01 -> 69 85
            auth 71 3 -> 00; 00 a4 00 0c 02 e1 10 -> 90 00; 90 ad 00 00 07 03 00 00 00 01 00 00 00 -> 91 ae
            00 b0 84 00 01 -> 00 90 00; power; 00 b0 84 00 01 -> 69 85
            == UPDATE BINARY reaches the last byte, with up to 255 at once, and takes 2 ms for each 32 bytes
            00 a4 00 0c 02 e1 04 -> 90 00; 00 d6 00 ff 01 55 -> 90 00; work -> 2; 00 d6 00 ff 02 55 55 -> 6a 84
            00 d6 01 00 01 55 -> 6b 00; 00 d6 00 00 20 66*32 -> 90 00; work -> 2; 00 d6 00 00 21 66*33 -> 90 00
            work -> 4; 00 d6 00 00 ff 66*255 -> 90 00; work -> 16; 00 b0 00 00 00 -> 66*255 55 90 00
            90 8d 00 00 28 02 00 00 00 21 00 00 77*33 00 -> 91 00; work -> 4; 90 60 00 00 00 -> ?; work -> no write
            == ISO commands are refused where data have to be enciphered, with a key and with long lengths
            00 b0 84 00 00 00 10 -> 67 00; 00 b0 85 00 01 -> 69 82; 00 b0 84 00 01 -> 00 90 00; auth 71 2 -> 00
            00 b0 85 00 01 -> 69 82; 00 d6 85 00 01 55 -> 69 82; auth 71 3 -> 00; 00 d6 85 00 01 55 -> 69 82
            00 b0 84 00 01 -> 69 82; 00 d6 84 00 01 55 -> 69 82; changed -> no
            """
        ) { _ in try await make().0 }
    }

    @Test func `NTAG 424 commands without a key: free data are answered in frames, all else has its status`()
        async throws
    {
        try await play(
            """
            == GET VERSION and file settings
            power; 90 60 00 00 00 -> 04 04 02 30 00 11 05 91 af; 90 af 00 00 00 -> 04 04 02 01 02 11 05 91 af
            90 af 00 00 00 -> 04 de 5f 1e ac c0 40 cf 39 d4 49 80 34 20 91 00; pp f5 02 -> 9d; pp 71 00 00 -> 9d
            pp 64 00 -> 9d; SELECT -> 90 00; pp f5 02 -> 00 00 00 e0 ee 00 01 00; pp f5 03 -> 00 00 03 30 23 80 00 00
            pp 64 00 -> 00 00; auth 77 0 -> 9d
            == READ and WRITE DATA
            pp 8d 02 00 00 00 02 00 00 12 34 -> 00; pp ad 02 00 00 00 02 00 00 -> 00 12 34
            pp ad 03 00 00 00 02 00 00 -> ae; pp ad 02 ff 00 00 02 00 00 -> be; pp 51 -> ae; pp 11 -> 1c
            80 60 00 00 00 -> 6e 00
            == Keys that the reader does not know: a challenge, then AE
            90 71 00 00 02 00 00 00 -> #18; 90 af 00 00 20 00*32 00 -> 91 ae; 90 71 00 00 02 07 00 00 -> 91 40
            == An answer in frames goes on with an empty command alone, and ends with an ISO command
            90 60 00 00 00 -> .. 91 af; 90 af 00 00 01 01 00 -> 91 7e; 90 af 00 00 00 -> 91 1c
            90 60 00 00 00 -> .. 91 af; 00 b0 84 00 01 -> 00 90 00; 90 af 00 00 00 -> 91 1c
            90 60 00 00 00 -> .. 91 af; 90 64 00 00 01 00 00 -> 91 ca; 90 af 00 00 00 -> 91 1c
            90 64 00 00 01 01 00 -> 01 91 00; 90 60 01 00 00 -> 6a 86; 90 60 00 01 00 -> 6a 86
            == READ SIGNATURE has a status of its own
            pp 3c -> 0c; pp 3c 01 -> 0c; pp 3c 00 00 -> 0c; pp 3c 00 -> 90 00*56
            ** A wrong length, number or right has its status
            pp 60 01 -> 7e; changed -> no
            pp 64 05 -> 40; changed -> no
            pp 64 -> 7e; changed -> no
            pp f5 -> 7e; changed -> no
            pp f6 02 09 -> 7e; changed -> no
            pp ad 02 00 00 00 01 00 00 09 -> 7e; changed -> no
            pp 8d 02 00 00 00 00 00 00 -> 7e; changed -> no
            pp 8d 02 ff 00 00 02 00 00 01 02 -> be; changed -> no
            pp 5f 02 00 e0 ee -> ae; changed -> no
            """
        ) { _ in try await make().0 }
        let long = try await make { $0.files[1].data = [UInt8](repeating: 0x33, count: 300) }.0
        try await play(
            """
            == Offset and length in a file of 300 bytes
            pp ad 02 00 00 00 00 01 00 -> 00 33*256; pp ad 02 00 00 00 01 01 00 -> be
            pp ad 02 2c 00 00 00 01 00 -> 00 33*256; pp ad 02 2d 00 00 00 01 00 -> be
            pp ad 02 2b 01 00 00 00 00 -> 00 33; pp ad 02 2c 01 00 00 00 00 -> be
            """
        ) { _ in long }
        // The rights of a file, and the statuses of reading and writing it without a key.
        for (rights, read, write) in [
            (0xFFF0, "9d", "9d"), (0xF2F0, "9d", "ae"), (0x2FF0, "ae", "9d"), (0xFF20, "ae", "ae"),
        ] {
            let (stage, _) = try await make { $0.files[2].accessRights = FileAccessRights(rawValue: UInt16(rights)) }
            let step = "pp ad 03 00 00 00 01 00 00 -> \(read); pp 8d 03 00 00 00 01 00 00 07 -> \(write)"
            try await stage.check(step, "\(rights)")
        }
    }

    // MARK: Keys

    @Test
    func `NTAG 424 session: enciphered data and changed keys; another authentication, selection or power loss ends it`()
        async throws
    {
        try await play(
            """
            == Enciphered and coded data, the UID, versions and the signature
            auth 71 3 -> 00; em 8d 03 04 00 00 21 00 00 / a5*33 -> 00; me 51 -> 00 04 de 5f 1e ac c0 40
            mm 64 04 -> 00 04; mm 60 -> #29; me 3c 00 -> 90 00*56; auth 77 2 -> 00
            me ad 03 04 00 00 21 00 00 -> 00 a5*33; em 8d 03 04 00 00 21 00 00 / a5*33 -> ae
            90 ad 00 00 07 03 04 00 00 21 00 00 00 -> 91 ae
            == Keys are changed by key 0 alone, with the old key
            auth 71 1 -> 00; change 1 new own -> ae; auth 71 0 -> 00; change 4 new -> 00; change 0 new own -> 00
            auth 71 4 new -> 00; auth 71 0 -> ae; auth 71 0 new -> 00; change 4 new -> 1e; auth 71 4 new -> 00
            auth 71 0 new -> 00; change 5 new -> 40
            == Wrong lengths with a key, and settings of another file
            auth 71 0 -> 00; me 51 01 -> 7e; auth 71 0 -> 00; em 5f 03 / 03 30 24 -> 00; settings 2 -> 03 30 24
            == An authentication that is begun ends the one before it
            auth 71 3 -> 00; 90 71 00 00 02 00 00 00 -> #18; 90 ad 00 00 07 03 00 00 00 01 00 00 00 -> 91 ca
            90 ad 00 00 07 03 00 00 00 01 00 00 00 -> 91 ae
            == No transaction goes on after the application is selected again, or the power was off
            auth 71 3 -> 00; SELECT -> 90 00; 90 77 00 00 01 00 00 -> 91 9d; auth 71 3 -> 00; power; SELECT -> 90 00
            90 77 00 00 01 00 00 -> 91 9d; 90 ad 00 00 07 03 00 00 00 01 00 00 00 -> 91 ae
            == SET CONFIGURATION is for key 0, and knows only LRP: it ends the session and dynamic messages, and AES is refused
            90 5c 00 00 01 00 00 -> 91 ae; auth 71 1 -> 00; mm 5c 00 -> ae; auth 71 0 -> 00; mm 5c 00 -> 9e
            auth 71 0 -> 00; ep 5c 05 / 00 00 00 00 00 00 00 00 00 00 -> 9e; auth 71 0 -> 00; ep 5f 02 / SDM -> 00
            90 71 00 00 03 00 01 02 00 -> #18; 90 af 00 00 20 00*32 00 -> 91 ae
            auth 71 0 -> 00; ep 5c 05 / 00 00 00 00 02 00 00 00 00 00 -> 00; settings 1 -> 00 00 e0
            auth 71 0 -> 9d; 90 71 00 00 03 00 01 00 00 -> 91 9d; 90 77 00 00 01 00 00 -> 91 9d
            90 71 00 00 03 00 01 02 00 -> #19; 90 af 00 00 20 00*32 00 -> 91 ae
            """
        ) { _ in try await make().0 }
        // A power cut leaves the old settings, data and keys, or the new ones.
        for (rest, settings, byte, proved) in [("old", "00 ee ee", "00", "4"), ("new", "03 ee ee", "55", "new")] {
            let (stage, _) = try await make { $0.files[1].accessRights = 0xEEEE }
            let step = """
                tear \(rest); 90 5f 00 00 04 02 03 ee ee 00 -> ?; work -> 2; settings 1 -> \(settings); 00 d6 84 00 01 55 -> ?; \
                byte 1 -> \(byte); tear none; auth 71 0 -> 00; tear \(rest); change 4 new -> 00; tear none; auth 71 4 \(proved) -> 00
                """
            try await stage.check(step, "\(rest)")
        }
    }

    // MARK: Dynamic messages

    /// A file with text in a place.
    private func file(_ texts: [(Int, String)] = []) -> [UInt8] {
        var file = [UInt8](repeating: 0x30, count: 256)
        for (offset, text) in texts { file.replaceSubrange(offset..<(offset + text.utf8.count), with: text.utf8) }
        return file
    }

    private func text(_ file: [UInt8], _ range: Range<Int>) -> String? {
        String(validating: file[range], as: UTF8.self)
    }

    private let zeroKeys = Array(repeating: DESFireKey.zero(.aes), count: 5)

    @Test func `Secure dynamic messaging: mirrors the bytes of AN12196, 3.4, and the parts that its options name`()
        throws
    {
        let messaging = SecureDynamicMessaging(piccDataOffset: 20, macOffset: 60)
        let padding = hex("da 5c f6 09 41")
        let mirrored = try messaging.mirrored(file(), uid: uid, counter: 0x3D, keys: zeroKeys, padding: padding)
        #expect(text(mirrored, 20..<52) == "EF963FF7828658A599F3041510671E88")
        #expect(text(mirrored, 60..<76) == "94EED9EE65337086")
        #expect(mirrored[..<20] == file()[..<20])
        var partly = SecureDynamicMessaging(piccDataOffset: 20, macOffset: 102, macInputOffset: 64)
        partly.options |= 0x10
        partly.encryptedPart = .init(offset: 64, length: 32)
        let enciphered = try partly.mirrored(
            file([(64, "xxxxxxxxxxxxxxxx"), (96, "&cmac=")]),
            uid: hex("04 95 8c aa 5c 5e 80"),
            counter: 8,
            keys: zeroKeys,
            padding: [0, 0, 0, 0, 0]
        )
        #expect(text(enciphered, 64..<102) == "CEE9A53E3E463EF1F459635736738962&cmac=")
        #expect(text(enciphered, 102..<118) == "ECC1E7F6C6C73BF6")
        // SDMOptions, and the enciphered identity with them: its tag, the UID and the counter.
        let cipher = try BlockCipher.aes([UInt8](repeating: 0, count: 16))
        let filling = Array(UInt8(1)...15)
        let identities: [(UInt8, String)] = [
            (0xC1, "c7 04 de 5f 1e ac c0 40 3d 00 00"), (0x81, "87 04 de 5f 1e ac c0 40"), (0x41, "40 3d 00 00"),
        ]
        for (options, identity) in identities {
            var messaging = messaging
            messaging.options = options
            let file = try messaging.mirrored(file(), uid: uid, counter: 0x3D, keys: zeroKeys, padding: filling)
            let plain = try cipher.decrypt(hex(try #require(text(file, 20..<52))))
            #expect(hexText(plain) == hexText((hex(identity) + filling).prefix(16)))
        }
        // In LRP mode: a message of a real tag, from nfc-ev2-crypto (test_lrp_sdm.py).
        var long = SecureDynamicMessaging(piccDataOffset: 14, macOffset: 96, macInputOffset: 0)
        long.encryptedPart = .init(offset: 63, length: 32)
        let zeros = String(repeating: "0", count: 48)
        let written = "any.domain/?m=\(zeros)x0102030400000000\(zeros.prefix(16))x\(zeros.prefix(16))"
        let read = try long.mirrored(
            Array(written.utf8),
            uid: hex("04 2e 1d 22 2a 63 80"),
            counter: 0x7B,
            keys: zeroKeys,
            padding: hex("2993571635 65628ed36888cf9c"),
            usesLRP: true
        )
        #expect(text(read, 14..<62) == "65628ED36888CF9C84797E43ECACF114C6ED9A5E101EB592")
        #expect(text(read, 62..<112) == "x4ADE304B5AB9474CB40AFFCAB0607A85x87E287E8135BFC06")
        // What has no key or no room is not mirrored, and what ends in the file is.
        let foreign = SecureDynamicMessaging(piccDataOffset: 20, macOffset: 60, metaReadKey: 2, fileReadKey: 2)
        let two = Array(zeroKeys.prefix(2))
        #expect(try foreign.mirrored(file(), uid: uid, counter: 1, keys: two, padding: padding) == file())
        let outside = SecureDynamicMessaging(piccDataOffset: 240, macOffset: 250)
        #expect(try outside.mirrored(file(), uid: uid, counter: 1, keys: zeroKeys, padding: padding) == file())
    }

    /// Reads the link as a phone does: the length, then the rest in two parts.
    private func link(_ stage: Stage) async throws -> String {
        try await stage.check("forget; SELECT -> 90 00; 00 a4 00 0c 02 e1 04 -> 90 00")
        let length = hex(try await stage.send("00 b0 00 00 02"))[1]
        let first = hex(try await stage.send("00 b0 00 02 \(hexText([length / 2]))")).dropLast(2)
        let second = hex(try await stage.send("00 b0 00 \(hexText([2 + length / 2, length - length / 2]))")).dropLast(2)
        // D1 01 len 55 04: one URI that begins with https://.
        return try #require(String(validating: (first + second).dropFirst(5), as: UTF8.self))
    }

    @Test func `NTAG 424 link: UID, counter and CMAC change at every read, and are right under the card's keys`()
        async throws
    {
        let (stage, _) = try await make { $0.setLink("https://example.com/t?e={picc}&c={cmac}") }
        var seen: Set<String> = []
        for count in UInt8(1)...4 {
            let link = try await link(stage)
            #expect(link.hasPrefix("example.com/t?e=") && seen.insert(link).inserted)
            let parts = link.dropFirst(16).split(separator: "&c=")
            let plain = try BlockCipher.aes(key(2).bytes).decrypt(hex(String(parts[0])))
            #expect(Array(plain[..<11]) == [0xC7] + uid + [count, 0, 0])
            let session = try BlockCipher.aes(key(1).bytes).cmac(hex("3c c3 00 01 00 80") + plain[1..<11])
            let code = try BlockCipher.aes(session).cmac([])
            #expect(hex(String(parts[1])) == (0..<8).map { code[2 * $0 + 1] })
        }
        try await stage.check("count -> 4")
        let (shown, _) = try await make {
            $0 = NTAG424Contents(uid: hex("04 1e 3c 8a 2d 6b 80"))
            $0.setLink("https://example.com/t?uid={uid}&ctr={counter}&cmac={cmac}")
            $0.readCounter = 5
        }
        #expect(try await link(shown) == "example.com/t?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3")
    }

    @Test func `NTAG 424 link template: each placeholder sets its access key; an invalid link changes nothing`()
        async throws
    {
        let rights: [(String, String)] = [
            ("{cmac}", "f1"), ("{picc}", "2f"), ("{uid}", "ef"), ("{counter}", "ef"), ("{uid}{cmac}", "e1"),
            ("{picc}{cmac}", "21"), ("{picc}{enc:32}{cmac}", "21"), ("{uid}{ctr}{enc:16}{cmac}", "e1"),
        ]
        for (places, keys) in rights {
            var contents = NTAG424Contents(uid: uid)
            contents.readCounter = 7
            let isSet = contents.setLink("https://example.com/" + places)
            #expect(isSet && contents.readCounter == 0)
            let messaging = try #require(contents.files[1].dynamicMessaging)
            #expect(SecureDynamicMessaging(messaging.bytes) == messaging && hexText(messaging.bytes[2..<3]) == keys)
            let (stage, _) = try await make { $0.files[1].accessRights = 0xEEEE }
            try await stage.check("pp 5f 02 40 ee ee \(hexText(messaging.bytes)) -> 00", "\(places)")
        }
        // A link that does not fit or has other names is refused.
        var contents = NTAG424Contents()
        let before = contents
        for link in [
            "https://e.com/{uid}{uid}", "https://e.com/{what}", "https://e.com/{uid", "https://e.com/{picc}{uid}",
            "https://e.com/", "https://e.com/{picc}" + String(repeating: "x", count: 240), "https://e.com/{enc}{cmac}",
            "https://e.com/{picc}{cmac}{enc:16}", "https://e.com/{picc}{enc:16}", "https://e.com/{uid}{enc:16}{cmac}",
            "https://e.com/{picc}{enc:15}{cmac}", "https://e.com/{picc}{enc:16}{enc:16}{cmac}",
        ] {
            let isSet = contents.setLink(link)
            #expect(!isSet && contents == before, "\(link)")
        }
    }

    @Test func `NTAG 424 set-up: a reader writes the link and its settings as in AN12196, 5.8 and 5.9`() async throws {
        let (stage, _) = try await make { $0.files[1].accessRights = 0xEEE0 }
        let ndef = hex("00 51 d1 01 4d 55 04") + Array("choose.url.com/ntag424?e=".utf8)
        let whole = ndef + Array(String(repeating: "0", count: 32).utf8) + Array("&c=".utf8)
        try await play(
            """
            == WRITE DATA, CHANGE FILE SETTINGS; the counter is for key 1
            auth 71 0 -> 00; pp 8d 02 00 00 00 \(hexText([UInt8(whole.count)])) 00 00 / \(hexText(whole)) -> 00
            ep 5f 02 / SDM -> 00; mm f5 02 -> 00 00 40 00 e0 00 01 00 c1 f1 21 20 00 00 43 00 00 43 00 00
            me f6 02 -> ae
            """
        ) { _ in stage }
        let link = try await link(stage)
        #expect(link.hasPrefix("choose.url.com/ntag424?e=") && !link.contains(String(repeating: "0", count: 32)))
        try await stage.check("auth 71 1 -> 00; me f6 02 -> 00 01 00 00 00 00")
    }

    @Test func `NTAG 424 file settings: valid ones are stored, others are refused without a change`() async throws {
        let taken = """
            00 04 e0 | 40 00 e0 01 ff f1 43 00 00 43 00 00 | 40 00 e0 41 f1 2f 20 00 00 | 40 00 e0 81 ff 2f 20 00 00
            40 00 e0 e1 ff 2f 20 00 00 01 00 00 | 40 00 e0 01 ff ff | 40 00 e0 c1 f1 ef 20 00 00 ff ff ff
            """
        // Cut, behind the file, and reserved bits; keys that the tag lacks; places that overlap or are in the wrong order; a
        // byte too many; an identity, UID or counter without its place or key; a limit without a counter, or reached.
        let refused = """
            40 00 e0 c1 f1 21 20 00 00 43 00 00 | 40 00 e0 c1 f1 21 20 00 00 43 00 00 f8 00 00 | 04 00 e0 | 00 00 e0 00
            40 00 e0 c1 f1 21 20 00 00 43 00 00 30 00 00 | 40 00 e0 c0 f1 21 20 00 00 43 00 00 43 00 00 | 00 00
            40 00 e0 c1 f5 21 20 00 00 43 00 00 43 00 00 | 40 00 e0 c1 e1 21 20 00 00 43 00 00 43 00 00
            40 00 e0 c1 f1 51 43 00 00 43 00 00 | 40 00 e0 c1 f1 25 20 00 00 | 40 00 e0 c1 f1 2e 20 00 00
            40 00 e0 c1 f1 21 20 00 00 20 00 00 30 00 00 | 40 00 e0 c1 f1 21 20 00 00 44 00 00 43 00 00 | 00 05 e0
            00 00 d0 | 40 05 e0 c1 f1 21 20 00 00 43 00 00 43 00 00 | 40 00 e0 c1 f1 21 20 00 00 43 00 00 43 00 00 00
            40 00 e0 01 ff 2f 20 00 00 | 40 00 e0 81 ff f1 43 00 00 43 00 00 | 40 00 e0 81 f1 2f 20 00 00
            40 00 e0 d1 ff 2f 20 00 00 | 40 00 e0 a1 ff 2f 20 00 00 05 00 00 | 40 00 e0 e1 ff 2f 20 00 00 00 00 00
            """
        for (rows, status) in [(taken, "00"), (refused, "9e")] {
            for row in rows.split(whereSeparator: { "|\n".contains($0) }).map({ $0.trimmingSpaces() }) {
                let end = status == "00" && !row.contains("ef 20") ? "settings 1 -> \(row)" : "work -> ?"
                let unchanged = status == "9e" ? "; changed -> no" : ""
                let step = "auth 71 0 -> 00; ep 5f 02 / \(row) -> \(status); \(end)\(unchanged)"
                try await make().0.check(step, "\(row)")
            }
        }
        // The encrypted part has its place in the file: the code begins at 100, and covers the file from 40 on.
        let parts: [(UInt8, Int, Int, Bool)] = [
            (0xD1, 40, 32, true), (0xD1, 68, 32, true), (0xD1, 69, 32, false), (0xD1, 40, 60, false),
            (0xD1, 40, 48, false),
            (0xD1, 39, 32, false), (0x91, 40, 32, false),
        ]
        for (options, offset, length, fits) in parts {
            var messaging = SecureDynamicMessaging(piccDataOffset: 0, macOffset: 100, macInputOffset: 40)
            messaging.options = options
            messaging.encryptedPart = .init(offset: offset, length: length)
            let (stage, box) = try await make { $0.files[1].accessRights = 0xEEEE }
            let step = "pp 5f 02 40 ee ee \(hexText(messaging.bytes)) -> \(fits ? "00" : "9e")"
            try await stage.check(step, "\(options) \(offset) \(length)")
            #expect(card(box).files[1].dynamicMessaging == (fits ? messaging : nil))
        }
        let other = "auth 71 0 -> 00; ep 5f 03 / 40 30 23 c1 f1 21 20 00 00 43 00 00 43 00 00 -> 9d"
        try await make().0.check(other, "Dynamic messages are for the NDEF file.")
        try await make { $0.files[1].accessRights = 0xEEEF }.0.check("pp 5f 02 00 ee ee -> 9d")
    }

    @Test func `NTAG 424 counter: counts reads from offset 0 up to its limit, and is read only with its key`()
        async throws
    {
        let link = "https://example.com/{uid}{counter}"
        let (stage, _) = try await make {
            $0.setLink(link)
            $0.files[1].dynamicMessaging?.counterKey = 0x0E
        }
        try await play(
            """
            == Only a reading from the start is counted, once
            pp f6 02 -> 00 00*5; 00 b0 84 00 10 -> ?; 00 b0 84 10 10 -> ?; 00 b0 84 00 10 -> ?; pp f6 02 -> 00 01 00*4
            00 b0 84 00 10 -> ?; pp ad 02 00 00 00 08 00 00 -> ?; pp ad 02 08 00 00 08 00 00 -> ?; 00 b0 84 00 10 -> ?
            pp f6 02 -> 00 04 00*4; pp f6 03 -> 9d
            """
        ) { _ in stage }
        for (key, status) in [(UInt8(0x0F), "9d"), (0x01, "ae")] {
            let (stage, _) = try await make {
                $0.setLink(link)
                $0.files[1].dynamicMessaging?.counterKey = key
            }
            try await stage.check("pp f6 02 -> \(status)")
        }
        let (limited, _) = try await make {
            $0.setLink(link)
            $0.files[1].dynamicMessaging?.options |= 0x20
            $0.files[1].dynamicMessaging?.counterLimit = 1
        }
        let read = "pp ad 02 00 00 00 10 00 00"
        let limit = """
            \(read) -> #17; \(read) -> #17; pp 60 -> ?; \(read) -> 9d; 00 b0 84 00 10 -> 69 82; auth 71 0 -> 00; \(read) -> #17
            """
        try await limited.check(limit, "At the limit only who has a key reads.")
        let (last, _) = try await make {
            $0.setLink(link)
            $0.readCounter = 0xFF_FFFE
        }
        try await last.check("\(read) -> #17; pp 60 -> ?; \(read) -> 1e; 00 b0 84 00 10 -> 69 82")
        let (coded, _) = try await make {
            $0.setLink("https://example.com/{uid}{cmac}")
            $0.files[1].accessRights = 0xFFF0
        }
        let own = "pp ad 02 00 00 00 01 00 00 -> #2; auth 71 3 -> 00; pp ad 02 00 00 00 01 00 00 -> ae"
        try await coded.check(own, "A file that is read with its code alone needs that key.")
    }

    @Test func `NTAG 424 new tag: activated as the product, with a file of 256 bytes`() {
        var contents = NTAG424Contents(uid: uid)
        #expect(contents.readCounter == 0)
        let isSet = contents.setLink("https://example.com/{uid}{counter}")
        #expect(isSet && contents.ndefFile.count == 256)
        #expect(contents.files[1].dynamicMessaging?.counterKey == 0x0F)
        #expect(VirtualType4Tag(contents).frontEnd == .nfcA(uid: uid, ats: hex("06 77 77 71 02 80")))
    }
}
