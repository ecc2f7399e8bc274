// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(5))) struct `An app's configuration` {
    typealias File = AppConfiguration.PropertyFile
    private typealias Cards = `Cards in a session for tags`

    static let usage = "NFCReaderUsageDescription"
    static let formats = "com.apple.developer.nfc.readersession.formats"
    static let codes = "com.apple.developer.nfc.readersession.felica.systemcodes"
    static let aids = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"

    static func plist(_ values: [String: [String]]) -> File { File(path: "App/Info.plist", values: values) }
    static func entitlements(_ values: [String: [String]]) -> File {
        File(path: "App/App.entitlements", values: values)
    }

    /// The word for a verdict and the key that it is about.
    static func verdict(_ configuration: AppConfiguration, _ request: AppConfiguration.Request) -> String {
        switch AppConfiguration.evaluate(configuration, request) {
        case .allowed(let notes): "allowed \(notes.map(\.key.rawValue).joined(separator: " "))"
        case .refused(let violation): "refused \(violation.key.rawValue)"
        case .endsProcess(let violation): "ends \(violation.key.rawValue)"
        }
    }

    @Test func `Without files every session runs, with a note of what iOS would want`() {
        let none = AppConfiguration()
        #expect(Self.verdict(none, .ndef) == "allowed \(Self.usage) \(Self.formats)")
        #expect(Self.verdict(none, .tags(feliCa: true, pace: false)).contains(Self.codes))
        #expect(none.violation(ofPolling: Data([0, 3])) == nil)
        for (request, keys) in [
            (AppConfiguration.Request.tags(feliCa: false, pace: false), [Self.usage, Self.formats]),
            (.tags(feliCa: false, pace: true), [Self.usage, Self.formats, Self.formats]),
            (.tags(feliCa: true, pace: false), [Self.usage, Self.formats, Self.codes]),
            (.vas, [Self.usage, Self.formats]), (.payment, [Self.usage, Self.formats]),
            (.cardEmulation, ["com.apple.developer.nfc.hce"]),
        ] {
            #expect(Self.verdict(none, request) == "allowed \(keys.joined(separator: " "))")
        }
    }

    @Test func `A property list without a usage description ends the process`() {
        for values in [[:], [Self.usage: [""]]] {
            let configuration = AppConfiguration(infoPlist: Self.plist(values))
            #expect(Self.verdict(configuration, .ndef) == "ends \(Self.usage)")
        }
    }

    @Test(arguments: [
        (AppConfiguration.Request.ndef, ["NDEF"], true), (.ndef, ["TAG"], true), (.ndef, [], false),
        (.tags(feliCa: false, pace: false), ["TAG"], true), (.tags(feliCa: false, pace: false), ["NDEF"], false),
        (.tags(feliCa: false, pace: true), ["TAG"], false), (.tags(feliCa: false, pace: true), ["TAG", "PACE"], true),
        (.vas, ["TAG"], false), (.vas, ["VAS"], true), (.payment, ["TAG"], true),
    ]) func `Entitlements without the format refuse the session`(
        request: AppConfiguration.Request,
        formats: [String],
        isAllowed: Bool
    ) {
        let configuration = AppConfiguration(
            infoPlist: Self.plist([Self.usage: ["Why."]]),
            entitlements: Self.entitlements([Self.formats: formats])
        )
        #expect(Self.verdict(configuration, request) == (isAllowed ? "allowed " : "refused \(Self.formats)"))
        var strict = configuration
        strict.isStrict = true
        #expect(Self.verdict(strict, request) == (isAllowed ? "allowed " : "ends \(Self.formats)"))
    }

    @Test func `FeliCa needs system codes, and polling one that is listed`() throws {
        var values = [Self.usage: ["Why."]]
        #expect(
            Self.verdict(AppConfiguration(infoPlist: Self.plist(values)), .tags(feliCa: true, pace: false))
                == "refused \(Self.codes)"
        )
        values[Self.codes] = ["0003", "fe00"]
        let configuration = AppConfiguration(infoPlist: Self.plist(values))
        #expect(configuration.violation(ofPolling: Data([0xFE, 0x00])) == nil)
        let error = try #require(configuration.violation(ofPolling: Data([0x88, 0xB4])))
        #expect(error.code == .readerErrorSecurityViolation)
        let reason = try #require(error.userInfo[NSLocalizedFailureReasonErrorKey] as? String)
        #expect(reason.contains(Self.codes) && reason.contains("App/Info.plist") && reason.contains("88B4"))
        #expect(error.localizedDescription == "Missing required entitlement")
    }

    @Test func `Selecting an application that is not listed fails with code 2, and nothing is sent`() async throws {
        let configuration = AppConfiguration(
            infoPlist: Self.plist([Self.usage: ["Why."], Self.aids: ["a0000002471001"]])
        )
        let (channel, tag) = try ScriptedTag.iso7816(.success([0x90, 0]), configuration: configuration)
        func select(_ aid: [UInt8]) async throws -> (Data, UInt8, UInt8) {
            let bytes = Data([0, 0xA4, 4, 0x0C, UInt8(aid.count)] + aid)
            return try await tag.sendCommand(apdu: try #require(NFCISO7816APDU(data: bytes)))
        }
        let error = await readerError { try await select([0xD2, 0x76, 0, 0, 0x85, 1, 1]) }
        #expect(error?.code == .readerErrorSecurityViolation)
        #expect(channel.sent.isEmpty)
        let answer = try await select([0xA0, 0, 0, 2, 0x47, 0x10, 1])
        #expect(answer.1 == 0x90)
    }

    @Test(arguments: [0x00, 0x01, 0x03, 0x0C, 0x40] as [UInt8])
    func `An application that is not listed is selected in no class and no form`(instructionClass: UInt8) async throws {
        let card = VirtualType4Tag(card: Cards.card(with: [Cards.otherName]))
        try await Cards.withTags([card], Cards.app(applications: ["A0000002471001"])) { field, session, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            try await session.connect(to: .iso7816(tag))
            func select(
                _ name: [UInt8],
                _ occurrence: UInt8,
                _ expected: Int
            ) async throws -> NFCISO7816ResponseAPDU {
                let apdu = NFCISO7816APDU(
                    instructionClass: instructionClass,
                    instructionCode: 0xA4,
                    p1Parameter: 0x04,
                    p2Parameter: occurrence,
                    data: Data(name),
                    expectedResponseLength: expected
                )
                return try await tag.sendCommand(apdu: apdu)
            }
            // The last length is that of the extended form.
            let forms: [(UInt8, Int)] = [(0x00, 256), (0x0C, -1), (0x02, 256), (0x00, 65_536)]
            let before = field.tags.statistics.exchanges
            for (occurrence, expected) in forms {
                let error = await readerError { try await select(Cards.ndefName, occurrence, expected) }
                #expect(error?.code == .readerErrorSecurityViolation)
            }
            #expect(field.tags.statistics.exchanges == before)
            for (occurrence, expected) in forms {
                let answer = try await select(Cards.otherName, occurrence, expected)
                // The card's script has this form alone.
                let isKnown = instructionClass == 0 && occurrence == 0 && expected == 256
                #expect(answer.statusWord1 == (isKnown ? 0x90 : 0x6A))
            }
            #expect(field.tags.statistics.exchanges > before)
        }
    }

    @Test func `A refused session calls its delegate once, and never begins`() async throws {
        let configuration = AppConfiguration(
            infoPlist: Self.plist([Self.usage: ["Why."]]),
            entitlements: Self.entitlements([:])
        )
        await withVirtualField { field in
            await AppConfiguration.$scoped.withValue(configuration) {
                let delegate = MessageDelegate()
                let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
                session.begin()
                session.begin()
                session.invalidate()
                var events = delegate.events.makeAsyncIterator()
                #expect(await events.end()?.code == .readerErrorSecurityViolation)
                session.sessionQueue.sync {}
                #expect(!session.isReady)
                #expect(field.sheet.history.isEmpty)
            }
        }
    }

    @Test(.ownThreads) func `A session of an app without a usage description ends the process`() async {
        await #expect(processExitsWith: .failure) {
            let configuration = AppConfiguration(
                infoPlist: AppConfiguration.PropertyFile(path: "App/Info.plist", values: [:])
            )
            await withVirtualField { _ in
                AppConfiguration.$scoped.withValue(configuration) {
                    let delegate = MessageDelegate()
                    NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true).begin()
                }
            }
        }
    }

    @Test func `Files are found by their variables, and beside the executable`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("app-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ values: [String: Any]) throws -> String {
            let url = folder.appendingPathComponent(name)
            try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0).write(to: url)
            return url.path
        }
        let program = folder.appendingPathComponent("App").path
        #expect(AppConfiguration(environment: [:], executable: program) == AppConfiguration())
        let plist = try write("Info.plist", [Self.usage: "Why.", Self.aids: ["A0"], "other": 3])
        let rights = try write("App.entitlements", [Self.formats: ["TAG"], "com.apple.developer.nfc.hce": true])
        let found = AppConfiguration(environment: ["NFC_STRICT": "1"], executable: program)
        #expect(found.infoPlist?.path == plist && found.entitlements?.path == rights && found.isStrict)
        #expect(found.selectIdentifiers == ["A0"])
        #expect(Self.verdict(found, .tags(feliCa: false, pace: false)) == "allowed ")
        #expect(Self.verdict(found, .cardEmulation) == "allowed ")
        let named = try write("Named.plist", [Self.usage: "Other."])
        #expect(
            AppConfiguration(environment: ["NFC_INFO_PLIST": named], executable: program).infoPlist?.path == named
        )
        let missing = AppConfiguration(environment: ["NFC_INFO_PLIST": "/nowhere"], executable: program)
        #expect(Self.verdict(missing, .ndef) == "ends \(Self.usage)")
    }

    @Test(arguments: ["Package_App.resources/Resources", "Package_App.resources", "App.resources"])
    func `Files are found in the resources of the executable's target, and not in those of others`(
        place: String
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("app-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ values: [String: Any]) throws -> String {
            let url = folder.appendingPathComponent(name)
            let data = try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: url)
            return url.path
        }
        let plist = try write("\(place)/Info.plist", [Self.usage: "Why."])
        let rights = try write("\(place)/App.entitlements", [Self.formats: ["TAG"]])
        let program = folder.appendingPathComponent("App").path
        let found = AppConfiguration(environment: [:], executable: program)
        #expect(found.infoPlist?.path == plist && found.entitlements?.path == rights)
        // Neither a longer name nor a shorter one is that of the target.
        for name in ["OtherApp", "pp", "Package"] {
            let other = folder.appendingPathComponent(name).path
            #expect(AppConfiguration(environment: [:], executable: other) == AppConfiguration())
        }
    }

    @Test(arguments: [("1", true), ("0", false), ("", false), ("true", false)])
    func `Only 1 makes a configuration strict`(value: String, isStrict: Bool) {
        let found = AppConfiguration(environment: ["NFC_STRICT": value], executable: "/nowhere/at/all/App")
        #expect(found == AppConfiguration(isStrict: isStrict))
    }

    @Test func `An empty variable names no file, and of several files the one beside the executable counts`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("app-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("Programs/App").path
        // The folder above is an app's bundle.
        for place in ["Info.plist", "Programs/App.resources/Info.plist", "Programs/Info.plist"] {
            let url = folder.appendingPathComponent(place)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try PropertyListSerialization.data(fromPropertyList: [Self.usage: place], format: .xml, options: 0)
                .write(to: url)
            for environment in [[:], ["NFC_INFO_PLIST": "", "NFC_ENTITLEMENTS": ""]] as [[String: String]] {
                let found = AppConfiguration(environment: environment, executable: program)
                #expect(found.infoPlist?.path == url.path && found.infoPlist?[.usageDescription] == [place])
                #expect(found.entitlements == nil)
            }
        }
    }

    @Test(arguments: [(1_048_576, true), (1_048_577, false)])
    func `A property list has a mebibyte at most, and a larger one is like an empty one`(size: Int, isRead: Bool) throws
    {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("list-\(UUID().uuidString).plist")
        defer { try? FileManager.default.removeItem(at: file) }
        let start = Data("<plist>".utf8)
        let end = Data("<dict><key>\(Self.usage)</key><string>Why.</string></dict></plist>".utf8)
        let spaces = Data(repeating: UInt8(ascii: " "), count: size - start.count - end.count)
        try (start + spaces + end).write(to: file)
        let found = AppConfiguration(environment: ["NFC_INFO_PLIST": file.path], executable: "/nowhere/at/all/App")
        #expect(found.infoPlist?.path == file.path)
        #expect(found.infoPlist?[.usageDescription] == (isRead ? ["Why."] : []))
    }

    @Test func `A flag that is not set is like an entry that is missing`() throws {
        let key = "com.apple.developer.nfc.hce"
        for (flag, verdict) in [(true, "allowed "), (false, "refused \(key)")] {
            let data = try PropertyListSerialization.data(fromPropertyList: [key: flag], format: .xml, options: 0)
            let rights = Self.entitlements(try #require(AppConfiguration.parse(data)))
            #expect(Self.verdict(AppConfiguration(entitlements: rights), .cardEmulation) == verdict)
        }
        #expect(AppConfiguration.parse(Data("no list".utf8)) == nil)
    }

    @Test(arguments: ["<integer>1</integer>", "<integer>0</integer>", "<real>1.0</real>", "<string>NO</string>"])
    func `A value of another type is no flag that is set`(value: String) throws {
        let key = "com.apple.developer.nfc.hce"
        let list = "<plist><dict><key>\(key)</key>\(value)</dict></plist>"
        let rights = Self.entitlements(try #require(AppConfiguration.parse(Data(list.utf8))))
        #expect(Self.verdict(AppConfiguration(entitlements: rights), .cardEmulation) == "refused \(key)")
    }

    @Test func `Only a SELECT by name is compared with the list of applications`() async throws {
        let configuration = AppConfiguration(infoPlist: Self.plist([Self.usage: ["Why."], Self.aids: ["A000000247"]]))
        let done = Result<[UInt8], NFCReaderError>.success([0x90, 0])
        let (channel, tag) = try ScriptedTag.iso7816(done, done, done, configuration: configuration)
        // UPDATE BINARY at 0400, SELECT by file, and SELECT by name without a name.
        let commands: [[UInt8]] = [[0, 0xD6, 4, 0, 1, 7], [0, 0xA4, 2, 0x0C, 2, 0xE1, 3], [0, 0xA4, 4, 0]]
        for command in commands {
            let apdu = try #require(NFCISO7816APDU(data: Data(command)))
            let answer: NFCISO7816ResponseAPDU = try await tag.sendCommand(apdu: apdu)
            #expect(answer.statusWord1 == 0x90)
        }
        #expect(channel.sent.map(\.bytes) == commands)
    }
}
