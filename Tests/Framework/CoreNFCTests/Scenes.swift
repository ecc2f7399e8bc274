// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import VirtualTags

// MARK: Sessions

/// A session or a tag for another thread. Sendable because both may be used on any thread.
struct Shared<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// The session ended before it found a tag.
struct SessionEnded: Error {}
/// A tag of another kind than the test expects.
struct OtherKind: Error {}

func ndefSession(
    _ delegate: any NFCNDEFReaderSessionDelegate,
    once: Bool = false,
    queue: DispatchQueue? = nil
) -> NFCNDEFReaderSession {
    NFCNDEFReaderSession(delegate: delegate, queue: queue, invalidateAfterFirstRead: once)
}

func tagSession(
    _ delegate: any NFCTagReaderSessionDelegate,
    _ options: NFCTagReaderSession.PollingOption = .iso14443,
    queue: DispatchQueue? = nil
) -> NFCTagReaderSession {
    NFCTagReaderSession(configuration: .init(pollingOption: options), delegate: delegate, queue: queue)
}

/// A session for NDEF whose delegate takes tags, and the tags that it has found.
struct NDEFScene {
    let delegate = TagDelegate()
    let session: NFCNDEFReaderSession
    let tags: [any NFCNDEFTag]
    let tag: any NFCNDEFTag

    /// Begins the session, waits until it has found tags, and connects it to the first one.
    init(connects: Bool = true) async throws {
        session = ndefSession(delegate)
        session.begin()
        // An error, not a failed requirement: in tests that lose tags on purpose it is not a failure of the test.
        guard let tags = await delegate.nextNDEFTags(), let tag = tags.first else { throw SessionEnded() }
        (self.tags, self.tag) = (tags, tag)
        if connects { try await session.connect(to: tag) }
    }
}

/// A session for tags, and the tags that it has found.
struct TagScene {
    let delegate = TagSessionDelegate()
    let session: NFCTagReaderSession
    let tags: [NFCTag]
    let tag: NFCTag

    /// Begins the session, waits until it has found tags, and connects it to the first one.
    init(_ options: NFCTagReaderSession.PollingOption = .iso14443, connects: Bool = true) async throws {
        session = tagSession(delegate, options)
        session.begin()
        guard let tags = await delegate.nextTags(), let tag = tags.first else { throw SessionEnded() }
        (self.tags, self.tag) = (tags, tag)
        if connects { try await session.connect(to: tag) }
    }

    var miFare: any NFCMiFareTag { get throws { try tag.miFare } }
    var iso7816: any NFCISO7816Tag { get throws { try tag.iso7816 } }
    var feliCa: any NFCFeliCaTag { get throws { try tag.feliCa } }
    var iso15693: any NFCISO15693Tag { get throws { try tag.iso15693 } }
}

