// SPDX-License-Identifier: Apache-2.0
import PropertyTesting
import TagImages
import TagScripts
import Testing
import VirtualTags

/// Images of random cards: what is written is read again, whatever a card holds.
struct RandomImageTests {
    private static let uid: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]
    private static let frontEnd = Type4FrontEnd.nfcA(uid: uid, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80])

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

    @Test func `Random DESFire and payment cards, versions and NDEF files: the same after writing and reading`()
        async throws
    {
        try await checkRule(cases: 60, of: { Self.desfire(&$0) }) { try Self.loss(of: .desfire($0)) }
        try await checkRule(cases: 30, of: { Self.payment(&$0) }) { try Self.loss(of: .emv($0)) }
        try await checkRule(cases: 20, of: { Self.version(&$0) }) { try Self.loss(of: .version($0)) }
        try await checkRule(cases: 30, of: { Self.files(&$0) }) { try Self.loss(of: .ndef(files: $0)) }
    }

    private static func version(_ draws: inout Draws) -> VersionCardContents {
        let family = draws.element(of: VersionCardContents.Family.allCases)
        var card = VersionCardContents(family, version: draws.bytes(count: 28...29))
        (card.cardType, card.memorySize, card.securityLevel) = (line(&draws), line(&draws), line(&draws))
        return card
    }

    private static func files(_ draws: inout Draws) -> [UInt16: [UInt8]] {
        var files = NDEFApplication(size: 32).files
        for _ in 0..<draws.int(in: 0...4) { files[UInt16(draws.int(in: 0...0xE102))] = draws.bytes(count: 0...40) }
        return files
    }

    private static func byte(_ draws: inout Draws) -> UInt8 { UInt8(draws.int(in: 0...255)) }

    private static func line(_ draws: inout Draws) -> String {
        let letters = ["a", "Z", " ", "\"", "\\", "/", "é", "日"]
        return draws.array(count: 0...12) { $0.element(of: letters) }.joined()
    }

    private static func payment(_ draws: inout Draws) -> EMVContents {
        var card = EMVContents(
            applicationIdentifier: draws.bytes(count: 5...16),
            accountNumber: draws.bytes(count: 0...10)
        )
        (card.label, card.name, card.cardholder) = (Self.line(&draws), Self.line(&draws), Self.line(&draws))
        card.interchangeProfile = draws.bytes(count: 2...2)
        card.country = UInt16(draws.int(in: 0...0xFFFF))
        card.currency = UInt16(draws.int(in: 0...0xFFFF))
        card.expiration = EMVContents.Date(draws.bytes(count: 3...3))
        card.effective = EMVContents.Date(draws.bytes(count: 3...3))
        if draws.happens(onceIn: 2) { card.pinTries = byte(&draws) }
        return card
    }

    private static func key(_ draws: inout Draws, _ kind: DESFireKey.Kind) -> DESFireKey {
        let bytes = draws.bytes(count: kind.length...kind.length)
        return DESFireKey(kind, bytes, version: byte(&draws)) ?? .zero(kind)
    }

    private static func desfire(_ draws: inout Draws) -> DESFireContents {
        var card = DESFireContents(
            uid: uid,
            generation: draws.element(of: DESFireContents.Generation.allCases),
            size: draws.element(of: DESFireContents.Size.allCases)
        )
        card.keySettings = byte(&draws)
        card.masterKey = key(&draws, draws.element(of: DESFireKey.Kind.allCases))
        card.configuration.usesRandomUID = draws.happens(onceIn: 2)
        card.configuration.isFormatDisabled = draws.happens(onceIn: 2)
        if draws.happens(onceIn: 2) { card.configuration.defaultKey = draws.bytes(count: 24...24) }
        card.configuration.defaultKeyVersion = byte(&draws)
        for number in 0..<draws.int(in: 1...3) {
            let (kind, code) = draws.element(of: [(DESFireKey.Kind.des, 0), (.tripleDES, 0x40), (.aes, 0x80)])
            let count = draws.int(in: 1...14)
            var application = DESFireApplication(
                identifier: UInt32(number << 16 | draws.int(in: 0...0xFFFF)),
                keySettings: byte(&draws),
                keyCount: UInt8(code | count | (draws.happens(onceIn: 2) ? 0x20 : 0)),
                keys: (0..<count).map { _ in draws.happens(onceIn: 2) ? key(&draws, kind) : .zero(kind) },
                isoIdentifier: draws.happens(onceIn: 2) ? UInt16(draws.int(in: 0...0xFFFF)) : nil,
                name: draws.happens(onceIn: 2) ? draws.bytes(count: 1...16) : nil
            )
            for number in 0..<draws.int(in: 0...5) {
                application.files.append(
                    DESFireFile(
                        number: UInt8(number == 4 ? 31 : number),
                        isoIdentifier: draws.happens(onceIn: 2) ? UInt16(draws.int(in: 0...0xFFFF)) : nil,
                        communication: CommunicationSettings(rawValue: UInt8(draws.int(in: 0...3))),
                        accessRights: FileAccessRights(rawValue: UInt16(draws.int(in: 0...0xFFFF))),
                        kind: Self.fileKind(&draws)
                    )
                )
            }
            card.applications.append(application)
        }
        return card
    }

    private static func fileKind(_ draws: inout Draws) -> DESFireFile.Kind {
        let ends: [Int32] = [0, 1, -1, .max, .min, 77]
        let kind = draws.int(in: 0...4)
        if kind == 0 { return .standard(draws.bytes(count: 0...50)) }
        if kind == 1 { return .backup(draws.bytes(count: 0...50)) }
        if kind == 2 {
            let (lower, upper, current) = (draws.element(of: ends), draws.element(of: ends), draws.element(of: ends))
            return .value(lower: lower, upper: upper, current: current, limitedCredit: draws.happens(onceIn: 2))
        }
        let (size, maximum) = (draws.int(in: 1...9), draws.int(in: 1...4))
        let count = size * draws.int(in: 0...maximum)
        let records = draws.bytes(count: count...count)
        return kind == 3
            ? .linearRecords(size: size, maximum: maximum, records: records)
            : .cyclicRecords(size: size, maximum: maximum, records: records)
    }
}
