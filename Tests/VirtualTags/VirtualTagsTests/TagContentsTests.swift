// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@testable import VirtualTags  // data objects and object identifiers are internal

/// The contents of tags of all products, their secrets, and keys and data objects in their forms.
struct TagContentsTests {
    private static let frontEnd = Type4FrontEnd.nfcA(uid: [4, 1, 2, 3, 4, 5, 6], ats: [0x05, 0x78, 0x80, 0x70, 0x02])

    // MARK: Products

    @Test func `Tag product: found by its name or a short form, with its type and identifiers`() throws {
        for product in TagProduct.all {
            #expect(TagProduct(named: product.name) == product)
            let spelled = product.name.uppercased().split(separator: " ").joined(separator: "-")
            #expect(TagProduct(named: spelled) == product, "\(spelled)")
        }
        let names: [(String, String?)] = [
            ("ultralight c", "MIFARE Ultralight C"), ("UL21", "MIFARE Ultralight EV1 UL21"),
            ("Classic1K", "MIFARE Classic 1K"), ("slix", "ICODE SLIX"), ("NTAG", nil), ("MIFARE", nil), ("", nil),
        ]
        for (name, product) in names { #expect(TagProduct(named: name)?.name == product, "\(name)") }
        // Product, type, lengths of its identifier, how that begins, and the sizes to choose from.
        let rows: [(String, Int?, [Int], String, ClosedRange<Int>?)] = [
            ("Topaz 96", 1, [7], "", nil), ("NTAG213", 2, [7], "04", nil), ("FeliCa Lite-S", 3, [8], "02 fe", nil),
            ("generic Type 3", 3, [8], "02 fe", 16...65536), ("generic Type 4", 4, [4, 7, 10], "04", 5...32767),
            ("generic Type 4B", 4, [4], "", 5...32767), ("DESFire EV1 2K", 4, [7], "04", nil),
            ("NTAG 424 DNA", 4, [7], "04", nil), ("ICODE SLIX", 5, [8], "e0 04 01 10", nil),
            ("generic Type 5", 5, [8], "e0", 16...8192), ("MIFARE Classic 1K", nil, [4, 7], "10", nil),
        ]
        for (name, type, lengths, prefix, sizes) in rows {
            let product = try #require(TagProduct(named: name))
            #expect(product.tagType == type && product.blank().tagType == type, "\(name)")
            #expect(product.identifierLengths == lengths && product.sizes == sizes, "\(name)")
            var generator = Numbers(seed: 7)
            let identifiers = (0..<2).map { _ in product.identifier(using: &generator) }
            #expect(identifiers[0] != identifiers[1])
            for uid in identifiers {
                #expect(lengths.contains(uid.count) && uid.starts(with: hex(prefix)), "\(name)")
                #expect(product.blank(uid: uid).uid == uid)
            }
        }
    }

    @Test func `Tag product of any size: its memory is rounded up to whole blocks`() throws {
        guard case .type3(.standard(let card)) = try #require(TagProduct(named: "generic Type 3")).blank(size: 17)
        else {
            Issue.record("It is of Type 3.")
            return
        }
        #expect(card.systems.first?.files.first?.memory.count == 48)
        #expect(card.systems.first?.files.first?.memory.prefix(3) == [0x10, 12, 8])
        let sizes: [(Int?, Int)] = [(16, 16), (17, 20), (19, 20), (20, 20), (nil, 1024)]
        for (size, count) in sizes {
            guard case .type5(let tag) = try #require(TagProduct(named: "generic Type 5")).blank(size: size) else {
                Issue.record("It is of Type 5.")
                return
            }
            #expect(tag.memory.count == count)
        }
    }

    @Test func `Type 4 contents: given for a card with one NDEF application or none, nil for several`() {
        let application = NDEFApplication(size: 64)
        func contents(_ applications: [NDEFApplication]) -> Type4Contents? {
            VirtualType4Tag(card: ApplicationCard(applications), frontEnd: Self.frontEnd).contents
        }
        let one = Type4Contents(frontEnd: Self.frontEnd, kind: .ndef(files: application.files))
        #expect(contents([application]) == one && contents([application, application]) == nil)
        #expect(contents([]) == Type4Contents(frontEnd: Self.frontEnd, kind: .unspecified))
    }

    // MARK: Secrets

    /// Where a Type 2 tag has its password and PACK, or its 3DES key.
    private static let places: [(Type2Product, Range<Int>)] = [
        (.ultralightEV1UL11, 18 * 4..<19 * 4 + 2), (.ultralightEV1UL21, 39 * 4..<40 * 4 + 2),
        (.ntag213, 43 * 4..<44 * 4 + 2), (.ntag215, 133 * 4..<134 * 4 + 2), (.ntag216, 229 * 4..<230 * 4 + 2),
        (.ultralightC, 44 * 4..<48 * 4),
    ]

