// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Flipper files of DESFire cards.
struct FlipperDESFireTests {
    private static let file = "Application 563412 File"

    /// The contents of the dump after a change.
    private func contents(_ change: (inout DESFireContents) -> Void) throws -> TagContents {
        var type4 = try #require(try Files.image("desfire.nfc").contents.type4)
        var card = try #require(TagContents.type4(type4).desfire)
        change(&card)
        type4.kind = .desfire(card)
        return .type4(type4)
    }

    @Test func `Flipper DESFire: applications, files and settings are read`() throws {
        let contents = try Files.image("desfire.nfc").contents
        let card = try #require(contents.desfire)
        #expect(contents.type4?.frontEnd == .nfcA(uid: card.uid, ats: hex("06 75 77 81 02 80")))
        #expect(card.keySettings == 0x0F && card.applications.map(\.identifier) == [0x123456, 0x000001])
        let files = card.applications[0].files
        #expect(card.applications[0].keyVersions.count == 14 && files.map(\.number) == [1, 2, 3, 4])
        let kinds: [DESFireFile.Kind] = [
            .standard(hex("13 37") + Array(repeating: 0, count: 14)),
            .value(lower: -10, upper: 1000, current: -5, limitedCredit: false),
            .cyclicRecords(size: 4, maximum: 3, records: Array(1...8)),
            // What could not be read is zero.
            .standard(Array(repeating: 0, count: 32)),
        ]
        #expect(files.map(\.kind) == kinds)
        #expect(files[2].accessRights == 0xEEE0 && files[3].communication == .enciphered)
        // The names of the NDEF mapping, which the file lacks.
        #expect(card.applications[1].isoIdentifier == 0xE110)
        #expect(card.applications[1].files.map(\.isoIdentifier) == [0xE103, 0xE104])
        let changed = try Files.text("desfire.nfc").replacing("PICC Key 0 Version: 00", with: "PICC Key 0 Version: 42")
        #expect(try TagContents(text: changed).desfire?.masterKey.version == 0x42)
        #expect(try TagContents(text: changed).returns())
    }

    @Test func `Flipper DESFire change: only the lines of the changed files are written anew`() throws {
        var image = try Files.image("desfire.nfc")
        image.contents = try contents {
            $0.applications[0].files[1].kind = .value(lower: -10, upper: 1000, current: 7, limitedCredit: false)
        }
        let before = try Files.text("desfire.nfc").split(separator: "\n")
        let after = String(decoding: try image.encoded(), as: UTF8.self).split(separator: "\n")
        #expect(zip(before, after).filter { $0 != $1 }.map { $1 } == ["\(Self.file) 2: 07 00 00 00"])
        // Another file has its lines after those of the previous one, and one that is gone has none.
        image.contents = try contents {
            $0.applications[0].files.append(DESFireFile(number: 9, accessRights: 0xEEEE, kind: .standard([1])))
            $0.applications[0].files.remove(at: 1)
        }
        let text = String(decoding: try image.encoded(), as: UTF8.self)
        #expect(text.contains("\(Self.file) IDs: 01 03 04 09\n"))
        #expect(text.contains("\(Self.file) 4 Size: 32\n\(Self.file) 9 Type: 00\n"))
        #expect(text.contains("\(Self.file) 9: 01\nApplication 010000 Change Key ID: 00\n"))
        #expect(!text.contains("File 2 Hi Limit"))
    }

    @Test func `Flipper DESFire key settings: each bit is written as a line of its own, and read back`() throws {
        let contents = try contents {
            $0.keySettings = 0xA5
            $0.applications[0].keySettings = 0x5A
        }
        let text = try contents.text(.flipper)
        let keys = ["Config Changeable", "Free Create Delete", "Free Directory List", "Key Changeable"]
        for (start, id, flags) in [
            ("PICC", "0A", [false, true, false, true]), ("Application 563412", "05", [true, false, true, false]),
        ] {
            let lines = zip(keys, flags).map { "\(start) \($0): \($1)\n" }.joined()
            #expect(text.contains("\n\(start) Change Key ID: \(id)\n\(lines)"), "\(start)")
        }
        #expect(try TagContents(text: text) == contents)
    }

    @Test func `Flipper DESFire applications: 0 to 255 fit, and each has only the lines that it needs`() throws {
        let text = try Files.text("desfire.nfc")
        let counted = "Application Count: 2\nApplication IDs: 56 34 12 01 00 00\n"
        #expect(text.contains(counted))
        #expect(try TagContents(text: text.replacing(counted, with: "")).desfire?.applications.isEmpty == true)
        #expect(try contents { $0.applications = [] }.text(.flipper).hasSuffix("\nApplication Count: 0\n"))
        let bare = try contents { $0.applications = [DESFireApplication(identifier: 5)] }.text(.flipper)
        #expect(bare.hasSuffix("\nApplication 050000 Max Keys: 01\nApplication 050000 Key 0 Version: 00\n"))
        #expect(bare.contains("\nApplication Count: 1\nApplication IDs: 05 00 00\n"))
        #expect(try TagImage(parsing: Array(bare.utf8)).remarks.isEmpty)
        for count in [255, 256] {
            let many = try contents { card in
                card.applications = (1...count).map { DESFireApplication(identifier: UInt32($0)) }
            }
            #expect(TagImage.Format.flipper.canHold(many) == (count == 255))
        }
    }

    @Test func `Flipper DESFire files: each kind is read as it was written`() throws {
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
        let text = try contents.text(.flipper)
        for lines in [
            "0 Type: 01\n", "0 Access Rights: 21 E3\n\(Self.file) 0 Size: 3\n\(Self.file) 0: 01 02 03\n",
            "1 Hi Limit: 4294967295\n\(Self.file) 1 Lo Limit: 4294967295\n",
        ] {
            #expect(text.contains("\n\(Self.file) \(lines)"), "\(lines)")
        }
        #expect(try TagContents(text: text) == contents)
    }

