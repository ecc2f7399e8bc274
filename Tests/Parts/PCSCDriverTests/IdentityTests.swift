// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver

/// Checks how the few data that a reader reports about a tag and itself are interpreted.
struct IdentityTests {
    private typealias Kind = AnswerToReset.StorageCard.Kind

    private static func kind(_ standard: UInt8, _ name: UInt16) -> AnswerToReset.StorageCard.Kind {
        AnswerToReset.StorageCard(standard: standard, name: name).kind
    }

    @Test("A storage card's kind goes by its name where readers use names of their own, and by its standard else")
    func kinds() {
        for name: UInt16 in [0xF004, 0x002F, 0x0030] { #expect(Self.kind(0x03, name) == .type1) }
        for name: UInt16 in [0xF011, 0xF012, 0x003B] { #expect(Self.kind(0x03, name) == .nfcF) }
        for sak: UInt8 in [0x00, 0x08, 0xFF] { #expect(Self.kind(0x03, 0xFF00 | UInt16(sak)) == .nfcA(sak: sak)) }
        #expect(Self.kind(0x02, 0xFF08) == .nfcA(sak: nil) && Self.kind(0x03, 0xFEFF) == .nfcA(sak: nil))
        let saks: [UInt16: UInt8] = [
            0x0001: 0x08, 0x0002: 0x18, 0x0003: 0x00, 0x0026: 0x09, 0x0036: 0x08, 0x0037: 0x18, 0x0038: 0x10,
            0x0039: 0x11, 0x003A: 0x00, 0x003D: 0x00,
        ]
        for (name, sak) in saks {
            for standard: UInt8 in [0x00, 0x01, 0x02, 0x03] { #expect(Self.kind(standard, name) == .nfcA(sak: sak)) }
        }
        for name: UInt16 in [0x0012, 0x0014, 0x0015, 0x0016, 0x0017, 0x0018, 0x0035] {
            #expect(Self.kind(0, name) == .nfcV)
        }
        #expect(Self.kind(0, 0x0013) == .other("card of an unknown kind"))
        #expect(Self.kind(0x04, 0) == .other("card of an unknown kind") && Self.kind(0x12, 0) == Self.kind(0x04, 0))
        for standard: UInt8 in 0x05...0x07 { #expect(Self.kind(standard, 0) == .other("Type B memory card")) }
        #expect(Self.kind(0x08, 0) == .other("card of an unknown kind"))
        for standard: UInt8 in 0x09...0x0C { #expect(Self.kind(standard, 0) == .nfcV) }
        for standard: UInt8 in 0x0D...0x10 { #expect(Self.kind(standard, 0) == .other("memory card with contacts")) }
        #expect(Self.kind(0x11, 0) == .nfcF && Self.kind(0x40, 0) == .other("low frequency transponder"))
        let technologies: [Technology?] = [Kind.nfcA(sak: 0), .type1, .nfcF, .nfcV, .other("")].map(\.technology)
        #expect(technologies == [.nfcA, .nfcA, .nfcF, .nfcV, nil])
    }

    @Test("An ATR's interface bytes are counted through all their groups")
    func interfaceBytes() throws {
        let cases: [(String, String, Bool)] = [
            ("3B00", "", false), ("3F00", "", false), ("3B80 8001", "", true), ("3B81 8001 77", "77", true),
            ("3F81 8001 77", "77", false), ("3B82 8001 7788", "7788", true), ("3B81 8001 77 00", "77", true),
            ("3B F1 96 00 81 31 FE 45 77 55", "77", false), ("3BD1 18FF 81 B1 FE 75 1F 03 77", "77", false),
        ]
        for (hex, historical, isContactless) in cases {
            let answer = AnswerToReset([UInt8](hex: hex))
            #expect(answer?.historicalBytes.hex == historical, "\(hex)")
            #expect(answer?.isContactless == isContactless, "\(hex)")
        }
        let longest = [UInt8](hex: "3B8F8001") + [UInt8](repeating: 0, count: 29)
        #expect(AnswerToReset(longest) != nil && AnswerToReset(longest + [0]) == nil)
        #expect(AnswerToReset([0x3B]) == nil && AnswerToReset([0x3C, 0]) == nil)
    }

    @Test("A storage card has the identifier of PC/SC's list of names in its historical bytes")
    func registered() {
        func card(_ historical: String) -> AnswerToReset.StorageCard? {
            let bytes = [UInt8](hex: historical)
            return AnswerToReset([0x3B, 0x80 | UInt8(bytes.count), 0x80, 0x01] + bytes)?.storageCard
        }
        #expect(card("804F0CA000000306030001") == AnswerToReset.StorageCard(standard: 3, name: 1))
        #expect(card("804F0CA0000003060300FF00000000") == AnswerToReset.StorageCard(standard: 3, name: 0xFF))
        for bad in [
            "804F0CA0000003060300", "814F0CA000000306030001", "80500CA000000306030001", "804F0CA000000307030001",
        ] {
            #expect(card(bad) == nil)
        }
    }

    @Test("A card with ISO-DEP is of Type B by its application data, and of Type A else")
    func cards() throws {
        func card(_ atr: String, _ identifier: String, ats: [UInt8]? = nil) throws -> (DiscoveredTag.Identity, [UInt8]?)
        {
            let answer = try #require(AnswerToReset([UInt8](hex: atr)))
            let found = TagIdentification.card(answer, identifier: [UInt8](hex: identifier), answerToSelect: ats)
            return (found.identity, found.answerToSelect)
        }
        let typeB = "3B888001 01020304 05 81 71 00"
        let b = try card(typeB, "11223344")
        #expect(b.0 == .nfcB(answer: [UInt8](hex: "50 11223344 01020304 058171")) && b.1 == nil)
        // Whatever of it is missing, it is a card of Type A with these historical bytes.
        for (atr, identifier, ats) in [
            (typeB, "1122334455", nil), (typeB, "11223344", [2, 0]), ("3B888001 01020304 05 80 71 01", "11223344", nil),
            ("3B888001 01020304 05 80 71 00", "11223344", nil), ("3B878001 01020304 05 81 71", "11223344", nil),
            ("3F888001 01020304 05 81 71 00", "11223344", nil),
        ] as [(String, String, [UInt8]?)] {
            let found = try card(atr, identifier, ats: ats)
            guard case .nfcA(_, 0x20, _) = found.0 else {
                Issue.record("\(atr) is \(found.0)")
                continue
            }
            #expect(found.1?.isEmpty == false)
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

    @Test("An ATS is the reader's where it has a length, and made of historical bytes else")
    func answersToSelect() throws {
        func told(_ answer: String) throws -> [UInt8]? {
            let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca010000": answer])
            let connection = CardConnection(
                service: ServiceConnection(layer: service, limits: .usual),
                reader: SampleCards.name
            )
            try connection.open(isInUse: false)
            defer { connection.close(.leave) }
            return try TagIdentification.answerToSelect(connection)?.bytes
        }
        #expect(try told("03 7780 9000".replacing(" ", with: "")) == [3, 0x77, 0x80])
        #expect(try told("047780" + "9000") == [5, 8, 4, 0x77, 0x80])
        #expect(try told("9000") == [2, 8])
        #expect(try told("6a81") == nil)
        #expect(TagIdentification.makeAnswerToSelect(historicalBytes: [UInt8](repeating: 1, count: 300)).count == 255)
    }

    @Test("A UID of ISO/IEC 15693 begins with E0 when it is turned round, and has eight bytes")
    func vicinity() {
        let uid: [UInt8] = [0xE0, 4, 1, 2, 3, 4, 5, 6]
        #expect(TagIdentification.vicinityIdentifier(uid) == uid)
        #expect(TagIdentification.vicinityIdentifier(uid.reversed()) == uid)
        let both: [UInt8] = [0xE0, 1, 2, 3, 4, 5, 6, 0xE0]
        #expect(TagIdentification.vicinityIdentifier(both) == both)
        let neither: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        #expect(TagIdentification.vicinityIdentifier(neither) == neither)
        #expect(TagIdentification.vicinityIdentifier(Array(uid.dropLast())) == nil)
        for count in 0...11 {
            let found = TagIdentification.uniqueIdentifier([UInt8](repeating: 1, count: count))
            #expect(found.count == ([4, 7, 10].contains(count) ? count : 0))
        }
    }

    @Test("A reader's answer ends with its status word, of four digits")
    func readerAnswers() {
        #expect(ReaderAnswer([0x90]) == nil)
        #expect(ReaderAnswer([0x90, 0x00])?.isDone == true && ReaderAnswer([0x90, 0x00])?.data == [])
        #expect(ReaderAnswer([1, 2, 0x63, 0x00])?.data == [1, 2] && ReaderAnswer([1, 0x90, 0x01])?.isDone == false)
        #expect(ReaderAnswer([0x00, 0x0F])?.statusText == "000f" && ReaderAnswer([0x6A, 0x81])?.statusText == "6a81")
    }

    // MARK: The reader

    @Test("A reader's features are read from its lists, and a list that is cut ends there")
    func features() {
        func features(_ list: String, _ properties: String) -> ReaderFeatures {
            ReaderFeatures { code in
                code == 0x4200_0D48 ? [UInt8](hex: list) : code == 0x4233_0012 ? [UInt8](hex: properties) : nil
            }
        }
        let list = "1204 42330012 1304 42000001"
        let all = features(list, "0a04 00000100 0b02 2f07 0c02 0023 0803 312e32")
        #expect(all.codes == [0x12: 0x4233_0012, 0x13: 0x4200_0001] && all.escapeCode == 0x4200_0001)
        #expect(all.usbIdentifier == "072f:2300" && all.firmware == "1.2")
        #expect(all.takesExtendedAPDUs == true)
        #expect(features(list, "0a04 00010000").takesExtendedAPDUs == false)
        #expect(features(list, "0a04 01010000").takesExtendedAPDUs == true)
        #expect(
            features(list, "0a00").takesExtendedAPDUs == nil
                && features(list, "0a05 0101000000").takesExtendedAPDUs == nil
        )
        #expect(features(list, "0a01 05").takesExtendedAPDUs == false)
        #expect(features(list, "0b02 2f07").usbIdentifier == nil && features(list, "0c02 2f07").usbIdentifier == nil)
        #expect(features(list, "0b01 0f 0c01 01").usbIdentifier == "000f:0001")
        #expect(features(list, "0803 312e").firmware == nil && features(list, "08").properties == [:])
        #expect(features(list, "0900 0801 31").firmware == "1")
        // An entry of another length, and one that is cut.
        #expect(features("1203 42330012 1304 42000001", "").codes == [0x13: 0x4200_0001])
        #expect(features("1204 42330012 1304 420000", "").codes == [0x12: 0x4233_0012])
        #expect(ReaderFeatures { _ in nil }.codes == [:] && features("13", "").codes == [:])
    }

    @Test("A reader is contactless by a word of its name, and one with contacts by another")
    func names() {
        for word in [
            "CL", "Contactless", "FeliCa", "NFC", "PaSoRi", "PCD", "PICC", "RF", "RFID", "TouchATag", "ACR122U",
            "ACR1255U",
            "ACR1281", "ACR1552", "Arygon", "PN533", "SCL3711", "RC-S380", "5022", "5023", "5027", "5422", "5427CK",
            "3700",
            "3720", "4701", "ACR125",
        ] {
            #expect(ReaderChoice.isContactless(SmartCardReaderState("Some [\(word)] reader")), "\(word)")
            #expect(!ReaderChoice.isContactless(SmartCardReaderState("Some X\(word) reader")), "\(word)")
            for contact in ["SAM", "ICC", "Contact"] {
                #expect(!ReaderChoice.isContactless(SmartCardReaderState("Some \(word) \(contact)")))
            }
        }
        for name in ["ACR122U", "x PN532 y", "SCL3711", "touchatag"] { #expect(ReaderChoice.hasPN53x(name)) }
        for name in ["ACR1252", "x APN532", "RC-S380"] { #expect(!ReaderChoice.hasPN53x(name)) }
    }

    @Test("Of readers whose names begin alike, or have a part alike, the better match is taken")
    func choices() {
        let states = ["B reader", "Reader A", "Reader", "SAM"].map { SmartCardReaderState($0) }
        #expect(ReaderChoice.named("reader").pick(from: states) == "Reader")
        #expect(ReaderChoice.named("reader ").pick(from: states) == "Reader A")
        #expect(ReaderChoice.named("read").pick(from: states) == "Reader A")
        #expect(ReaderChoice.named("am").pick(from: states) == "SAM")
        #expect(ReaderChoice.first.pick(from: [states[3]]) == "SAM")
        #expect(ReaderChoice.first.pick(from: [states[3], states[0]]) == "B reader")
        #expect(ReaderChoice.first.pick(from: [states[0], SmartCardReaderState("NFC")]) == "NFC")
        #expect(ReaderChoice.first.pick(from: []) == nil)
    }
}