    @Test func `Secret bytes of a tag's memory: changed passwords and keys set holdsSecrets, other bytes do not`() {
        for (product, bytes) in Self.places {
            let blank = Type2Contents(blank: product, uid: Script.uid)
            #expect(!TagContents.type2(blank).holdsSecrets)
            for byte in Array(16..<bytes.lowerBound - 8) + Array(bytes) {
                var contents = blank
                contents.memory[byte] ^= 0x5A
                #expect(TagContents.type2(contents).holdsSecrets == bytes.contains(byte), "\(product) byte \(byte)")
            }
        }
        for product in [ClassicProduct.classic1K, .classic4K] {
            let blank = ClassicContents(blank: product, uid: [1, 2, 3, 4])
            #expect(!TagContents.classic(blank).holdsSecrets)
            for sector in [0, product.sectorCount - 1] {
                for byte in 0..<16 {
                    var contents = blank
                    contents.memory[ClassicProduct.trailer(ofSector: sector) * 16 + byte] ^= 0x5A
                    #expect(TagContents.classic(contents).holdsSecrets == !(6..<10).contains(byte), "byte \(byte)")
                }
            }
            // What a reader could not read is zero.
            var unread = blank
            unread.memory = Array(repeating: 0, count: unread.memory.count)
            #expect(!TagContents.classic(unread).holdsSecrets)
        }
    }

