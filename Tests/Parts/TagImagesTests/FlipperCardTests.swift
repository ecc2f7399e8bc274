// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Flipper files of Type 4 tags, cards of a version and payment cards.
struct FlipperCardTests {
    @Test func `Flipper Type 4: the message of all lines is in the NDEF file`() throws {
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

    @Test(arguments: [0, 1, 16, 17, 30, 31, 100]) func `Flipper Type 4 message: as many lines as it needs`(
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

    @Test func `Flipper DESFire: the version of the master key is kept`() throws {
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

    @Test func `Flipper payment card: the card answers with the fields of the file`() async throws {
        let texts = [
            "DIRECTORY": "2PAY.SYS.DDF01", "LABEL": "TEST DEBIT", "NAME": "Test Debit", "HOLDER": "CARDHOLDER/TEST",
        ]
        var names = texts.mapValues { hexText($0.utf8) }
        names["AID"] = "a0 00 00 00 03 10 10"
        let card = CardBox(try #require(try Files.image("emv.nfc").makeTag() as? VirtualType4Tag).card)
        try await play(
            """
            == The directory, the application and the record
            00 a4 04 00 0e DIRECTORY 00 -> 6f 2f 84 0e DIRECTORY a5 1d bf 0c 1a 61 18 4f 07 AID 50 0a LABEL 87 01 01 90 00
            00 a4 04 00 07 a0 00 00 00 04 10 10 00 -> 6a 82
            00 a4 04 00 07 AID 00 -> 6f 28 84 07 AID a5 1d 50 0a LABEL 9f 11 01 01 9f 12 0a NAME 90 00
            80 a8 00 00 02 83 00 00 -> 77 0a 82 02 20 00 94 04 08 01 01 00 90 00
            00 b2 01 0c 00 -> 70 32 5a 08 41 11*7 5f 20 0f HOLDER 5f 24 03 30 12 31 5f 25 03 25 01 01 \
            5f 28 02 08 40 9f 42 02 09 78 90 00
            80 ca 9f 17 00 -> 9f 17 01 03 90 00
            """
        ) { _ in Stage(card, names: names) }
    }

    @Test(arguments: ["PIN attempts left", "PIN counter"])
    func `Flipper payment card of an earlier firmware: all but its profile is read`(counter: String) throws {
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
}

/// Flipper files of DESFire cards.
struct FlipperDESFireTests {
    private static let file = "Application 563412 File"

    private func card(_ text: String) throws -> DESFireContents {
        guard case .type4(let contents) = try TagImage(parsing: Array(text.utf8)).contents,
            case .desfire(let card) = contents.kind
        else { throw TagImageError(.unsupported, "") }
        return card
    }

    /// The card of the dump after a change.
    private func contents(_ change: (inout DESFireContents) -> Void) throws -> TagContents {
        guard case .type4(var contents) = try Files.image("desfire.nfc").contents,
            case .desfire(var card) = contents.kind
        else { throw TagImageError(.unsupported, "") }
        change(&card)
        contents.kind = .desfire(card)
        return .type4(contents)
    }

    private func text(_ contents: TagContents) throws -> String {
        String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
    }

    @Test
    func `Flipper DESFire key settings: a line for each bit`() throws {
        let contents = try contents {
            $0.keySettings = 0xA5
            $0.applications[0].keySettings = 0x5A
        }
        let text = try text(contents)
        for (name, id, flags) in [
            ("PICC", "0A", [false, true, false, true]), ("563412", "05", [true, false, true, false]),
        ] {
            let start = name == "PICC" ? name : "Application \(name)"
            let keys = ["Config Changeable", "Free Create Delete", "Free Directory List", "Key Changeable"]
            let lines = zip(keys, flags).map { "\(start) \($0): \($1)\n" }.joined()
            #expect(text.contains("\n\(start) Change Key ID: \(id)\n\(lines)"), "\(name)")
        }
        #expect(try TagImage(parsing: Array(text.utf8)).contents == contents)
    }

    @Test
    func `Flipper DESFire applications: 0 to 28, and only the lines that they need`() throws {
        let text = try Files.text("desfire.nfc")
        let counted = "Application Count: 2\nApplication IDs: 56 34 12 01 00 00\n"
        #expect(text.contains(counted))
        #expect(try card(text.replacing(counted, with: "")).applications.isEmpty)
        let none = try self.text(contents { $0.applications = [] })
        #expect(none.hasSuffix("\nApplication Count: 0\n"))
        let bare = try self.text(contents { $0.applications = [DESFireApplication(identifier: 5)] })
        #expect(bare.hasSuffix("\nApplication 050000 Max Keys: 01\nApplication 050000 Key 0 Version: 00\n"))
        #expect(bare.contains("\nApplication Count: 1\nApplication IDs: 05 00 00\n"))
        for text in [none, bare] { #expect(try TagImage(parsing: Array(text.utf8)).remarks.isEmpty) }
        for count in [28, 29] {
            let many = try contents { card in
                card.applications = (1...count).map { DESFireApplication(identifier: UInt32($0)) }
            }
            #expect(TagImage.Format.flipper.canHold(many) == (count == 28))
        }
    }

    @Test
    func `Flipper DESFire files: each kind is read as it was written`() throws {
        let kinds: [DESFireFile.Kind] = [
            .backup(Array(1...3)), .value(lower: -1, upper: -1, current: -1, limitedCredit: false),
            .linearRecords(size: 4, maximum: 2, records: Array(1...8)),
            .linearRecords(size: 4, maximum: 0, records: []), .cyclicRecords(size: 256, maximum: 256, records: []),
        ]
        let contents = try contents { card in
            card.applications[0].files = kinds.enumerated().map {
                DESFireFile(number: UInt8($0.offset), accessRights: 0xE321, kind: $0.element)
            }
            card.freeMemory = 100
        }
        let text = try text(contents)
        #expect(text.contains("\n\(Self.file) 0 Type: 01\n"))
        #expect(
            text.contains("\n\(Self.file) 0 Access Rights: 21 E3\n\(Self.file) 0 Size: 3\n\(Self.file) 0: 01 02 03\n")
        )
        #expect(text.contains("\n\(Self.file) 1 Hi Limit: 4294967295\n\(Self.file) 1 Lo Limit: 4294967295\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == contents)
    }

    @Test
    func `Flipper DESFire data that was not read: zeros`() throws {
        let text = try Files.text("desfire.nfc").replacing("\(Self.file) 2: FB FF FF FF\n", with: "")
            .replacing("\(Self.file) 3: 01 02 03 04 05 06 07 08\n", with: "")
        let files = try card(text).applications[0].files
        #expect(files[1].kind == .value(lower: -10, upper: 1000, current: 0, limitedCredit: false))
        #expect(files[2].kind == .cyclicRecords(size: 4, maximum: 3, records: Array(repeating: 0, count: 8)))
        let remarks = try TagImage(parsing: Array(text.utf8)).remarks
        let names = "Application 563412 File 2, Application 563412 File 3, Application 563412 File 4"
        #expect(remarks.contains { $0.text.hasPrefix("The data of \(names) are not in the file;") })
    }
}

/// Flipper files of FeliCa cards.
struct FlipperFeliCaTests {
    private func card(_ text: String) throws -> FeliCaStandardContents {
        guard case .type3(.standard(let card)) = try TagImage(parsing: Array(text.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        return card
    }

    @Test
    func `Flipper FeliCa without a system line: one system, whose code is FFFF`() throws {
        let text = try Files.text("felica-standard.nfc")
        let nameless = text.replacing("System found: 1\n\nSystem 00: 0003\n", with: "")
        #expect(nameless != text)
        let system = try #require(try card(nameless).systems.first)
        #expect(system.code == 0xFFFF)
        #expect(try system.files == card(text).systems[0].files)
    }

    @Test
    func `Flipper FeliCa areas: kept unless it is the root with all services`() throws {
        let text = try Files.text("felica-standard.nfc")
        #expect(try card(text).systems[0].areas.isEmpty)
        let root = FeliCaArea(code: 0, firstService: 0, lastService: 3)
        let place = "#000-#003 |\n"
        let version = try card(text.replacing(place, with: "#000-#003 | Key version 0012 |\n")).systems[0]
        #expect(version.areas == [root] && version.nodeKeyVersions == [0: 0x0012])
        let key = try card(text.replacing(place, with: "\(place)Area 000 Key: B0 B1 B2 B3 B4 B5 B6 B7\n")).systems[0]
        #expect(key.areas == [root] && key.nodeKeys == [0: hex("b0 b1 b2 b3 b4 b5 b6 b7")])
        let fewer = try card(text.replacing(place, with: "#000-#002 |\n")).systems[0]
        #expect(fewer.areas == [FeliCaArea(code: 0, firstService: 0, lastService: 2)])
    }

    @Test
    func `Flipper FeliCa services: those of one number share their blocks`() throws {
        let system = try card(Files.text("felica-standard.nfc").replacing("Code 004A", with: "Code 0088")).systems[0]
        #expect(system.files.map(\.serviceCodes) == [[0x0048], [0x0088, 0x008B], [0x090F]])
        #expect(system.files.map(\.blockCount) == [0, 1, 2])
    }

    @Test
    func `Flipper FeliCa key versions: of the blocks where services agree`() throws {
        let text = try Files.text("felica-keys.nfc")
        let same = try card(text).systems
        #expect(same[0].files.map(\.keyVersion) == [0x0014, 0x0015])
        #expect(same[0].nodeKeyVersions == [0x0000: 0x0012, 0x0040: 0x0013, 0x0FC0: 0])
        // A version of zero that is in the file stays there.
        #expect(same[1].files.map(\.keyVersion) == [0, 0x0024, 0x0025] && same[1].nodeKeyVersions[0x0050] == 0)
        let other = text.replacing("Read Only  | Key version 0014", with: "Read Only  | Key version 0016")
        let different = try card(other).systems[0]
        #expect(different.files.map(\.keyVersion) == [0, 0x0015])
        #expect(different.nodeKeyVersions[0x0048] == 0x0014 && different.nodeKeyVersions[0x004A] == 0x0016)
    }

    @Test
    func `Flipper FeliCa new file: the firmware's lines in their order`() throws {
        let system = FeliCaSystem(
            code: 0x0003,
            files: [
                FeliCaFile(serviceCodes: [0x0048, 0x004A], memory: [], keyVersion: 0x0014),
                FeliCaFile(serviceCodes: [0x0089, 0x008B], memory: Array(0..<32)),
                FeliCaFile(serviceCodes: [0x00D0, 0x00D2, 0x00D4, 0x00D6], memory: []),
            ]
        )
        let contents = FeliCaStandardContents(
            idm: hex("01 2e 3d 12 34 56 78 9a"),
            pmm: hex("10 0b 4b 42 84 85 d0 ff"),
            systems: [system]
        )
        let image = TagImage(.type3(.standard(contents)), format: .flipper)
        let text = String(decoding: try image.encoded(), as: UTF8.self)
        let low = "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
        let high = "10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F"
        let expected = """
            Device type: FeliCa
            # UID is common for all formats
            UID: 01 2E 3D 12 34 56 78 9A
            # FeliCa specific data
            Data format version: 2
            Manufacture id: 01 2E 3D 12 34 56 78 9A
            Manufacture parameter: 10 0B 4B 42 84 85 D0 FF
            IC Type: FeliCa Standard

            # Felica Standard specific data
            System found: 1


            System 00: 0003

            Area found: 1
            Area 000: | Code 0000 | Services #000-#007 |

            Service found: 8
            Service 000: | Code 0048 | Attrib. 08 | Private | Random | Read/Write | Key version 0014 |
            Service 001: | Code 004A | Attrib. 0A | Private | Random | Read Only  | Key version 0014 |
            Service 002: | Code 0089 | Attrib. 09 | Public  | Random | Read/Write |
            Service 003: | Code 008B | Attrib. 0B | Public  | Random | Read Only  |
            Service 004: | Code 00D0 | Attrib. 10 | Private | Purse  | Direct     |
            Service 005: | Code 00D2 | Attrib. 12 | Private | Purse  | Cashback   |
            Service 006: | Code 00D4 | Attrib. 14 | Private | Purse  | Decrement  |
            Service 007: | Code 00D6 | Attrib. 16 | Private | Purse  | Read Only  |

            Public blocks read: 4
            Block 0000: | Service code 0089 | Block index 00 | Data: \(low) |
            Block 0001: | Service code 0089 | Block index 01 | Data: \(high) |
            Block 0002: | Service code 008B | Block index 00 | Data: \(low) |
            Block 0003: | Service code 008B | Block index 01 | Data: \(high) |

            """
        #expect(text.hasSuffix("\n" + expected), "\(text)")
        #expect(try TagImage(parsing: Array(text.utf8)).contents == image.contents)
    }

    @Test
    func `FeliCa Lite-S image: every block that can be written is kept`() throws {
        var contents = FeliCaLiteSContents(idm: hex("02 fe 00 11 22 33 44 55"))
        contents.userMemory.replaceSubrange(16..<224, with: (0..<208).map { UInt8($0) })
        contents.register = Array(0x10..<0x20)
        contents.identifierExtension = Array(0x20..<0x28)
        contents.serviceCode = Array(0x30..<0x40)
        contents.keyVersion = Array(0x40..<0x50)
        contents.cardKey = Array(0x50..<0x60)
        contents.writeCounter = 0x01_0203
        for format in [TagImage.Format.flipper, .json] {
            let image = try TagImage(parsing: TagImage(.type3(.liteS(contents)), format: format).encoded())
            #expect(image.contents == .type3(.liteS(contents)), "\(format)")
        }
    }
}

/// FeliCa cards from dumps.
struct FeliCaImageTests {
    /// Sends a FeliCa command with its length byte.
    private func send(_ script: LinkScript, _ command: String) async -> String {
        let body = hex(command)
        return await script.send(hexText([UInt8(body.count + 1)] + body))
    }

    @Test func `FeliCa dump: areas and key versions are answered as in the file`() async throws {
        let image = try Files.image("felica-keys.nfc")
        guard case .type3(.standard(let card)) = image.contents else { return }
        #expect(card.systems.map(\.code) == [0x0003, 0xFE00])
        #expect(card.systems[0].key == hex("a0 a1 a2 a3 a4 a5 a6 a7"))
        #expect(card.systems[0].nodeKeys.keys.sorted() == [0x0000, 0x008B])
        // Services with one number share their blocks, except for those with different blocks.
        #expect(card.systems[0].files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x008B]])
        #expect(card.systems[1].files.map(\.serviceCodes) == [[0x0050], [0x1009], [0x100B]])
        let script = try LinkScript(.nfcF, image.makeTag())
        let idm = "01 2e 3d 12 34 56 78 9a"
        #expect(
            await send(script, "02 \(idm) 06 ff ff 00 00 40 00 c0 0f 4a 00 8b 00")
                == "17 03 \(idm) 06 11 00 12 00 13 00 00 00 14 00 15 00"
        )
        #expect(await send(script, "02 \(idm) 01 80 00") == "0d 03 \(idm) 01 ff ff")
        // All areas and services in the order of their codes.
        var found: [String] = []
        for index in 0..<7 {
            let answer = await send(script, "0a \(idm) 0\(index) 00")
            found.append(String(answer.dropFirst(30)))
        }
        #expect(found == ["00 00 fe ff", "40 00 ff 07", "48 00", "4a 00", "8b 00", "c0 0f ff 1f", "ff ff"])
        // The second system counts up in the first digit of the IDm.
        let second = "11 2e 3d 12 34 56 78 9a"
        let ones = Array(repeating: "01", count: 16).joined(separator: " ")
        #expect(await send(script, "06 \(second) 01 09 10 01 80 00") == "1d 07 \(second) 00 00 01 \(ones)")
        #expect(await send(script, "02 \(second) 02 ff ff 0b 10") == "0f 03 \(second) 02 21 00 25 00")
    }
}
