// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite("Corners of JSON images")
struct JSONCornerTests {
    private func text(_ contents: TagContents) throws -> String {
        String(decoding: try TagImage(contents).encoded(), as: UTF8.self)
    }

    private func contents(_ text: String) throws -> TagContents { try TagImage(parsing: Array(text.utf8)).contents }

    // MARK: JSON

    @Test("Objects and arrays are nested 32 deep at most", arguments: [(31, true), (32, false)])
    func nesting(depth: Int, isTaken: Bool) {
        let note = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let text = #"{"type": "NFCA", "product": "generic NFC-A", "uid": "01020304", "atqa": "0004", "sak": "08", "#
        // The image itself is an object.
        #expect(Files.failure("\(text)\"note\": \(note)}")?.code == (isTaken ? nil : .malformed))
    }

    // MARK: Types 1 and 2

    @Test("A Type 1 tag has the UID that its memory begins with")
    func type1() throws {
        let contents = TagContents.type1(Type1Contents(blank: .topaz96, uid: VirtualType1Tag.defaultUID))
        let text = try text(contents)
        let uid = "\"uid\": \"\(hexText(contents.uid).filter { $0 != " " })\""
        #expect(text.contains(uid))
        let error = try #require(Files.failure(text.replacing(uid, with: "\"uid\": \"00000000000000\"")))
        #expect(error.code == .inconsistent && error.line == 1)
        #expect(error.reason == "\"uid\" is not what the memory begins with.")
    }

    @Test(
        "A Type 2 image has whole pages, four at least, a UID of a known length, and numbers in their ranges",
        arguments: [
            ("00", 12, "", .malformed), ("00", 16, "", nil), ("00", 18, "", .malformed), ("00", 20, "", nil),
            ("04a1b2c3", 16, "", nil), ("04a1b2c3d4e58001020304", 16, "", .malformed),
            ("04a1b2c3d4e580010203", 16, "", nil), ("00", 16, ", \"failed_authentications\": 4294967295", nil),
            ("00", 16, ", \"failed_authentications\": 4294967296", .malformed),
            ("00", 16, ", \"counters\": [1, 2, 16777215]", nil),
            ("00", 16, ", \"counters\": [1, 2, 16777216]", .malformed),
            ("00", 16, ", \"counters\": null, \"sak\": null", nil),
            ("00", 16, ", \"sak\": \"0800\"", .malformed), ("00", 16, ", \"signature\": \"00\"", .malformed),
            ("00", 16, ", \"tearing_flags\": \"0000\"", .malformed),
        ] as [(String, Int, String, TagImageError.Code?)]
    )
    func type2(uid: String, bytes: Int, more: String, code: TagImageError.Code?) {
        let identifier = uid == "00" ? "04a1b2c3d4e580" : uid
        let memory = String(repeating: "00", count: bytes)
        let text =
            #"{"type": "T2T", "product": "NTAG213", "uid": "\#(identifier)", "memory_hex": "\#(memory)"\#(more)}"#
        #expect(Files.failure(text)?.code == code)
    }

