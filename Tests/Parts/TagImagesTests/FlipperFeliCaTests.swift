// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite("Flipper files of FeliCa cards")
struct FlipperFeliCaTests {
    private func card(_ text: String) throws -> FeliCaStandardContents {
        guard case .type3(.standard(let card)) = try TagImage(parsing: Array(text.utf8)).contents else {
            throw TagImageError(.unsupported, "")
        }
        return card
    }

    @Test("A file without a line for the system has one, whose code is not known")
    func nameless() throws {
        let text = try Files.text("felica-standard.nfc")
        let nameless = text.replacing("System found: 1\n\nSystem 00: 0003\n", with: "")
        #expect(nameless != text)
        let system = try #require(try card(nameless).systems.first)
        #expect(system.code == 0xFFFF)
        #expect(try system.files == card(text).systems[0].files)
    }

    @Test("An area is kept unless it is the root with all services, of which nothing else is known")
    func areas() throws {
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

    @Test("Services of one number share the blocks that one of them is free to read")
    func sharedBlocks() throws {
        let system = try card(Files.text("felica-standard.nfc").replacing("Code 004A", with: "Code 0088")).systems[0]
        #expect(system.files.map(\.serviceCodes) == [[0x0048], [0x0088, 0x008B], [0x090F]])
        #expect(system.files.map(\.blockCount) == [0, 1, 2])
    }

    @Test("A version of a key is that of the blocks where their services agree, and otherwise each service's own")
    func versions() throws {
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

    @Test(
        "What a line of a FeliCa card can't have is refused",
        arguments: [
            ("#000-#003", "#000-#00X", .malformed), ("#000-#003", "#000-#400", nil),
            ("#000-#003", "#000-#401", .malformed), ("#000-#003", "#000-#003-#004", .malformed),
            ("Service found: 4", "Service found: 1024", .missingField),
            ("Service found: 4", "Service found: 1025", .malformed),
            ("blocks read: 3", "blocks read: 65535", .missingField),
            ("blocks read: 3", "blocks read: 65536", .malformed),
            ("System found: 1", "System found: 16", .missingField),
            ("System found: 1", "System found: 0", .malformed), ("System 00: 0003", "System 00: | 0003", .malformed),
            ("Code 0048", "Code 004800", .malformed), ("Block index 01", "Block index 0001", .malformed),
            ("Data: 00 00 00", "Data: 00 00", .malformed), ("Data: 00 00 00", "Data: 00 00 00 00", .malformed),
        ] as [(String, String, TagImageError.Code?)]
    )
    func faults(original: String, fault: String, code: TagImageError.Code?) throws {
        #expect(try Files.failure("felica-standard.nfc", original, fault)?.code == code)
    }

    @Test("A new file has 1 to 16 systems", arguments: [0, 1, 16, 17])
    func systems(count: Int) {
        let systems = (0..<count).map { index in
            FeliCaSystem(code: UInt16(0xFE00 + index), files: [FeliCaFile(serviceCodes: [0x0048], memory: [])])
        }
        let contents = FeliCaStandardContents(idm: hex("01 2e 3d 12 34 56 78 9a"), systems: systems)
        let canHold = TagImage.Format.flipper.canHold(.type3(.standard(contents)))
        #expect(canHold == (1...16).contains(count))
    }

    @Test("A new file has the lines of the firmware, in their order and with its words")
    func newFile() throws {
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

    @Test("A FeliCa Lite-S keeps every block that can be written")
    func liteS() throws {
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

    @Test("A line of a system that a tag has no place for is named once")
    func leftOut() throws {
        let text = try Files.text("felica-standard.nfc").replacing("System 00: 0003", with: "System 00: 0003 | Odd |")
        let remark = try #require(try TagImage(parsing: Array(text.utf8)).remarks.first { $0.kind == .leftOut })
        #expect(remark.text.contains(" System 00:") || remark.text.contains(" System 00,"))
        #expect(!remark.text.contains("System 00 of System 00"))
    }
}
