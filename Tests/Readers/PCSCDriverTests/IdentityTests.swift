// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver  // ATRs, kinds and routes are internal

/// What the few data that a reader reports tell about a tag and about the reader itself.
struct IdentityTests {
    private typealias Kind = AnswerToReset.StorageCard.Kind

    // MARK: ATR (ISO/IEC 7816-3, 8.2; PC/SC part 3, 3.1.3.2.3)

    @Test
    func
        `ATR: historical bytes are found behind any interface bytes, and show contactless cards; a cut ATR is nil`()
    {
        let rows: [(String, String?, Bool)] = [
            ("3B00", "", false), ("3F00", "", false), ("3B80 8001", "", true), ("3B80 8001 01", "", true),
            ("3B81 8001 77", "77", true), ("3F81 8001 77", "77", false), ("3B82 8001 7788", "7788", true),
            ("3B81 8001 77 00", "77", true), ("3B81 8001 80 80", "80", true),
            ("3B F1 96 00 81 31 FE 45 77 55", "77", false), ("3BD1 18FF 81 B1 FE 75 1F 03 77", "77", false),
            ("3BDA 18FF 81 B1 FE 75 1F 03 0031F573C00160009000 1C", "0031f573c00160009000", false),
            ("", nil, false), ("3B", nil, false), ("3C00", nil, false), ("3BFF", nil, false), ("0000", nil, false),
        ]
        for (text, historical, isContactless) in rows {
            let answer = AnswerToReset([UInt8](hex: text))
            #expect(answer?.historicalBytes.hex == historical, "\(text)")
            #expect(answer.map(\.isContactless) == historical.map { _ in isContactless }, "\(text)")
        }
        let longest = [UInt8](hex: "3B8F8001") + [UInt8](repeating: 0, count: 29)
        #expect(AnswerToReset(longest) != nil && AnswerToReset(longest + [0]) == nil)
        for length in 0..<SampleCards.type2Answer.count - 1 {
            #expect(AnswerToReset(Array(SampleCards.type2Answer.prefix(length))) == nil, "\(length)")
        }
    }