    @Test("A new image of a Type 2 tag has its version in front of its signature")
    func version() throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.version = [0, 4, 4, 2, 2, 0, 0x0F, 3]
        contents.signature = Array(1...32)
        let text = try text(.type2(contents))
        #expect(text.contains("\", \"get_version\": \"0004040202000f03\", \"signature\": \"0102"))
        #expect(try self.contents(text) == .type2(contents))
    }

    @Test("The number of pages follows the memory")
    func pageCount() throws {
        var image = try TagImage(parsing: TagImage(Type2Contents(blank: .ntag213, uid: Script.uid)).encoded())
        var contents = try #require(image.contents.type2)
        contents.memory.removeLast(4)
        image.contents = .type2(contents)
        let changed = String(decoding: try image.encoded(), as: UTF8.self)
        #expect(changed.contains("\"pages\": 44, "))
    }

    // MARK: FeliCa

    @Test("A new image of a FeliCa has its members in the order in which people read them")
    func feliCa() throws {
        let idm = hex("01 2e 3d 12 34 56 78 9a")
        let plain = FeliCaSystem(code: 0x0003, files: [FeliCaFile(serviceCodes: [0x0048, 0x004A], memory: [])])
        let head = "\"systems\": {\"0003\": {\"maximum_read\": 15, \"maximum_write\": 13, \"files\": {\"0048,004a\": "
        let short = try text(.type3(.standard(FeliCaStandardContents(idm: idm, systems: [plain]))))
        #expect(short.hasSuffix("\(head){\"memory_hex\": \"\"}}}}}\n"))
        var whole = plain
        whole.files[0].keyVersion = 7
        whole.areas = [FeliCaArea(code: 0, end: 0xFFFE, lastService: 1), FeliCaArea(code: 0x40)]
        whole.keyVersion = 0xFFFF
        whole.key = [1, 2]
        whole.nodeKeyVersions = [0x40: 0xFFFF, 0: 5]
        whole.nodeKeys = [0x40: [4], 0: [3]]
        let contents = TagContents.type3(.standard(FeliCaStandardContents(idm: idm, systems: [whole])))
        let long = try text(contents)
        let end =
            "{\"memory_hex\": \"\", \"key_version\": 7}}, "
            + "\"areas\": {\"0000\": {\"services\": [0, 1], \"end\": \"fffe\"}, \"0040\": {\"services\": [0, 0]}}, "
            + "\"key_version\": 65535, \"key\": \"0102\", \"key_versions\": {\"0000\": 5, \"0040\": 65535}, "
            + "\"node_keys\": {\"0000\": \"03\", \"0040\": \"04\"}}}}\n"
        #expect(long.hasSuffix(head + end), "\(long)")
        #expect(try self.contents(long) == contents)
        for (original, other, code): (String, String, TagImageError.Code?) in [
            ("[0, 1]", "[0, 1024]", nil), ("[0, 1]", "[0, 1025]", .malformed), ("[0, 1]", "[0]", .malformed),
            ("\"0040\": 65535", "\"0040\": 65536", .malformed), ("\"0040\": 65535", "\"000040\": 1", .malformed),
            ("\"maximum_read\": 15", "\"maximum_read\": 255", nil),
            ("\"maximum_read\": 15", "\"maximum_read\": 256", .malformed),
            ("\"maximum_read\": 15", "\"maximum_read\": 0", .malformed),
            ("\"maximum_write\": 13", "\"maximum_write\": 255", nil),
            ("\"maximum_write\": 13", "\"maximum_write\": 256", .malformed),
            ("\"maximum_write\": 13", "\"maximum_write\": 0", .malformed),
        ] {
            #expect(long.contains(original))
            #expect(Files.failure(long.replacing(original, with: other))?.code == code, "\(other)")
        }
    }

    // MARK: Type 4

    private static let generic =
        #"{"type": "T4T", "product": "generic Type 4", "uid": "01020304050607", "ats": "0278", "#

    @Test("A Type 4 tag has the usual answers, and files of 64 KiB at most")
    func type4() throws {
        let text = Self.generic
        guard case .type4(let card) = try contents("\(text)\"files\": {\"e103\": \"00\"}}") else {
            throw TagImageError(.unsupported, "")
        }
        let front = Type4FrontEnd.nfcA(uid: [1, 2, 3, 4, 5, 6, 7], atqa: 0x0344, sak: 0x20, ats: [0x02, 0x78])
        #expect(card.frontEnd == front && card.kind == .ndef(files: [0xE103: [0x00]]))
        for (count, code): (Int, TagImageError.Code?) in [(0x1_0000, nil), (0x1_0001, .malformed)] {
            let file = String(repeating: "00", count: count)
            #expect(Files.failure("\(text)\"files\": {\"e104\": \"\(file)\"}}")?.code == code, "\(count)")
        }
        #expect(Files.failure("\(text)\"files\": {}}")?.code == .malformed)
        #expect(Files.failure("\(text)\"files\": {\"e103\": 5}}")?.code == .malformed)
    }

    @Test("A new image of an NFC-B card has its application data in front of its protocol info")
    func nfcB() throws {
        let front = Type4FrontEnd.nfcB(
            pupi: [1, 2, 3, 4],
            applicationData: [5, 6, 7, 8],
            protocolInfo: [0, 0x81, 0x71]
        )
        let text = try text(.type4(Type4Contents(frontEnd: front, kind: .unspecified)))
        #expect(
            text.hasSuffix(
                "\"uid\": \"01020304\", \"application_data\": \"05060708\", \"protocol_info\": \"008171\"}\n"
            )
        )
    }

    @Test("A missing file of a DESFire is named", arguments: [("e103", "e104"), ("e104", "e103")])
    func missingFiles(present: String, missing: String) throws {
        let text =
            Self.generic.replacing("generic Type 4", with: "DESFire EV1") + "\n\"files\": {\"\(present)\": \"00\"}}"
        let error = try #require(Files.failure(text))
        #expect(error.code == .missingField && error.line == 2)
        #expect(error.reason == "File \"\(missing)\" is missing.")
    }

    @Test(
        "A DESFire without a version is the smallest that has room for its files",
        arguments: [
            (2272 - 64 - 15, DESFireContents.Size.kilobytes2), (2272 - 64 - 14, .kilobytes4),
            (4832 - 64 - 15, .kilobytes4), (4832 - 64 - 14, .kilobytes8), (9000, .kilobytes8),
        ]
    )
    func sizes(count: Int, size: DESFireContents.Size) throws {
        let files = [String(repeating: "00", count: 15), String(repeating: "00", count: count)]
        let text =
            Self.generic.replacing("generic Type 4", with: "DESFire EV2")
            + "\"files\": {\"e103\": \"\(files[0])\", \"e104\": \"\(files[1])\"}}"
        guard case .type4(let contents) = try self.contents(text), case .desfire(let card) = contents.kind else {
            throw TagImageError(.unsupported, "")
        }
        #expect(card.size == size && card.generation == .ev2)
    }

    @Test("A DESFire with its NDEF application alone has files, and what is not as delivered beside them")
    func ndefOfDESFire() throws {
        var card = DESFireContents.ndef(generation: .ev1, size: .kilobytes2)
        card.configuration.usesRandomUID = true
        card.freeMemory = 64
        let front = Type4FrontEnd.nfcA(uid: card.uid, ats: hex("06 75 77 81 02 80"))
        let held = TagContents.type4(Type4Contents(frontEnd: front, kind: .desfire(card)))
        let text = try text(held)
        #expect(text.contains("\", \"free_memory\": 64, \"random_uid\": true, \"files\": {\"e103\": \""))
        #expect(!text.contains("applications"))
        #expect(try contents(text) == held)
        for (free, code): (Int, TagImageError.Code?) in [(0xFF_FFFF, nil), (0x100_0000, .malformed), (-1, .malformed)] {
            let changed = text.replacing("\"free_memory\": 64", with: "\"free_memory\": \(free)")
            #expect(Files.failure(changed)?.code == code, "\(free)")
        }
    }

    @Test("A file of a DESFire has a record's usual size and no value where its image has none")
    func fileDefaults() throws {
        let card = DESFireContents(applications: [DESFireApplication(identifier: 1)])
        let front = Type4FrontEnd.nfcA(uid: card.uid, ats: hex("06 75 77 81 02 80"))
        let text = try text(.type4(Type4Contents(frontEnd: front, kind: .desfire(card))))
        let start = "\"communication\": \"00\", \"access_rights\": \"eeee\", \"type\": "
        let files =
            "\"files\": {\"00\": {\(start)\"linear\"}, \"01\": {\(start)\"value\"}, \"02\": {\(start)\"backup\"}}"
        guard case .type4(let contents) = try self.contents(text.replacing("\"files\": {}", with: files)),
            case .desfire(let read) = contents.kind
        else { throw TagImageError(.unsupported, "") }
        let kinds: [DESFireFile.Kind] = [
            .linearRecords(size: 1, maximum: 0, records: []),
            .value(lower: 0, upper: 0, current: 0, limitedCredit: false), .backup([]),
        ]
        #expect(read.applications[0].files.map(\.kind) == kinds)
    }

    @Test("An NTAG 424 DNA has what is not zero, and files of its own sizes")
    func ntag424() throws {
        var card = NTAG424Contents()
        let plain = try text(try #require(TagContents(of: VirtualType4Tag(card))))
        #expect(!plain.contains("signature") && !plain.contains("read_counter"))
        card.readCounter = 1
        card.signature = Array(repeating: 0, count: 55) + [0x5A]
        let held = try #require(TagContents(of: VirtualType4Tag(card)))
        let text = try text(held)
        #expect(text.contains("\"read_counter\": 1, \"signature\": \"0000"))
        #expect(try contents(text) == held)
        for (counter, code): (Int, TagImageError.Code?) in [(0xFF_FFFF, nil), (0x100_0000, .malformed)] {
            let changed = text.replacing("\"read_counter\": 1", with: "\"read_counter\": \(counter)")
            #expect(Files.failure(changed)?.code == code, "\(counter)")
        }
        let longer = try #require(Files.failure(text.replacing("\"}}\n", with: "00\"}}\n")))
        #expect(longer.code == .inconsistent && longer.reason == "A file is not of the product's size.")
        let fewer = try #require(Files.failure(text.replacing("\"e104\": ", with: "\"e107\": ")))
        #expect(fewer.code == .missingField && fewer.reason == "File \"e104\" is missing.")
    }

    @Test(
        "A key has a kind, its bytes, and a version if it is one of AES",
        arguments: [
            ("1", "aes:K:03", true), ("1", "aes:K", true), ("1", "aes:K:", false), ("1", "aes::K", false),
            ("1", "aes:K:03:04", false), ("1", "aes:K:0304", false), ("1", "des:K:03", false), ("1", "des:K", false),
            ("2", "aes:K", false), ("01", "aes:K", true), ("x", "aes:K", false), ("master", "des:K", true),
        ]
    )
    func keys(name: String, key: String, isTaken: Bool) throws {
        var card = DESFireContents.ndef(generation: .ev2, size: .kilobytes2)
        card.applications[0].keyCount = 0x82
        card.applications[0].keys = [.zero(.aes), .zero(.aes)]
        let text = try text(try #require(TagContents(of: VirtualType4Tag(card))))
        let digits = "0102030405060708090a0b0c0d0e0f10"
        let member = "\"keys\": {\"\(name)\": \"\(key.replacing("K", with: digits))\"}"
        let error = Files.failure(text.replacing("\"files\": ", with: "\(member), \"files\": "))
        #expect(error?.code == (isTaken ? nil : .malformed))
    }

    @Test(
        "A payment card's texts have 64 bytes at most, and its names their lengths",
        arguments: [
            ("\"aid\": \"a000000003\"", true), ("\"aid\": \"a0000000\"", false),
            ("\"aid\": \"a000000003\", \"label\": \"L64\"", true),
            ("\"aid\": \"a000000003\", \"label\": \"L65\"", false),
        ]
    )
    func emv(members: String, isTaken: Bool) {
        let text = members.replacing("L64", with: String(repeating: "a", count: 64))
            .replacing("L65", with: String(repeating: "a", count: 65))
        let head = #"{"type": "T4T", "product": "EMV card", "uid": "08010203", "ats": "01", "pan": "", "#
        #expect(Files.failure("\(head)\(text)}")?.code == (isTaken ? nil : .malformed))
    }
}
