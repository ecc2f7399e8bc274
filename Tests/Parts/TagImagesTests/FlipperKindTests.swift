// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Flipper files of other tags` {
    @Test func `A DESFire has its applications, files and settings`() throws {
        guard case .type4(let type4) = try Files.image("desfire.nfc").contents, case .desfire(let card) = type4.kind
        else {
            Issue.record("no DESFire")
            return
        }
        #expect(type4.frontEnd == .nfcA(uid: card.uid, ats: hex("06 75 77 81 02 80")))
        #expect(card.keySettings == 0x0F)
        #expect(card.applications.map(\.identifier) == [0x123456, 0x000001])
        let files = card.applications[0].files
        #expect(card.applications[0].keyVersions.count == 14)
        #expect(files.map(\.number) == [1, 2, 3, 4])
        #expect(files[0].data == hex("13 37") + Array(repeating: 0, count: 14))
        #expect(files[1].kind == .value(lower: -10, upper: 1000, current: -5, limitedCredit: false))
        #expect(files[2].kind == .cyclicRecords(size: 4, maximum: 3, records: Array(1...8)))
        #expect(files[2].accessRights == 0xEEE0)
        // What could not be read is zero.
        #expect(files[3].data == Array(repeating: 0, count: 32))
        #expect(files[3].communication == .enciphered)
        // The names of the NDEF mapping, which the file has not.
        #expect(card.applications[1].isoIdentifier == 0xE110)
        #expect(card.applications[1].files.map(\.isoIdentifier) == [0xE103, 0xE104])
    }

    @Test func `A change of a DESFire is written in its line`() throws {
        var image = try Files.image("desfire.nfc")
        guard case .type4(var type4) = image.contents, case .desfire(var card) = type4.kind else { return }
        card.applications[0].files[1].kind = .value(lower: -10, upper: 1000, current: 7, limitedCredit: false)
        type4.kind = .desfire(card)
        image.contents = .type4(type4)
        let before = try Files.dump("desfire.nfc").split(separator: 0x0A)
        let after = try image.encoded().split(separator: 0x0A)
        #expect(
            zip(before, after).filter { $0 != $1 }.map { String(decoding: $1, as: UTF8.self) } == [
                "Application 563412 File 2: 07 00 00 00"
            ]
        )
        // Another file has its lines after those of the previous one.
        card.applications[0].files.append(DESFireFile(number: 9, accessRights: 0xEEEE, kind: .standard([1])))
        type4.kind = .desfire(card)
        image.contents = .type4(type4)
        let text = String(decoding: try image.encoded(), as: UTF8.self)
        #expect(text.contains("Application 563412 File IDs: 01 02 03 04 09\n"))
        #expect(text.contains("Application 563412 File 4 Size: 32\nApplication 563412 File 9 Type: 00\n"))
        #expect(text.contains("Application 563412 File 9: 01\nApplication 010000 Change Key ID: 00\n"))
        // One file less has none.
        card.applications[0].files.remove(at: 1)
        type4.kind = .desfire(card)
        image.contents = .type4(type4)
        #expect(!String(decoding: try image.encoded(), as: UTF8.self).contains("File 2 Hi Limit"))
    }

    @Test func `A DESFire's value and records have their sizes and limits in the file, and are read again`() throws {
        let kinds: [DESFireFile.Kind] = [
            .value(lower: -10, upper: 1000, current: 7, limitedCredit: true),
            .linearRecords(size: 4, maximum: 3, records: Array(1...8)),
            .cyclicRecords(size: 2, maximum: 5, records: Array(1...6)),
        ]
        guard case .type4(var type4) = try Files.image("desfire.nfc").contents, case .desfire(var card) = type4.kind
        else {
            Issue.record("no DESFire")
            return
        }
        card.applications[0].files = kinds.enumerated().map {
            DESFireFile(number: UInt8($0.offset + 1), accessRights: 0xEEEE, kind: $0.element)
        }
        type4.kind = .desfire(card)
        let text = String(decoding: try TagImage(.type4(type4), format: .flipper).encoded(), as: UTF8.self)
        let file = "Application 563412 File"
        for lines in [
            "\(file) 1 Type: 02\n", "\(file) 1 Limited Credit Enabled: true\n\(file) 1: 07 00 00 00\n",
            "\(file) 2 Type: 03\n", "\(file) 2 Size: 4\n\(file) 2 Max: 3\n\(file) 2 Cur: 2\n\(file) 2: 01 02 03",
            "\(file) 3 Type: 04\n", "\(file) 3 Size: 2\n\(file) 3 Max: 5\n\(file) 3 Cur: 3\n\(file) 3: 01 02 03",
        ] { #expect(text.contains("\n" + lines), "\(lines)") }
        #expect(try TagImage(parsing: Array(text.utf8)).contents == .type4(type4))
    }

    @Test(arguments: [
        ("Application IDs: 56 34 12 01 00 00", "Application IDs: 56 34 12 01 00", "malformed"),
        ("Application Count: 2", "Application Count: 29", "malformed"),
        ("563412 File IDs: 01 02 03 04", "563412 File IDs: 01 01 03 04", "malformed"),
        ("563412 File IDs: 01 02 03 04", "563412 File IDs: 01 02 03 05", "missing-field"),
        ("563412 File 1 Size: 16", "563412 File 1 Size: 17", "malformed"),
        ("563412 File 3 Cur: 2", "563412 File 3 Cur: 4", "malformed"),
        ("563412 File 1 Type: 00", "563412 File 1 Type: 09", "unsupported"),
        ("PICC Key Changeable: true\n", "", "missing-field"),
    ])
    func `Faults of a DESFire are reported`(original: String, fault: String, code: String) throws {
        #expect(try Files.failure("desfire.nfc", original, fault)?.code.description == code)
    }

    @Test("A value has four bytes, or was not read", arguments: ["FB", "FB FF FF", "FB FF FF FF 00"])
    func values(data: String) throws {
        let line = "Application 563412 File 2: FB FF FF FF\n"
        let error = try #require(
            try Files.failure("desfire.nfc", line, "Application 563412 File 2: \(data)\n")
        )
        #expect(error.code == .malformed)
        let lines = try Files.text("desfire.nfc").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(error.line.map { "\(lines[$0 - 1])\n" } == line)
        #expect(try Files.failure("desfire.nfc", line, "") == nil)
    }

    @Test(
        "A record of a DESFire has 1 to 65535 bytes",
        arguments: [(0, false), (1, true), (65535, true), (65536, false)]
    )
    func recordSizes(size: Int, isTaken: Bool) throws {
        let file = "Application 563412 File 3"
        let old = "\(file) Size: 4\n\(file) Max: 3\n\(file) Cur: 2\n\(file): 01 02 03 04 05 06 07 08\n"
        let new = "\(file) Size: \(size)\n\(file) Max: 1\n\(file) Cur: 0\n"
        let error = try Files.failure("desfire.nfc", old, new)
        #expect(error?.code == (isTaken ? nil : .malformed))
        #expect(error?.reason == (isTaken ? nil : "\(file) Size is not a number from 1 to 65535."))
    }

    @Test("A system of a FeliCa that comes again after another one is refused with the line of the first")
    func repeatedSystems() throws {
        let text = try Files.text("felica-keys.nfc")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex { $0.hasPrefix("System 00:") })
        let error = try #require(Files.failure(text + "System 00: 0003\n"))
        #expect(error.code == .malformed && error.line == lines.count)
        #expect(error.reason == "System 00 is in line \(first + 1) already.")
    }

    @Test func `Bytes of a MIFARE Classic that are unknown stay so`() throws {
        guard case .classic(let card) = try Files.image("classic-unknown.nfc").contents else { return }
        #expect(card.uid == hex("9c 0c 37 01"))
        #expect(card.sak == 0x08)
        // Blocks 8 to 63, and key B of block 7.
        #expect(card.unknownBytes.count == 56 * 16 + 6)
        #expect(Array(card.memory[16..<32]) == Array("MIFARE APP DIR  ".utf8))
        #expect(!TagImage.Format.mfd.canHold(.classic(card)))
        let again = try TagImage(parsing: TagImage(.classic(card), format: .flipper).encoded())
        #expect(again.contents == .classic(card))
        #expect(try Files.failure("classic-unknown.nfc", "Block 9: ??", "Block 9: ?")?.code == .malformed)
        #expect(
            try Files.failure("classic-unknown.nfc", "Mifare Classic type: 1K", "Mifare Classic type: 4K")?.code
                == .missingField
        )
        #expect(
            try Files.failure("classic-unknown.nfc", "Mifare Classic type: 1K", "Mifare Classic type: 8K")?.code
                == .unsupported
        )
    }

    @Test func `A MIFARE Classic has the ATQA and the SAK of its file`() throws {
        let text = try Files.text("classic-unknown.nfc").replacing("ATQA: 00 04", with: "ATQA: 00 02")
            .replacing("SAK: 08", with: "SAK: 88")
        let contents = try TagImage(parsing: Array(text.utf8)).contents
        guard case .classic(let card) = contents else {
            Issue.record("no MIFARE Classic")
            return
        }
        #expect(card.atqa == 0x0002 && card.sak == 0x88)
        #expect(try TagImage(parsing: TagImage(contents, format: .flipper).encoded()).contents == contents)
    }

    @Test(arguments: [("9C 0C 37", 15), ("9C 0C 37 01 A6", 17)])
    func `A block of a MIFARE Classic has 16 bytes`(start: String, count: Int) throws {
        let error = try #require(
            try Files.failure("classic-unknown.nfc", "Block 0: 9C 0C 37 01", "Block 0: \(start)")
        )
        #expect(error.code == .malformed && error.line == 14)
        #expect(error.reason == "Block 0 has \(count) bytes instead of 16.")
    }

    @Test func `A FeliCa Standard answers what needs no key`() async throws {
        let image = try Files.image("felica-standard.nfc")
        guard case .type3(.standard(let card)) = image.contents else { return }
        #expect(card.systems.map(\.code) == [0x0003])
        #expect(card.systems[0].files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x008B], [0x090F]])
        #expect(card.systems[0].files.map(\.blockCount) == [0, 1, 2])
        let script = try LinkScript(.nfcF, image.makeTag())
        let idm = "01 2e 3d 12 34 56 78 9a"
        #expect(
            await script.send("10 06 \(idm) 01 8b 00 01 80 00")
                == "1d 07 \(idm) 00 00 01 00 00 00 00 00 00 00 00 20 00 00 d2 04 00 01 e3"
        )
        #expect(try Files.failure("felica-standard.nfc", "System found: 1", "System found: 2")?.code == .missingField)
        #expect(try Files.failure("felica-standard.nfc", "System found: 1", "System found: 17")?.code == .malformed)
        #expect(try Files.failure("felica-standard.nfc", "Services #000-#003", "Services #000")?.code == .malformed)
        #expect(try Files.failure("felica-standard.nfc", "Block index 01", "Block index 02")?.code == .malformed)
        #expect(
            try Files.failure("felica-standard.nfc", "Service 003: | Code", "Service 003: | Cod")?.code == .malformed
        )
        #expect(
            try Files.failure("felica-standard.nfc", "root\n", "Service 009: twice\nService 009: twice\n")?.code
                == .malformed
        )
    }

    @Test func `A SLIX2 has what guards its pages`() throws {
        var contents = Type5Contents(blank: .icodeSLIX2)
        contents.protection.pointer = 0x20
        contents.protection.condition = [.writeHigh]
        contents.protection.isConditionLocked = true
        contents.passwords[0x02] = 0x0403_0201
        let text = String(decoding: try TagImage(.type5(contents), format: .flipper).encoded(), as: UTF8.self)
        #expect(text.contains("Password Write: 01 02 03 04\n"))
        #expect(text.contains("Protection Pointer: 20\nProtection Condition: 20\n"))
        #expect(text.contains("Lock PPL: true\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == .type5(contents))
        // There is no line for it.
        contents.protection.isPersistentlyQuiet = true
        #expect(!TagImage.Format.flipper.canHold(.type5(contents)))
    }

    @Test func `Tags without memory are activated, and no more`() async throws {
        let card = try Files.image("iso14443-4a.nfc")
        guard case .type4(let contents) = card.contents else { return }
        #expect(
            contents.frontEnd == .nfcA(uid: hex("ba e2 7c 9d"), atqa: 0x0004, sak: 0x20, ats: hex("05 78 80 70 02"))
        )
        let old = try TagImage(
            parsing: Array(
                """
                Filetype: Flipper NFC device
                Version: 3
                Device type: ISO14443-4A
                UID: BA E2 7C 9D
                ATQA: 00 04
                SAK: 20
                ATS: 05 78 80 70 02
                """.utf8
            )
        )
        #expect(old.contents == card.contents)
        #expect(try Files.image("iso14443-3b.nfc").uid == hex("11 22 33 44"))
        let tag = try Files.image("iso14443-3a.nfc").makeTag()
        let script = try Script(tag)
        try await script.activate(tag.identifier, atqa: 0x0004, sak: 0x20)
        #expect(await script.send("30 00") == "timeout")
        #expect(try Files.failure("iso14443-4a.nfc", "TB(1): 70\n", "")?.code == .missingField)
    }

    @Test(
        arguments: [
            ("01", ""), ("02 08", "T0: 08\n"), ("03 08 80", "T0: 08\nT1...Tk: 80\n"),
            ("05 18 77 aa bb", "T0: 18\nTA(1): 77\nT1...Tk: AA BB\n"), ("03 28 80", "T0: 28\nTB(1): 80\n"),
            ("03 48 02", "T0: 48\nTC(1): 02\n"),
        ]
    )
    func `An ATS has a line for each of its parts, and none for those that it lacks`(ats: String, lines: String)
        throws
    {
        let front = Type4FrontEnd.nfcA(uid: hex("ba e2 7c 9d"), atqa: 0x0004, ats: hex(ats))
        let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .unspecified))
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        #expect(text.hasSuffix("\n# ISO14443-4A specific data\n\(lines)"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == contents)
    }

    @Test(arguments: [("00 81 71", "ISO14443-4B"), ("00 80 71", "ISO14443-3B"), ("00 7e 71", "ISO14443-3B")])
    func `An NFC-B card is one of part 4 when a bit of its protocol info says so`(info: String, type: String) throws {
        let front = Type4FrontEnd.nfcB(
            pupi: hex("11 22 33 44"),
            applicationData: hex("00 00 00 01"),
            protocolInfo: hex(info)
        )
        let contents = TagContents.type4(Type4Contents(frontEnd: front, kind: .unspecified))
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        #expect(text.contains("\nDevice type: \(type)\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == contents)
    }
}