    @Test func `Flipper DESFire data that was not read: zeros, and a remark names the files`() throws {
        let text = try Files.text("desfire.nfc").replacing("\(Self.file) 2: FB FF FF FF\n", with: "")
            .replacing("\(Self.file) 3: 01 02 03 04 05 06 07 08\n", with: "")
        let files = try #require(try TagContents(text: text).desfire).applications[0].files
        #expect(files[1].kind == .value(lower: -10, upper: 1000, current: 0, limitedCredit: false))
        #expect(files[2].kind == .cyclicRecords(size: 4, maximum: 3, records: Array(repeating: 0, count: 8)))
        let remarks = try TagImage(parsing: Array(text.utf8)).remarks.filter { $0.kind == .missing }
        #expect(
            remarks.contains { remark in (2...4).allSatisfy { remark.text.contains("application 123456 file \($0)") } }
        )
    }
}

/// Flipper files of FeliCa cards.
struct FlipperFeliCaTests {
    private func card(_ text: String) throws -> FeliCaStandardContents {
        try #require(try TagContents(text: text).feliCa)
    }

    @Test func `Flipper FeliCa: systems, services and blocks are read, and the card answers what needs no key`()
        async throws
    {
        let text = try Files.text("felica-standard.nfc")
        let system = try #require(try card(text).systems.first)
        #expect(system.code == 0x0003 && system.areas.isEmpty)
        #expect(system.files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x008B], [0x090F]])
        #expect(system.files.map(\.blockCount) == [0, 1, 2])
        let script = try LinkScript(.nfcF, Files.image("felica-standard.nfc").makeTag())
        let idm = "01 2e 3d 12 34 56 78 9a"
        let answer = "1d 07 \(idm) 00 00 01 00 00 00 00 00 00 00 00 20 00 00 d2 04 00 01 e3"
        #expect(await script.send("10 06 \(idm) 01 8b 00 01 80 00") == answer)
        // Without its line there is one system, whose code is FFFF.
        let nameless = text.replacing("System found: 1\n\nSystem 00: 0003\n", with: "")
        let other = try #require(try card(nameless).systems.first)
        #expect(other.code == 0xFFFF && other.files == system.files)
        // Services of one number share their blocks.
        let shared = try card(text.replacing("Code 004A", with: "Code 0088")).systems[0]
        #expect(shared.files.map(\.serviceCodes) == [[0x0048], [0x0088, 0x008B], [0x090F]])
    }

    @Test func `Flipper FeliCa areas: kept, but for a root area with all services and without key and version`() throws
    {
        let text = try Files.text("felica-standard.nfc")
        let root = FeliCaArea(code: 0, firstService: 0, lastService: 3)
        let place = "#000-#003 |\n"
        let version = try card(text.replacing(place, with: "#000-#003 | Key version 0012 |\n")).systems[0]
        #expect(version.areas == [root] && version.nodeKeyVersions == [0: 0x0012])
        let key = try card(text.replacing(place, with: "\(place)Area 000 Key: B0 B1 B2 B3 B4 B5 B6 B7\n")).systems[0]
        #expect(key.areas == [root] && key.nodeKeys == [0: hex("b0 b1 b2 b3 b4 b5 b6 b7")])
        let fewer = try card(text.replacing(place, with: "#000-#002 |\n")).systems[0]
        #expect(fewer.areas == [FeliCaArea(code: 0, firstService: 0, lastService: 2)])
    }

    @Test func `Flipper FeliCa key versions: kept for the shared blocks if their services agree, else for each node`()
        throws
    {
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

    @Test func `Flipper FeliCa new file: has the firmware's lines in their order`() throws {
        var contents = FeliCaStandardContents(idm: hex("01 2e 3d 12 34 56 78 9a"), systems: [])
        contents.pmm = hex("10 0b 4b 42 84 85 d0 ff")
        let files = [
            FeliCaFile(serviceCodes: [0x0048, 0x004A], memory: [], keyVersion: 0x0014),
            FeliCaFile(serviceCodes: [0x0089, 0x008B], memory: Array(0..<32)),
            FeliCaFile(serviceCodes: [0x00D0, 0x00D2, 0x00D4, 0x00D6], memory: []),
        ]
        contents.systems = [FeliCaSystem(code: 0x0003, files: files)]
        let text = try TagContents.type3(.standard(contents)).text(.flipper)
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
        #expect(try card(text) == contents)
    }

    /// Sends a FeliCa command with its length byte.
    private func send(_ script: LinkScript, _ command: String) async -> String {
        let body = hex(command)
        return await script.send(hexText([UInt8(body.count + 1)] + body))
    }

    @Test func `FeliCa dump: areas and key versions are answered as in the file`() async throws {
        let image = try Files.image("felica-keys.nfc")
        let card = try #require(image.contents.feliCa)
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

    @Test func `FeliCa Lite-S image: every block that can be written is kept`() throws {
        var contents = FeliCaLiteSContents(idm: hex("02 fe 00 11 22 33 44 55"))
        contents.userMemory.replaceSubrange(16..<224, with: (0..<208).map { UInt8($0) })
        contents.register = Array(0x10..<0x20)
        contents.identifierExtension = Array(0x20..<0x28)
        contents.serviceCode = Array(0x30..<0x40)
        contents.keyVersion = Array(0x40..<0x50)
        contents.cardKey = Array(0x50..<0x60)
        contents.writeCounter = 0x01_0203
        for format in [TagImage.Format.flipper, .json] {
            #expect(try TagContents.type3(.liteS(contents)).returns(in: format), "\(format)")
        }
    }
}