extension NFCTag {
    var miFare: any NFCMiFareTag {
        get throws { if case .miFare(let tag) = self { tag } else { throw OtherKind() } }
    }
    var iso7816: any NFCISO7816Tag {
        get throws { if case .iso7816(let tag) = self { tag } else { throw OtherKind() } }
    }
    var feliCa: any NFCFeliCaTag {
        get throws { if case .feliCa(let tag) = self { tag } else { throw OtherKind() } }
    }
    var iso15693: any NFCISO15693Tag {
        get throws { if case .iso15693(let tag) = self { tag } else { throw OtherKind() } }
    }
    /// The tag's object, whatever its kind.
    var plain: any NFCNDEFTag & __NFCTag {
        switch self {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    }
    /// The kind of the tag, and for a card what was selected.
    var kind: String {
        switch self {
        case .feliCa(let tag): "FeliCa \([UInt8](tag.currentSystemCode).hexText())"
        case .iso7816(let tag): "ISO 7816 \(tag.supportsPACE ? "PACE" : "")\(tag.initialSelectedAID)"
        case .iso15693: "ISO 15693"
        case .miFare: "MIFARE"
        }
    }
}

/// Runs `body` with a session for NDEF that has found tags, and ends the session.
func withNDEF(
    _ tags: any VirtualTag...,
    connects: Bool = true,
    _ body: (VirtualFieldScope, NDEFScene) async throws -> Void
) async throws {
    try await withVirtualField { field in
        for tag in tags { field.tags.bring(tag) }
        let scene = try await NDEFScene(connects: connects)
        try await body(field, scene)
        scene.session.invalidate()
        withExtendedLifetime(scene) {}
    }
}

/// Runs `body` with a session of an app for tags that has found some, and ends the session.
func withTags(
    _ tags: any VirtualTag...,
    app: AppConfiguration = AppConfiguration(),
    polling options: NFCTagReaderSession.PollingOption = .iso14443,
    connects: Bool = true,
    _ body: (VirtualFieldScope, TagScene) async throws -> Void
) async throws {
    try await AppConfiguration.$scoped.withValue(app) {
        try await withVirtualField { field in
            for tag in tags { field.tags.bring(tag) }
            let scene = try await TagScene(options, connects: connects)
            try await body(field, scene)
            scene.session.invalidate()
            withExtendedLifetime(scene) {}
        }
    }
}

// MARK: Apps

extension AppConfiguration {
    static let usage = "NFCReaderUsageDescription"
    static let formats = "com.apple.developer.nfc.readersession.formats"
    static let codes = "com.apple.developer.nfc.readersession.felica.systemcodes"
    static let aids = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"

    /// An app that lists applications and FeliCa systems.
    static func app(
        applications: [String] = [],
        systems: [String] = [],
        formats: [String] = ["TAG", "PACE"]
    ) -> AppConfiguration {
        AppConfiguration(
            infoPlist: .init(
                path: "App/Info.plist",
                values: [usage: ["Cards are read."], aids: applications, codes: systems]
            ),
            entitlements: .init(path: "App/App.entitlements", values: [self.formats: formats])
        )
    }
}

// MARK: Tags

/// The names of two applications.
enum AID {
    static let ndef = "D2760000850101"
    static let document = "A0000002471001"
}

enum TestTag {
    static let link = "https://example.com/a"
    static let idm = bytes("012e4ce19c5b1234")

    /// A message of one URI record.
    static func message(_ link: String = link) -> NFCNDEFMessage {
        NFCNDEFMessage(records: [NFCNDEFPayload.wellKnownTypeURIPayload(string: link)].compactMap(\.self))
    }

    /// A message of one record with so many bytes in all.
    static func message(size: Int) -> NFCNDEFMessage {
        let header = size > 261 ? 6 : 3
        return NFCNDEFMessage(records: [
            NFCNDEFPayload(
                format: .media,
                type: Data("a/b".utf8),
                identifier: Data(),
                payload: Data((0..<size - header - 3).map { UInt8(truncatingIfNeeded: $0) })
            )
        ])
    }

    /// An NTAG213 with its factory lock control TLV and a link, which is not abbreviated.
    static func ntag213(_ link: String = link, serial: UInt8 = 0) -> VirtualType2Tag {
        ntag213(message: [0xD1, 1, UInt8(link.utf8.count + 1), 0x55, 0] + Array(link.utf8), serial: serial)
    }