    @Test func `ATR of a storage card: the RID of PC/SC, standard and card name give the kind of tag`() {
        func card(_ historical: String) -> AnswerToReset.StorageCard? {
            let bytes = [UInt8](hex: historical)
            return AnswerToReset([0x3B, 0x80 | UInt8(bytes.count), 0x80, 0x01] + bytes)?.storageCard
        }
        #expect(card("804F0CA000000306030001") == AnswerToReset.StorageCard(standard: 3, name: 1))
        #expect(card("804F0CA0000003060300FF00000000") == AnswerToReset.StorageCard(standard: 3, name: 0xFF))
        for other in [
            "804F0CA0000003060300", "814F0CA000000306030001", "80500CA000000306030001", "804F0CA000000307030001", "80",
        ] { #expect(card(other) == nil, "\(other)") }
        let unknown = Kind.other("card of an unknown kind")
        let kinds: [(standards: [UInt8], names: [UInt16], kind: Kind)] = [
            ([0x00, 0x03], [0xF004, 0x002F, 0x0030], .type1), ([0x00, 0x03], [0xF011, 0xF012, 0x003B], .nfcF),
            ([0x11], [0], .nfcF), ([0x00, 0x01, 0x02, 0x03], [0x0001, 0x0036], .nfcA(sak: 0x08)),
            ([0x00, 0x03], [0x0002, 0x0037], .nfcA(sak: 0x18)),
            ([0x00, 0x03], [0x0003, 0x003A, 0x003D], .nfcA(sak: 0)),
            ([0x03], [0x0026], .nfcA(sak: 0x09)), ([0x03], [0x0038], .nfcA(sak: 0x10)),
            ([0x03], [0x0039], .nfcA(sak: 0x11)), ([0x03], [0xFF20], .nfcA(sak: 0x20)),
            ([0x03], [0xFFFF], .nfcA(sak: 0xFF)), ([0x02], [0xFF08], .nfcA(sak: nil)),
            ([0x03], [0xFEFF], .nfcA(sak: nil)),
            ([0], [0x0012, 0x0014, 0x0015, 0x0016, 0x0017, 0x0018, 0x0035], .nfcV),
            ([0x09, 0x0A, 0x0B, 0x0C], [0], .nfcV), ([0x00], [0x0013], unknown), ([0x04, 0x08, 0x12], [0], unknown),
            ([0x05, 0x06, 0x07], [0], .other("Type B memory card")),
            ([0x0D, 0x0E, 0x0F, 0x10], [0], .other("memory card with contacts")),
            ([0x40], [0], .other("low frequency transponder")),
        ]
        for (standards, names, kind) in kinds {
            for standard in standards {
                for name in names {
                    let found = AnswerToReset.StorageCard(standard: standard, name: name).kind
                    #expect(found == kind, "\(standard) \(name)")
                }
            }
        }
    }

    // MARK: Cards and tags

    @Test
    func
        `ISO-DEP card: Type B if ATR and PUPI have its form and there is no ATS, otherwise Type A with ATQA by its UID`()
        throws
    {
        func card(_ atr: String, _ identifier: String, ats: [UInt8]? = nil) throws -> (DiscoveredTag.Identity, [UInt8]?)
        {
            let answer = try #require(AnswerToReset([UInt8](hex: atr)))
            let found = TagIdentification.card(answer, identifier: [UInt8](hex: identifier), answerToSelect: ats)
            return (found.identity, found.answerToSelect)
        }
        let typeB = "3B888001 01020304 05 81 71 00"
        let found = try card(typeB, "11223344")
        #expect(found.0 == .nfcB(answer: [UInt8](hex: "50 11223344 01020304 058171")) && found.1 == nil)
        for (atr, identifier, ats) in [
            (typeB, "1122334455", nil), (typeB, "11223344", [2, 0]), ("3B888001 01020304 05 80 71 01", "11223344", nil),
            ("3B888001 01020304 05 80 71 00", "11223344", nil), ("3B878001 01020304 05 81 71", "11223344", nil),
            ("3F888001 01020304 05 81 71 00", "11223344", nil),
        ] as [(String, String, [UInt8]?)] {
            let found = try card(atr, identifier, ats: ats)
            guard case .nfcA(_, 0x20, _) = found.0, found.1?.isEmpty == false else {
                Issue.record("\(atr) is \(found)")
                continue
            }
        }
        let plain = try card("3B82800177 88", "01020304")
        #expect(plain.0 == .nfcA(atqa: 0x0004, sak: 0x20, uid: [1, 2, 3, 4]) && plain.1 == [4, 0x08, 0x77, 0x88])
        for (atr, uid, atqa): (String, String, UInt16) in [
            ("3B818001 80", "04112233445566", 0x0344), ("3B808001", "04112233445566", 0x0344),
            ("3B818001 81", "04112233445566", 0x0044), ("3B818001 80", "05112233445566", 0x0044),
            ("3B818001 80", "04112233", 0x0004), ("3B818001 80", "04112233445566778899", 0x0084),
        ] {
            #expect(try card(atr, uid).0 == .nfcA(atqa: atqa, sak: 0x20, uid: [UInt8](hex: uid)), "\(atr) \(uid)")
        }
        #expect(try card("3B818001 80", "0102030405").0 == .nfcA(atqa: 0x0004, sak: 0x20, uid: []))
    }

    @Test func `identifiers: UIDs have 4, 7 or 10 bytes; an ISO/IEC 15693 UID that only ends with E0 is reversed`() {
        for count in 0...11 {
            let found = TagIdentification.uniqueIdentifier([UInt8](repeating: 1, count: count))
            #expect(found.count == ([4, 7, 10].contains(count) ? count : 0))
        }
        for (told, uid) in [
            ("E004010203040506", "e004010203040506"), ("06050403020104E0", "e004010203040506"),
            ("E0010203040506E0", "e0010203040506e0"), ("0102030405060708", "0102030405060708"), ("E0040102030405", nil),
        ] as [(String, String?)] {
            #expect(TagIdentification.vicinityIdentifier([UInt8](hex: told))?.hex == uid, "\(told)")
        }
    }

    // MARK: The reader

    @Test func `features and properties of a reader: read from its lists (PC/SC part 10, 2.2 and 2.6.14)`() {
        func features(_ list: String, _ properties: String) -> ReaderFeatures {
            ReaderFeatures { code in
                code == 0x4200_0D48 ? [UInt8](hex: list) : code == 0x4233_0012 ? [UInt8](hex: properties) : nil
            }
        }
        let list = "1204 42330012 1304 42000001"
        let all = features(list, "0a04 00000100 0b02 2f07 0c02 0023 0803 312e32")
        #expect(all.codes == [0x12: 0x4233_0012, 0x13: 0x4200_0001] && all.escapeCode == 0x4200_0001)
        #expect(all.usbIdentifier == "072f:2300" && all.firmware == "1.2" && all.takesExtendedAPDUs == true)
        for (properties, takes) in [
            ("0a04 00010000", false), ("0a04 01010000", true), ("0a00", nil), ("0a05 0101000000", nil),
            ("0a01 05", false),
        ] as [(String, Bool?)] { #expect(features(list, properties).takesExtendedAPDUs == takes, "\(properties)") }
        for (properties, identifier) in [("0b02 2f07", nil), ("0c02 2f07", nil), ("0b01 0f 0c01 01", "000f:0001")]
            as [(String, String?)]
        { #expect(features(list, properties).usbIdentifier == identifier, "\(properties)") }
        #expect(features(list, "0803 312e").firmware == nil && features(list, "0900 0801 31").firmware == "1")
        // An entry of another length, and one that is cut.
        #expect(features("1203 42330012 1304 42000001", "").codes == [0x13: 0x4200_0001])
        #expect(features("1204 42330012 1304 420000", "").codes == [0x12: 0x4233_0012])
        #expect(ReaderFeatures { _ in nil }.codes == [:] && features("13", "").codes == [:])
    }

    @Test func `reader's name: whole words in it show a contactless reader, a contact slot or a PN53x`() {
        let words = """
            CL Contactless FeliCa NFC PaSoRi PCD PICC RF RFID TouchATag ACR122U ACR1255U ACR1281 ACR1552 Arygon PN533
            SCL3711 RC-S380 5022 5023 5027 5422 5427CK 3700 3720 4701 ACR125
            """
        for word in words.split(whereSeparator: \.isWhitespace) {
            #expect(ReaderChoice.isContactless(SmartCardReaderState("Some [\(word)] reader")), "\(word)")
            #expect(!ReaderChoice.isContactless(SmartCardReaderState("Some X\(word) reader")), "\(word)")
            for contact in ["SAM", "ICC", "Contact"] {
                #expect(!ReaderChoice.isContactless(SmartCardReaderState("Some \(word) \(contact)")), "\(word)")
            }
        }
        for name in ["ACR122U", "x PN532 y", "SCL3711", "touchatag"] { #expect(ReaderChoice.hasPN53x(name), "\(name)") }
        for name in ["ACR1252", "x APN532", "RC-S380"] { #expect(!ReaderChoice.hasPN53x(name), "\(name)") }
    }

    @Test
    func
        `choosing a reader: exact name, then prefix, then part; by default contactless by its card's ATR or its name`()
    {
        let names = [
            "Alcor Micro AU9540 00 00", "HID Global OMNIKEY 5422 Smartcard Reader 01 00",
            "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00",
            "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00", "Sony FeliCa Port/PaSoRi 3.0 00 00",
        ]
        let (similar, alike) = (["Another ACS 00 00", "ACS 00 00", "ACS"], ["B reader", "Reader A", "Reader", "SAM"])
        let rows: [(ReaderChoice, [String], String?)] = [
            (.firstContactless, names, names[1]), (.firstContactless, Array(names[2...]), names[3]),
            (.firstContactless, [names[0]], nil), (.firstContactless, [], nil), (.named(names[4]), names, names[4]),
            (.named("sony"), names, names[4]), (.named("picc"), names, names[3]), (.named("nothing"), names, nil),
            (.named("acs 0"), similar, similar[1]), (.named("acs"), similar, similar[2]),
            (.named("other acs"), similar, similar[0]), (.named("reader"), alike, "Reader"),
            (.named("reader "), alike, "Reader A"), (.named("read"), alike, "Reader A"), (.named("am"), alike, "SAM"),
            (.first, ["SAM"], "SAM"), (.first, ["SAM", "B reader"], "B reader"), (.first, ["B reader", "NFC"], "NFC"),
            (.first, ["A SAM 00 00", "B 00 00"], "B 00 00"), (.first, [], nil),
        ]
        for (choice, names, wanted) in rows {
            let states = names.map { SmartCardReaderState($0, flags: .empty) }
            #expect(choice.pick(from: states) == wanted, "\(choice) \(names)")
        }
        // A card in a reader shows better than a name what the reader is.
        var states = ["Something 00 00", "ACS ACR122U 00 00"].map { SmartCardReaderState($0, flags: .empty) }
        for (atr, wanted) in [("3B8180018080", 0), ("3BDA18FF81B1FE751F030031F573C001600090001C", 1)] {
            states[0].answerToReset = [UInt8](hex: atr)
            #expect(ReaderChoice.firstContactless.pick(from: states) == states[wanted].reader)
        }
    }
}