    @Test func `Secrets of a chip: holdsSecrets is true for keys and passwords other than those at delivery`() throws {
        func holds(_ tag: VirtualType4Tag) throws -> Bool { try #require(TagContents(of: tag)).holdsSecrets }
        let key = try #require(DESFireKey(.aes, Array(1...16)))
        var desfire = DESFireContents.ndef()
        #expect(try !holds(VirtualType4Tag(desfire)) && !holds(VirtualType4Tag(NTAG424Contents())))
        desfire.masterKey = key
        #expect(try holds(VirtualType4Tag(desfire)))
        for index in DESFireContents.ndef().applications[0].keys.indices {
            var contents = DESFireContents.ndef()
            contents.applications[0].keys[index] = key
            #expect(try holds(VirtualType4Tag(contents)))
        }
        for index in NTAG424Contents().keys.indices {
            var contents = NTAG424Contents()
            contents.keys[index] = key
            #expect(try holds(VirtualType4Tag(contents)))
        }
        for product in [Type5Product.icodeSLIX2, .st25tv02K, .st25dv04K] {
            let blank = Type5Contents(blank: product)
            #expect(!TagContents.type5(blank).holdsSecrets, "\(product)")
            for identifier in blank.passwords.keys {
                var contents = blank
                contents.passwords[identifier] = 0x0403_0201
                #expect(TagContents.type5(contents).holdsSecrets, "\(product), password \(identifier)")
            }
            for number in blank.settings.passwords.indices {
                var contents = blank
                contents.settings.passwords[number][3] = 0x5A
                #expect(TagContents.type5(contents).holdsSecrets, "\(product), password \(number)")
            }
        }
        var lite = FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6])
        #expect(!TagContents.type3(.liteS(lite)).holdsSecrets)
        lite.cardKey[15] = 1
        #expect(TagContents.type3(.liteS(lite)).holdsSecrets)
        func system(_ change: (inout FeliCaSystem) -> Void) -> Bool {
            var system = FeliCaSystem(code: 0x0003, files: [])
            change(&system)
            let contents = FeliCaStandardContents(idm: [0x01, 0xFE, 1, 2, 3, 4, 5, 6], systems: [system])
            return TagContents.type3(.standard(contents)).holdsSecrets
        }
        #expect(!system { _ in } && !system { $0.key = [0, 0, 0, 0, 0, 0, 0, 0] })
        #expect(system { $0.key = [0, 0, 0, 0, 0, 0, 0, 1] } && system { $0.nodeKeys = [0x0000: [0], 0x008B: [7]] })
        #expect(!TagContents.type1(Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7])).holdsSecrets)
        #expect(try !holds(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]))))
        let payment = EMVContents(applicationIdentifier: [], accountNumber: [0x41])
        #expect(TagContents.type4(Type4Contents(frontEnd: Self.frontEnd, kind: .emv(payment))).holdsSecrets)
    }

    @Test func `Printed contents: no print, debug print or dump shows a password or key`() throws {
        let secret: [UInt8] = [0xC3, 0xF7, 0xE9, 0x4D]
        let number = secret.reduce(0) { $0 << 8 | UInt32($1) }
        func shows(_ value: some Any) -> Bool {
            var text = ""
            dump(value, to: &text)
            // An array is printed with commas, and dumped a line an element.
            let dumped = text.split(separator: "\n").map { $0.drop { !$0.isNumber } }.joined(separator: ", ")
            let list = secret.map(String.init).joined(separator: ", ")
            return ["\(value)", String(reflecting: value), dumped, text].contains {
                $0.contains(list) || $0.contains(String(number)) || $0.contains(secret.hexText())
            }
        }
        var type2 = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        type2.memory.replaceSubrange(4 * 43..<4 * 45, with: secret + secret)
        #expect(!shows(type2) && !shows(TagContents.type2(type2)))
        type2.memory.replaceSubrange(4 * 5..<4 * 6, with: secret)
        #expect(shows(type2), "Other pages are printed.")
        var ultralight = Type2Contents(blank: .ultralightC, uid: [4, 1, 2, 3, 4, 5, 6])
        ultralight.memory.replaceSubrange(4 * 44..<4 * 48, with: secret + secret + secret + secret)
        var classic = ClassicContents(blank: .classic1K, uid: [1, 2, 3, 4])
        for sector in 0..<16 { classic.memory.replaceSubrange(64 * sector + 58..<64 * sector + 62, with: secret) }
        var slix = Type5Contents(blank: .icodeSLIX)
        slix.passwords[0x10] = number
        var st = Type5Contents(blank: .st25tv02K)
        st.settings.passwords[0] = secret
        let bytes = secret + secret + secret + secret
        let key = try #require(DESFireKey(.aes, bytes))
        var tag424 = NTAG424Contents(uid: [4, 1, 2, 3, 4, 5, 6])
        tag424.keys[0] = key
        var lite = FeliCaLiteSContents(idm: [1, 2, 3, 4, 5, 6, 7, 8])
        lite.cardKey = bytes
        var configuration = DESFireConfiguration()
        configuration.defaultKey = bytes
        var system = FeliCaSystem(code: 0x88B4, files: [])
        (system.key, system.nodeKeys) = (bytes, [0: bytes])
        let values: [Any] = [
            ultralight, classic, TagContents.classic(classic), slix, st, TagContents.type5(st), key, tag424, lite,
            configuration, system, EMRTDSigner(certificate: [], privateKey: bytes),
        ]
        for value in values { #expect(!shows(value), "\(type(of: value))") }
    }

    // MARK: Keys and data objects

    @Test func `DESFire key: DES bytes have its version in their lowest bits; a wrong length for its kind gives nil`()
        throws
    {
        for version: UInt8 in [0, 1, 0x55, 0x80, 0xA5, 0xFF] {
            for kind in [DESFireKey.Kind.des, .tripleDES] {
                let key = DESFireKey.zero(kind, version: version)
                #expect(key.bytes.count == kind.length && key.bytes.allSatisfy { $0 < 2 })
                #expect(try #require(DESFireKey(kind, key.bytes)).version == version)
                #expect(key.bytes[..<8] == key.bytes[8..<16] && key.bytes.dropFirst(16).allSatisfy { $0 == 0 })
            }
            let aes = DESFireKey.zero(.aes, version: version)
            #expect(aes.bytes == [UInt8](repeating: 0, count: 16) && aes.version == version)
        }
        let half = Array(UInt8(0x11)...0x18)
        #expect(DESFireKey(.des, half)?.bytes == half + half && DESFireKey(.des, half + half) == DESFireKey(.des, half))
        let wrong: [(DESFireKey.Kind, Int)] = [
            (.aes, 8), (.aes, 24), (.tripleDES, 8), (.tripleDES, 16), (.des, 24), (.des, 0),
        ]
        for (kind, count) in wrong { #expect(DESFireKey(kind, [UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test func `Data object: lengths of each form are read and written, and a cut one is refused`() {
        for count in [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x1_0000] {
            for tag in [0x04, 0x5F1F] as [UInt16] {
                let object = DataObject(tag, [UInt8](repeating: 0xAB, count: count))
                let bytes = object.bytes
                var rest = (bytes + [0x55])[...]
                #expect(DataObject(takingFrom: &rest) == object && rest == [0x55], "\(count)")
                let head = bytes.count - count
                for cut in [0, 1, head - 1, head, bytes.count - 1] where cut < bytes.count {
                    var short = bytes[..<cut]
                    #expect(DataObject(takingFrom: &short) == nil && short.count == cut, "\(count) cut at \(cut)")
                }
            }
        }
    }
}