    /// An NTAG213 with its factory lock control TLV and a message of fewer than 255 bytes.
    static func ntag213(message: [UInt8], serial: UInt8 = 0) -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, serial])
        let messageTLV = [3, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(21..<21 + messageTLV.count, with: messageTLV)
        return VirtualType2Tag(contents)
    }

    /// An NTAG213 without a capability container.
    static func unformattedNTAG213() -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0])
        contents.memory.replaceSubrange(12..<16, with: [0, 0, 0, 0])
        return VirtualType2Tag(contents)
    }

    /// An NTAG213 with a link that asks for its password from a page on, to write it and perhaps to read it.
    static func protectedNTAG213(from page: UInt8, reading: Bool = false) -> VirtualType2Tag {
        var contents = ntag213().contents
        // AUTH0 in page 29h, PROT in page 2Ah. The password is the factory's, FFFFFFFF.
        contents.memory[0x29 * 4 + 3] = page
        contents.memory[0x2A * 4] = reading ? 0x80 : 0
        return VirtualType2Tag(contents)
    }

    /// A FeliCa Standard card with an NDEF system.
    static func feliCa() -> VirtualType3Tag {
        VirtualType3Tag(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndefBlocks: 64)]))
    }

    /// A FeliCa Standard card with the system 0003.
    static func transitCard() -> VirtualType3Tag { VirtualType3Tag(.transitCard(idm: idm, balance: 500)) }

    /// A FeliCa Standard card with two systems.
    static func twoSystems() -> FeliCaStandardContents {
        FeliCaStandardContents(idm: idm, systems: [0x0003, 0xFE00].map { FeliCaSystem(code: $0, files: []) })
    }

    /// A card with the NDEF application.
    static func ndefCard(_ number: UInt8 = 1) -> VirtualType4Tag {
        VirtualType4Tag(
            card: ApplicationCard([NDEFApplication()]),
            frontEnd: .nfcA(uid: [0x04, number, 1, 1, 1, 1, 1], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        )
    }

    /// How a card answers for its file EF.CardAccess.
    enum Access { case none, chipAuthentication, pace }

    /// A card with applications that answers GET CHALLENGE with CAFE.
    static func card(_ names: [String] = [], access: Access = .none) -> ScriptedCard {
        var card = ScriptedCard(otherwise: CardAnswer(status: .notFound))
        for name in names.map(bytes) {
            card.answer([0x00, 0xA4, 0x04, 0x00, UInt8(name.count)] + name + [0x00], with: [0x90, 0x00])
        }
        card.answer(bytes("0084000002"), with: bytes("cafe9000"))
        if access != .none {
            card.answer(bytes("00a4020c02011c"), with: [0x90, 0x00])
            card.answer(bytes("00b0000000"), with: access == .pace ? cardAccess + [0x90, 0x00] : chipAuthentication)
        }
        return card
    }

    /// An EF.CardAccess with PACE (ICAO 9303-11, 9.2).
    static let cardAccess = bytes("31143012060a04007f0007020204020202010202010d")
    private static let chipAuthentication = bytes("31143012060a04007f0007020203020202010202010d9000")
}

extension NFCNDEFMessage {
    /// The link of the first record, with its scheme; nil for another record.
    var link: String? { records.first?.wellKnownTypeURIPayload()?.absoluteString }
}

// MARK: Commands and errors

extension NFCISO7816Tag {
    /// Sends an APDU, and returns the answer with its status word, in hex.
    func send(_ apdu: String) async throws -> String {
        guard let apdu = NFCISO7816APDU(data: Data(bytes(apdu))) else { throw OtherKind() }
        let (data, sw1, sw2) = try await sendCommand(apdu: apdu)
        return (data + [sw1, sw2]).hexText()
    }
}

extension NFCMiFareTag {
    /// Sends a command, and returns the answer, in hex.
    func send(_ command: String) async throws -> String {
        try await sendMiFareCommand(commandPacket: Data(bytes(command))).hexText()
    }

    /// Sends an APDU, and returns the answer with its status word, in hex.
    func sendAPDU(_ apdu: String) async throws -> String {
        guard let apdu = NFCISO7816APDU(data: Data(bytes(apdu))) else { throw OtherKind() }
        let (data, sw1, sw2) = try await sendMiFareISO7816Command(apdu)
        return (data + [sw1, sw2]).hexText()
    }
}

/// The bytes of hex digits. Spaces are skipped.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// The error that an operation throws; nil when it throws none or another kind.
func readerError<Value>(_ operation: () async throws -> Value) async -> NFCReaderError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? NFCReaderError
    }
}

/// The code of the `NFCReaderError` with which an operation fails; 0 when it succeeds, and -1 for another error.
func code<Value>(_ operation: () async throws -> Value) async -> Int {
    do {
        _ = try await operation()
        return 0
    } catch {
        return code(of: error)
    }
}

/// The code of an error; 0 for none, and -1 for one that is no `NFCReaderError`.
func code(of error: (any Error)?) -> Int {
    guard let error else { return 0 }
    return (error as? NFCReaderError)?.errorCode ?? -1
}
