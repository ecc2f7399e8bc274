// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Flipper files of cards` {
    private func card(_ name: String) throws -> any Card {
        try #require(try Files.image(name).makeTag() as? VirtualType4Tag).card
    }

    // MARK: Type 4 Tag

    @Test func `A Type 4 tag has the message of all lines`() throws {
        let image = try Files.image("type4-tag.nfc")
        guard case .type4(let contents) = image.contents, case .ndef(let files) = contents.kind else {
            Issue.record("no Type 4 tag")
            return
        }
        #expect(files[0xE103] == hex("00 0f 20 00 f6 00 f6 04 06 e1 04 08 00 00 00"))
        let file = try #require(files[0xE104])
        #expect(file.count == 2048)
        #expect(Array(file.prefix(32)) == hex("00 1e d1 01 1a 55 04") + Array("example.com/a/longer/link".utf8))
        #expect(image.remarks.map(\.kind) == [.missing])
    }

    @Test(arguments: [0, 1, 16, 17, 30, 31, 100]) func `A message of another length has as many lines as it needs`(
        _ count: Int
    ) throws {
        var image = try Files.image("type4-tag.nfc")
        guard case .type4(var contents) = image.contents, case .ndef(var files) = contents.kind else { return }
        var file = try #require(files[0xE104])
        // The rest of the old message stays after the new one, as on a real tag.
        let message = Array(repeating: UInt8(0xAB), count: count)
        file.replaceSubrange(0..<(2 + count), with: [0, UInt8(count)] + message)
        files[0xE104] = file
        contents.kind = .ndef(files: files)
        image.contents = .type4(contents)
        let text = String(decoding: try image.encoded(), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("NDEF Data:") }
        #expect(lines.count == (count + 15) / 16)
        #expect(text.contains("\nNDEF Data Size: \(count)\n"))
        #expect(text.hasPrefix("Filetype: Flipper NFC device\nVersion: 4\n# A message in lines of 16 bytes\n"))
        let again = try TagImage(parsing: Array(text.utf8))
        guard case .type4(let read) = again.contents, case .ndef(let readFiles) = read.kind else { return }
        #expect(readFiles[0xE104].map { Array($0.prefix(2 + count)) } == [0, UInt8(count)] + message)
    }

    @Test func `A Type 4 tag that a Flipper does not emulate has no place in a Flipper file`() throws {
        let front = Type4FrontEnd.nfcA(uid: hex("04 11 22 33 44 55 66"), ats: hex("05 78 80 70 02"))
        let small = Type4Contents(frontEnd: front, kind: .ndef(files: NDEFApplication(size: 50).files))
        #expect(!TagImage.Format.flipper.canHold(.type4(small)))
        let files = NDEFApplication(size: 2048, maximumRead: 246, maximumWrite: 246).files
        #expect(TagImage.Format.flipper.canHold(.type4(Type4Contents(frontEnd: front, kind: .ndef(files: files)))))
    }

    @Test(arguments: [
        ("NDEF Data Size: 30", "NDEF Data Size: 31", "inconsistent"),
        ("NDEF Data Size: 30", "NDEF Data Size: 29", "inconsistent"),
        ("NDEF Data Size: 30", "NDEF Data Size: 32766", "malformed"), ("NDEF Data Size: 30\n", "", "missing-field"),
        ("NDEF Data: D1", "NDEF Data: D", "malformed"), ("SAK: 20", "SAK: 20\nSAK: 20", "malformed"),
    ])
    func `Faults of a Type 4 tag are reported`(original: String, fault: String, code: String) throws {
        #expect(try Files.failure("type4-tag.nfc", original, fault)?.code.description == code)
    }

    // MARK: Version

    @Test(arguments: ["ntag424-version.nfc", "mifare-plus.nfc"])
    func `A card of which the version is known answers it, and nothing else`(_ name: String) throws {
        var card = try card(name)
        guard case .type4(let contents) = try Files.image(name).contents, case .version(let version) = contents.kind
        else {
            return
        }
        let parts = [Array(version.version[0..<7]), Array(version.version[7..<14]), Array(version.version[14..<28])]
        #expect(card.process([0x60], tear: nil).bytes == [0xAF] + parts[0])
        #expect(card.process([0xAF], tear: nil).bytes == [0xAF] + parts[1])
        #expect(card.process([0xAF], tear: nil).bytes == [0x00] + parts[2])
        #expect(card.process([0xAF], tear: nil).bytes == [0x1C])
        #expect(card.process(hex("90 60 00 00 00"), tear: nil).bytes == parts[0] + [0x91, 0xAF])
        #expect(card.process(hex("90 af 00 00 00"), tear: nil).bytes == parts[1] + [0x91, 0xAF])
        // Another command in between ends it.
        #expect(card.process(hex("90 6a 00 00 00"), tear: nil).bytes == hex("91 1c"))
        #expect(card.process(hex("90 af 00 00 00"), tear: nil).bytes == hex("91 1c"))
        #expect(card.process(hex("00 a4 04 00 07 d2 76 00 00 85 01 01 00"), tear: nil).bytes == hex("6a 82"))
        #expect(card.process([0x60, 0x00], tear: nil).bytes == [0x7E])
        #expect(card.process([], tear: nil).bytes == [0x7E])
    }

    @Test func `The chip is named by its version, and a long version has a byte more`() throws {
        func contents(_ change: (inout [UInt8]) -> Void) throws -> VersionCardContents {
            var version = hex("04 04 02 30 00 11 05 04 04 02 01 02 11 05 04 11 22 33 44 55 66 cf 39 d4 49 80 34 20 00")
            change(&version)
            return VersionCardContents(.ntag4xx, version: version)
        }
        #expect(try contents { _ in }.chip == "NTAG 424 DNA")
        #expect(try contents { $0[2] = 0x0A }.chip == "NTAG 424 DNA TagTamper")
        #expect(try contents { $0[3] = 0x10 }.chip == "NTAG 413 DNA")
        #expect(try contents { $0[3] = 0x77 }.chip == "NTAG 4xx")
        var card = VersionCard(
            try contents {
                $0[25] = 0x8F
                $0[26] |= 0x80
                $0[28] = 0x42
            }
        )
        _ = card.process([0x60], tear: nil)
        _ = card.process([0xAF], tear: nil)
        #expect(card.process([0xAF], tear: nil).bytes.suffix(2) == hex("20 42"))
        // Older cards don't know the command.
        var plus = VersionCard(VersionCardContents(.mifarePlus, version: Array(repeating: 0, count: 28)))
        #expect(plus.process([0x60], tear: nil).bytes == [0x1C])
    }

    @Test func `The version of a DESFire's master key is kept`() throws {
        let text = try Files.text("desfire.nfc")
        let changed = text.replacing("PICC Key 0 Version: 00", with: "PICC Key 0 Version: 42")
        #expect(changed != text)
        let image = try TagImage(parsing: Array(changed.utf8))
        guard case .type4(let contents) = image.contents, case .desfire(let card) = contents.kind else {
            Issue.record("It is no DESFire.")
            return
        }
        #expect(card.masterKey.version == 0x42)
        let again = try TagImage(parsing: TagImage(image.contents).encoded())
        #expect(again.contents == image.contents)
    }

    @Test func `The remarks say what such a file lacks`() throws {
        let remarks = try ["ntag424-version.nfc", "mifare-plus.nfc", "emv.nfc"].map { try Files.image($0).remarks }
        #expect(remarks.map { $0.map(\.kind) } == [[.missing], [.missing], [.missing]])
        #expect(remarks[0][0].text.contains("NTAG 424 DNA, and no files or blocks"))
        #expect(remarks[1][0].text.contains("Mifare Plus EV2"))
        #expect(remarks[2][0].text.contains("no track 2"))
        #expect(try Files.failure("mifare-plus.nfc", "39 D4 49 80 34 20", "39 D4 49 80 34")?.code == .malformed)
    }

    @Test(arguments: [
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ST25TB\nUID: D0 02 33 7B AA FB 4F 28\n",
            "no phone sees it, and there is no virtual tag of it. The file has the UID D0 02 33 7B AA FB 4F 28."
        ),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ST25TB\nUID: D0 02 33 7B AA FB 4F 28\n"
                + "ST25TB Type: 4K\n" + (0..<128).map { "Block \($0): 00 00 00 01\n" }.joined()
                + "System OTP Block: FF FF FF FF\n",
            "An ST25TB04K is found by commands of its own"
        ),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ST25TB\nUID: D0 02 33 7B AA FB 4F 28\n"
                + "ST25TB Type: 512AT\nBlock 0: 00 00 00 01\nBlock 1: 00 00 00 02\nSystem OTP Block: FF FF FF FF\n",
            "The file has the UID D0 02 33 7B AA FB 4F 28, 2 of 16 blocks, the system block."
        ),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ST25TB\n"
                + "Block 0: 00 00 00 01\nBlock 1: 00 00 00 02\n",
            "there is no virtual tag of it. The file has 2 blocks."
        ),
        (
            "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ST25TB\nBlock 0: 00 00 00 01\n",
            "there is no virtual tag of it. The file has 1 block."
        ),
        ("Filetype: Flipper Picopass device\nVersion: 1\nCredential: 00 00 00 00 00 00 00 00\n", "no phone sees it"),
        ("Filetype: Flipper EMV resources\nVersion: 1\n", "\"Flipper EMV resources\", which is not an image of a tag"),
    ])
    func `A file that no tag can be made of is refused with the reason`(text: String, reason: String) {
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: Array(text.utf8)) }
        #expect(error?.reason.contains(reason) == true)
    }

    // MARK: EMV

    @Test func `A payment card reports the application of its file`() throws {
        var card = try card("emv.nfc")
        func send(_ command: String) -> String { hexText(card.process(hex(command), tear: nil).bytes) }
        let directory = hexText(Array("2PAY.SYS.DDF01".utf8))
        let label = hexText(Array("TEST DEBIT".utf8))
        #expect(
            send("00 a4 04 00 0e \(directory) 00")
                == "6f 2f 84 0e \(directory) a5 1d bf 0c 1a 61 18 4f 07 a0 00 00 00 03 10 10 50 0a \(label) 87 01 01 90 00"
        )
        #expect(send("00 a4 04 00 07 a0 00 00 00 04 10 10 00") == "6a 82")
        let name = hexText(Array("Test Debit".utf8))
        #expect(
            send("00 a4 04 00 07 a0 00 00 00 03 10 10 00")
                == "6f 28 84 07 a0 00 00 00 03 10 10 a5 1d 50 0a \(label) 9f 11 01 01 9f 12 0a \(name) 90 00"
        )
        #expect(send("00 b2 01 0c 00") == "69 85")
        #expect(send("80 a8 00 00 02 83 00 00") == "77 0a 82 02 20 00 94 04 08 01 01 00 90 00")
        let holder = hexText(Array("CARDHOLDER/TEST".utf8))
        #expect(
            send("00 b2 01 0c 00")
                == "70 32 5a 08 41 11 11 11 11 11 11 11 5f 20 0f \(holder) 5f 24 03 30 12 31 5f 25 03 25 01 01 "
                + "5f 28 02 08 40 9f 42 02 09 78 90 00"
        )
        #expect(send("00 b2 02 0c 00") == "6a 83")
        #expect(send("00 b2 01 14 00") == "6a 83")
        #expect(send("80 ca 9f 17 00") == "9f 17 01 03 90 00")
        #expect(send("80 ca 9f 36 00") == "6a 88")
        #expect(send("80 ae 80 00 00") == "6d 00")
        card.losePower()
        #expect(send("80 a8 00 00 02 83 00 00") == "69 85")
    }

    @Test func `What a payment card keeps to itself is not made up`() throws {
        var contents = EMVContents(applicationIdentifier: hex("a0 00 00 00 03 10 10"), accountNumber: [])
        contents.label = "A \"label\" \\ of 1"
        let image = TagImage(
            .type4(Type4Contents(frontEnd: .nfcA(uid: hex("08 01 02 03"), ats: [1]), kind: .emv(contents)))
        )
        #expect(try TagImage(parsing: image.encoded()).contents == image.contents)
        var card = EMVCard(contents)
        func send(_ command: String) -> String { hexText(card.process(hex(command), tear: nil).bytes) }
        _ = send("00 a4 04 00 07 a0 00 00 00 03 10 10 00")
        _ = send("80 a8 00 00 02 83 00 00")
        #expect(send("00 b2 01 0c 00") == "70 02 5a 00 90 00")
        #expect(send("80 ca 9f 17 00") == "6a 88")
        var empty = EMVCard(EMVContents(applicationIdentifier: [], accountNumber: []))
        #expect(hexText(empty.process(hex("00 a4 04 00 07 a0 00 00 00 03 10 10 00"), tear: nil).bytes) == "6a 82")
    }

    @Test(arguments: ["PIN attempts left", "PIN counter"])
    func `A payment card of an earlier firmware has all but its profile`(counter: String) throws {
        let profile = "Application interchange profile: 20 00\n"
        let text = String(decoding: try Files.dump("emv.nfc"), as: UTF8.self).replacing(profile, with: "")
            .replacing("PIN try counter", with: counter)
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.remarks.map(\.kind) == [.missing, .missing])
        #expect(image.remarks[1].text.contains("no application interchange profile"))
        guard case .type4(let contents) = image.contents, case .emv(let card) = contents.kind else {
            Issue.record("This is no payment card.")
            return
        }
        #expect(card.interchangeProfile == [0, 0])
        #expect(card.pinTries == 3)
        #expect(card.country == 0x0840)
        #expect(try image.encoded() == Array(text.utf8))
        #expect(try TagImage(parsing: TagImage(image.contents).encoded()).contents == image.contents)
        // A file that ends before the profile was cut off.
        let cut = text.prefix(upTo: try #require(text.firstRange(of: "Country code")).lowerBound)
        #expect(throws: TagImageError(.missingField, "")) { try TagImage(parsing: Array(cut.utf8)) }
    }

    @Test func `Of two counters of PIN attempts, the attempts left count, and the other is left out`() throws {
        let text = try Files.text("emv.nfc")
            .replacing("PIN try counter: 3", with: "PIN counter: 3\nPIN attempts left: 2")
        let image = try TagImage(parsing: Array(text.utf8))
        guard case .type4(let contents) = image.contents, case .emv(let card) = contents.kind else {
            Issue.record("This is no payment card.")
            return
        }
        #expect(card.pinTries == 2)
        #expect(image.remarks.last?.text.contains("no place for PIN counter:") == true)
    }

    @Test(arguments: [
        ("AID length: 7", "AID length: 17", "malformed"), ("AID length: 7", "AID length: 8", "malformed"),
        ("AID length: 7\nAID: A0 00 00 00 03 10 10", "AID length: 2\nAID: A0 00", "malformed"),
        ("PAN length: 8", "PAN length: 9", "malformed"), ("Country code: 40 08", "Country code: 40", "malformed"),
        ("PIN try counter: 3", "PIN try counter: 256", "malformed"), ("Effective day: 01\n", "", "missing-field"),
        ("Test Debit", "A name that is longer than any that a payment card has ever had, by far", "malformed"),
    ])
    func `Faults of a payment card are reported`(original: String, fault: String, code: String) throws {
        #expect(try Files.failure("emv.nfc", original, fault)?.code.description == code)
    }

    @Test(arguments: [(27, false), (28, true), (29, true), (30, false)])
    func `An answer to GET VERSION has 28 bytes, or 29 with the fab's key`(count: Int, isTaken: Bool) throws {
        let version = "04 04 02 30 00 11 05 04 04 02 01 02 11 05 04 11 22 33 44 55 66 CF 39 D4 49 80 34 20 00"
        let other = hexText((hex(version) + [0x00]).prefix(count)).uppercased()
        let error = try Files.failure("ntag424-version.nfc", "PICC Version: \(version)", "PICC Version: \(other)")
        #expect(error?.code == (isTaken ? nil : .malformed))
    }

    @Test(arguments: [0, 255] as [UInt8])
    func `The attempts that are left for a PIN are one byte in a JSON image`(tries: UInt8) throws {
        var contents = EMVContents(applicationIdentifier: hex("a0 00 00 00 03 10 10"), accountNumber: [])
        contents.pinTries = tries
        let front = Type4FrontEnd.nfcA(uid: hex("08 01 02 03"), ats: [1])
        let image = TagImage(.type4(Type4Contents(frontEnd: front, kind: .emv(contents))))
        let text = String(decoding: try image.encoded(), as: UTF8.self)
        #expect(try TagImage(parsing: Array(text.utf8)).contents == image.contents)
        let member = "\"pin_tries\": \(tries)"
        #expect(text.contains(member))
        for wrong in ["-1", "256"] {
            #expect(Files.failure(text.replacing(member, with: "\"pin_tries\": \(wrong)"))?.code == .malformed)
        }
    }
}
