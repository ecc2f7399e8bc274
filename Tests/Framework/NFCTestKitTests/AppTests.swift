// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCSessions
import NFCTestKit
import TestThreads
import Testing
import VirtualTags

/// The app's property list and entitlements in a test, and apps that are cards.
@Suite(.timeLimit(.minutes(10))) struct AppTests {
    private static let usage: [String: AppProperties.Value] = ["NFCReaderUsageDescription": "Cards are read."]
    private static let formats = "com.apple.developer.nfc.readersession.formats"
    private static let identifiers = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
    private static let ndef: [UInt8] = [0xD2, 0x76, 0, 0, 0x85, 1, 1]

    private static func app(selecting applications: [String], formats: AppProperties.Value = ["TAG"]) -> AppProperties {
        AppProperties(
            infoPlist: usage.merging([identifiers: AppProperties.Value(applications)]) { $1 },
            entitlements: [Self.formats: formats]
        )
    }

    /// A card with two applications.
    private static let card = TagSpec.script(
        [ndef, AppletReader.name].flatMap { name -> [(command: [UInt8], answer: [UInt8])] in
            let select = [0, 0xA4, 4, 0, 7] + name
            return [(select, [0x90, 0]), (select + [0], [0x90, 0])]
        }
    )

    /// Selects an application of a card.
    private final class Selector: TagClient, @unchecked Sendable {
        init() { super.init(.iso14443, bug: .none) }

        @MainActor override func work(with tag: NFCTag) async throws -> String {
            guard case .iso7816(let tag) = tag else { throw Failure.wrongTag }
            let command = NFCISO7816APDU(data: Data([0, 0xA4, 4, 0, 7] + AppletReader.name + [0]))
            let (_, high, low) = try await tag.sendCommand(apdu: try #require(command))
            return "\(high) \(low)"
        }
    }

    @Test(
        arguments: [
            // All is listed; the application is not listed: code 2, and the card hears nothing.
            (app(selecting: ["D2760000850101", "A0000002471001"]), nil),
            (app(selecting: ["D2760000850101"]), .readerErrorSecurityViolation),
            // The format is not among the entitlements: code 2 before any sheet.
            (app(selecting: ["A0000002471001"], formats: ["VAS"]), .readerErrorSecurityViolation),
        ] as [(AppProperties, NFCReaderError.Code?)]
    ) func `app's configuration: what it does not list fails as on a phone`(
        app: AppProperties,
        code: NFCReaderError.Code?
    ) async throws {
        try await withField(Self.card, app: app) { field in
            let result = try await field.completion("select") { Selector().start($0) }
            #expect(result.code == code && ((try? result.get()) == "144 0") == (code == nil))
            let heard = field.exchanges.contains { $0.request.bytes.contains(AppletReader.name) }
            #expect(heard == (code == nil))
            if app.entitlements?[Self.formats] != ["TAG"] {
                #expect(field.exchanges.isEmpty && field.sheetHistory.isEmpty)
            }
        }
    }

    @Test func `app without a usage text: ends the test with appEnds and the key, not the process`() async {
        let app = AppProperties(infoPlist: [:])
        let error = await #expect(throws: FieldError.self) {
            try await withField(Self.card, app: app) { field in
                _ = try await field.completion("select") { Selector().start($0) }
            }
        }
        #expect(error?.code == .appEnds && error?.reason.contains("NFCReaderUsageDescription is missing") == true)
        await #expect(throws: FieldError(.appEnds, "")) {
            try await explore(.losses, near: Self.card, app: app) { field in
                _ = try await field.completion("select") { Selector().start($0) }
            }
        }
    }

    // MARK: Files

    private static func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `app's files: read as XML and as binary property lists`(format: PropertyListSerialization.PropertyListFormat)
        throws
    {
        try Self.inFolder { folder in
            func write(_ name: String, _ list: [String: Any]) throws -> String {
                let file = folder.appending(path: name)
                try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0).write(to: file)
                return file.path
            }
            let info: [String: Any] = ["NFCReaderUsageDescription": "Why.", "UIMainStoryboard": [String: String]()]
            let entitlements: [String: Any] = [Self.formats: ["TAG", "NDEF"], "set": true, "not set": false, "one": 1]
            let app = try AppProperties(
                contentsOf: try write("Info.plist", info),
                entitlements: try write("App.entitlements", entitlements)
            )
            #expect(app.infoPlist == ["NFCReaderUsageDescription": "Why."])
            // Numbers are no flags.
            #expect(app.entitlements == [Self.formats: ["TAG", "NDEF"], "set": true, "not set": false])
        }
    }

    @Test func `Info.plist that is missing, not a dictionary, or over 1 MiB: throws badAppFile`() throws {
        let missing = #expect(throws: FieldError.self) { try AppProperties(contentsOf: "App/Missing.plist") }
        #expect(missing?.code == .badAppFile && missing?.reason.contains("App/Missing.plist") == true)
        let head = "<plist><dict><key>NFCReaderUsageDescription</key><string>x</string></dict></plist>"
        func padded(_ size: Int) -> String { head + String(repeating: "\n", count: size - head.utf8.count) }
        try Self.inFolder { folder in
            let rows: [(String, isRead: Bool)] = [
                ("", false), ("no list", false), ("<plist><array/></plist>", false), ("<plist><dict>", false),
                (padded(1 << 20), true), (padded((1 << 20) + 1), false),
            ]
            let file = folder.appending(path: "Info.plist")
            for (text, isRead) in rows {
                try Data(text.utf8).write(to: file)
                do {
                    let app = try AppProperties(contentsOf: file.path)
                    #expect(isRead && app.infoPlist == ["NFCReaderUsageDescription": "x"])
                } catch {
                    #expect(!isRead && (error as? FieldError)?.code == .badAppFile, "\(text.prefix(20))")
                }
            }
        }
    }

    // MARK: Apps that are cards

    private static let select: [UInt8] = [0, 0xA4, 4, 0, 2, 0xF0, 1]

    /// Becomes a card, and returns what a reader gets for a SELECT: its own bytes and 9000.
    private static func answer(to reader: VirtualCardReader) async throws -> [UInt8] {
        let session = try await CardSession()
        try await session.startEmulation()
        reader.approach()
        async let answer = reader.transmit(select)
        for try await event in session.eventStream {
            guard case .received(let apdu) = event else { continue }
            try await apdu.respond(response: apdu.payload + Data([0x90, 0]))
            break
        }
        let bytes = try await answer
        session.invalidate()
        return bytes
    }

    @Test
    func `card emulation in a field: the app answers the field's card reader; systemNotAvailable on a real reader`()
        async throws
    {
        try await withField { field in
            #expect(CardSession.isSupported)
            let answer = try await Self.answer(to: field.cardReader)
            #expect(answer == Self.select + [0x90, 0])
        }
        try await withVirtualField { scope in
            #expect(CardSession.isSupported)
            let answer = try await Self.answer(to: scope.cardReader)
            #expect(answer == Self.select + [0x90, 0])
        }
        try await withField(reader: .reader(.field(VirtualField()))) { _ in
            #expect(!CardSession.isSupported)
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
        }
        await withoutReader { #expect(!CardSession.isSupported) }
    }
}
