// SPDX-License-Identifier: Apache-2.0
import PropertyTesting
import TagImages
import Testing
import VirtualCards
import VirtualTags

/// Checks that an image keeps all that a card has, whatever that is.
@Suite struct `An image of any card` {
    fileprivate static let uid: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]
    private static let frontEnd = Type4FrontEnd.nfcA(
        uid: uid,
        ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]
    )

    /// What is lost when contents are written and read again; nil when nothing is.
    private static func loss(of kind: Type4Contents.Kind) throws -> String? {
        let contents = TagContents.type4(Type4Contents(frontEnd: frontEnd, kind: kind))
        let bytes = try TagImage(contents).encoded()
        let image = try TagImage(parsing: bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        guard image.contents == contents else { return "\(text)\nis read as\n\(image.contents)" }
        return try image.encoded() == bytes && TagImage(image.contents).encoded() == bytes
            ? nil : "\(text) is not written as it was."
    }

    @Test func `A DESFire is written and read as it is`() async throws {
        try await checkRule(cases: 100, of: { DESFireContents(&$0) }) { try Self.loss(of: .desfire($0)) }
    }

    @Test func `An EMV card is written and read as it is`() async throws {
        try await checkRule(cases: 100, of: { EMVContents(&$0) }) { try Self.loss(of: .emv($0)) }
    }

    @Test func `A card that is known by its version is written and read as it is`() async throws {
        try await checkRule(cases: 60, of: { VersionCardContents(&$0) }) { try Self.loss(of: .version($0)) }
    }

    @Test func `An application of files is written and read as it is`() async throws {
        try await checkRule(
            cases: 100,
            of: { draws in
                var files = NDEFApplication(size: 32).files
                for _ in 0..<draws.int(in: 0...4) {
                    files[UInt16(draws.int(in: 0...0xE102))] = draws.bytes(count: 0...40)
                }
                return files
            },
            problem: { try Self.loss(of: .ndef(files: $0)) }
        )
    }

    // MARK: The ends of ranges

    private static func failure(_ text: String) -> TagImageError.Code? {
        do {
            _ = try TagImage(parsing: Array(text.utf8))
            return nil
        } catch {
            return error.code
        }
    }

    /// A DESFire whose only file has these members.
    private static func desfire(_ file: String, applications: String? = nil) throws -> String {
        let contents = DESFireContents(uid: uid, applications: [DESFireApplication(identifier: 1)])
        let image = TagContents.type4(Type4Contents(frontEnd: frontEnd, kind: .desfire(contents)))
        let text = String(decoding: try TagImage(image).encoded(), as: UTF8.self)
        #expect(text.contains(#""files": {}"#) && text.contains("000001"))
        let members = #""communication": "00", "access_rights": "eeee", "#
        let changed = text.replacing(#""files": {}"#, with: "\"files\": {\(file.replacing("M ", with: members))}")
        return applications.map { changed.replacing(#""000001": {"#, with: "\($0)\"000001\": {") } ?? changed
    }

    @Test(
        arguments: [
            (#""1f": {M "type": "standard", "data": "00"}"#, nil), (#""00": {M "type": "backup"}"#, nil),
            (#""20": {M "type": "standard"}"#, .malformed), (#""1": {M "type": "standard"}"#, .malformed),
            (#""01": {M "type": "heap"}"#, .unsupported), (#""01": {M "data": ""}"#, .missingField),
            (#""01": {M "type": "value", "lower": -2147483648, "upper": 2147483647}"#, nil),
            (#""01": {M "type": "value", "lower": -2147483649}"#, .malformed),
            (#""01": {M "type": "value", "upper": 2147483648}"#, .malformed),
            (#""01": {M "type": "linear", "size": 65535, "maximum": 1}"#, nil),
            (#""01": {M "type": "linear", "size": 256, "maximum": 256}"#, nil),
            (#""01": {M "type": "linear", "size": 1, "maximum": 65535}"#, nil),
            (#""01": {M "type": "linear", "size": 257, "maximum": 256}"#, .inconsistent),
            (#""01": {M "type": "cyclic", "size": 0, "maximum": 1}"#, .malformed),
            (#""01": {M "type": "cyclic", "size": 65536, "maximum": 1}"#, .malformed),
            (#""01": {M "type": "cyclic", "size": 2, "maximum": 65536}"#, .malformed),
            (#""01": {M "type": "cyclic", "size": 2, "maximum": 2, "data": "01020304"}"#, nil),
            (#""01": {M "type": "cyclic", "size": 2, "maximum": 2, "data": "010203"}"#, .inconsistent),
            (#""01": {M "type": "cyclic", "size": 2, "maximum": 1, "data": "01020304"}"#, .inconsistent),
            (#""01": {M "type": "standard", "iso_id": "E1"}"#, .malformed),
            (#""01": {"type": "standard", "communication": "0000", "access_rights": "eeee"}"#, .malformed),
            (#""01": {"type": "standard", "communication": "00", "access_rights": "ee"}"#, .malformed),
        ] as [(String, TagImageError.Code?)]
    ) func `A file of a DESFire has its ranges`(file: String, code: TagImageError.Code?) throws {
        #expect(Self.failure(try Self.desfire(file)) == code)
    }

    @Test(arguments: [(27, nil), (28, .inconsistent)] as [(Int, TagImageError.Code?)])
    func `A DESFire has 28 applications at most`(others: Int, code: TagImageError.Code?) throws {
        let more = (0..<others).map { index in
            #""0001\#(index < 16 ? "0" : "")\#(String(index, radix: 16))": {"key_settings": "0f21", "files": {}}, "#
        }
        #expect(Self.failure(try Self.desfire("", applications: more.joined())) == code)
        #expect(
            Self.failure(try Self.desfire("", applications: #""00001": {"key_settings": "0f21", "files": {}}, "#))
                == .malformed
        )
    }

    @Test func `A file has a size at most`() {
        let text = Array("{}".utf8)
        func code(_ count: Int) -> TagImageError.Code? {
            do {
                _ = try TagImage(parsing: text + [UInt8](repeating: 0x20, count: count - text.count))
                return nil
            } catch {
                return error.code
            }
        }
        #expect(TagImage.maximumSize == 262_144)
        #expect(code(TagImage.maximumSize) == .unknownFormat)
        #expect(code(TagImage.maximumSize + 1) == .tooLarge)
    }

    @Test func `Every format but TagInfo's is written`() {
        #expect(TagImage.Format.allCases.filter { !$0.isWritten } == [.tagInfo])
    }
}

// MARK: Random cards

extension DESFireContents {
    fileprivate init(_ draws: inout Draws) {
        self.init(
            uid: `An image of any card`.uid,
            generation: draws.element(of: Generation.allCases),
            size: draws.element(of: Size.allCases),
            applications: []
        )
        keySettings = UInt8(draws.int(in: 0...255))
        masterKey = DESFireKey(&draws, kind: draws.element(of: DESFireKey.Kind.allCases))
        configuration.usesRandomUID = draws.happens(onceIn: 2)
        configuration.isFormatDisabled = draws.happens(onceIn: 2)
        if draws.happens(onceIn: 2) { configuration.defaultKey = draws.bytes(count: 24...24) }
        configuration.defaultKeyVersion = UInt8(draws.int(in: 0...255))
        for number in 0..<draws.int(in: 1...3) {
            applications.append(
                DESFireApplication(&draws, identifier: UInt32(number << 16 | draws.int(in: 0...0xFFFF)))
            )
        }
    }
}

extension DESFireKey {
    fileprivate init(_ draws: inout Draws, kind: Kind) {
        let bytes = draws.bytes(count: kind.length...kind.length)
        let version = UInt8(draws.int(in: 0...255))
        self = DESFireKey(kind, bytes, version: version) ?? .zero(kind)
    }
}

extension DESFireApplication {
    fileprivate init(_ draws: inout Draws, identifier: UInt32) {
        let count = draws.int(in: 1...14)
        let (kind, code) = draws.element(of: [(DESFireKey.Kind.des, 0), (.tripleDES, 0x40), (.aes, 0x80)])
        self.init(
            identifier: identifier,
            keySettings: UInt8(draws.int(in: 0...255)),
            keyCount: UInt8(code | count | (draws.happens(onceIn: 2) ? 0x20 : 0)),
            keys: (0..<count).map { _ in draws.happens(onceIn: 2) ? DESFireKey(&draws, kind: kind) : .zero(kind) },
            isoIdentifier: draws.happens(onceIn: 2) ? UInt16(draws.int(in: 0...0xFFFF)) : nil,
            name: draws.happens(onceIn: 2) ? draws.bytes(count: 1...16) : nil
        )
        for number in 0..<draws.int(in: 0...5) {
            files.append(DESFireFile(&draws, number: UInt8(number == 4 ? 31 : number)))
        }
    }
}

extension DESFireFile {
    fileprivate init(_ draws: inout Draws, number: UInt8) {
        self.init(
            number: number,
            isoIdentifier: draws.happens(onceIn: 2) ? UInt16(draws.int(in: 0...0xFFFF)) : nil,
            communication: CommunicationSettings(rawValue: UInt8(draws.int(in: 0...3))),
            accessRights: FileAccessRights(rawValue: UInt16(draws.int(in: 0...0xFFFF))),
            kind: Kind(&draws)
        )
    }
}

extension DESFireFile.Kind {
    fileprivate init(_ draws: inout Draws) {
        func number(_ draws: inout Draws) -> Int32 {
            Int32(truncatingIfNeeded: draws.element(of: [0, 1, -1, Int(Int32.max), Int(Int32.min), 77]))
        }
        switch draws.int(in: 0...4) {
        case 0: self = .standard(draws.bytes(count: 0...50))
        case 1: self = .backup(draws.bytes(count: 0...50))
        case 2:
            self = .value(
                lower: number(&draws),
                upper: number(&draws),
                current: number(&draws),
                limitedCredit: draws.happens(onceIn: 2)
            )
        case let kind:
            let size = draws.int(in: 1...9)
            let maximum = draws.int(in: 1...4)
            let count = size * draws.int(in: 0...maximum)
            let records = draws.bytes(count: count...count)
            self =
                kind == 3
                ? .linearRecords(size: size, maximum: maximum, records: records)
                : .cyclicRecords(size: size, maximum: maximum, records: records)
        }
    }
}

extension Draws {
    /// A line of text; the plainest is empty.
    fileprivate mutating func line() -> String {
        String(array(count: 0...12) { $0.element(of: ["a", "Z", " ", "\"", "\\", "/", "é", "日"]) }.joined().prefix(16))
    }
}

extension EMVContents {
    fileprivate init(_ draws: inout Draws) {
        self.init(applicationIdentifier: draws.bytes(count: 5...16), accountNumber: draws.bytes(count: 0...10))
        (label, name, cardholder) = (draws.line(), draws.line(), draws.line())
        interchangeProfile = draws.bytes(count: 2...2)
        country = UInt16(draws.int(in: 0...0xFFFF))
        currency = UInt16(draws.int(in: 0...0xFFFF))
        expiration = Date(draws.bytes(count: 3...3))
        effective = Date(draws.bytes(count: 3...3))
        if draws.happens(onceIn: 2) { pinTries = UInt8(draws.int(in: 0...255)) }
    }
}

extension VersionCardContents {
    fileprivate init(_ draws: inout Draws) {
        self.init(draws.element(of: Family.allCases), version: draws.bytes(count: 28...29))
        (cardType, memorySize, securityLevel) = (draws.line(), draws.line(), draws.line())
    }
}
