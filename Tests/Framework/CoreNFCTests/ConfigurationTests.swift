// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc
import NFCTestKit
import TestThreads
import Testing

/// An app's Info.plist and entitlements: where they are found, and what a session needs of them.
@Suite(.timeLimit(.minutes(1))) struct ConfigurationTests {
    private typealias App = AppConfiguration
    private typealias File = AppConfiguration.PropertyFile

    private static let usage = AppConfiguration.usage
    private static let hce = "com.apple.developer.nfc.hce"

    private static func plist(_ values: [String: [String]]) -> File { File(path: "App/Info.plist", values: values) }
    private static func rights(_ values: [String: [String]]) -> File {
        File(path: "App/App.entitlements", values: values)
    }

    /// The word for a verdict, and the last parts of the keys that it is about.
    private static func verdict(_ app: AppConfiguration, _ request: AppConfiguration.Request) -> String {
        func end(_ violation: AppConfiguration.Violation) -> String {
            violation.key.rawValue.split(separator: ".").last.map(String.init) ?? ""
        }
        return switch AppConfiguration.evaluate(app, request) {
        case .allowed(let notes): (["allowed"] + notes.map(end)).joined(separator: " ")
        case .refused(let violation): "refused \(end(violation))"
        case .endsProcess(let violation): "ends \(end(violation))"
        }
    }

    // MARK: What a session needs

    @Test func `Without files: every session is allowed, with a note of what iOS would want`() {
        let usage = "allowed NFCReaderUsageDescription formats"
        let rows: [(AppConfiguration.Request, String)] = [
            (.ndef, usage), (.tags(feliCa: false, pace: false), usage),
            (.tags(feliCa: false, pace: true), usage + " formats"),
            (.tags(feliCa: true, pace: false), usage + " systemcodes"), (.vas, usage), (.payment, usage),
            (.cardEmulation, "allowed hce"),
        ]
        for (request, words) in rows { #expect(Self.verdict(App(), request) == words) }
        #expect(App().violation(ofPolling: Data([0, 3])) == nil)
    }

    @Test
    func `Reader session formats: a session without its entitlement is refused, or ends the process in strict mode`() {
        let tags = AppConfiguration.Request.tags(feliCa: false, pace: false)
        let pace = AppConfiguration.Request.tags(feliCa: false, pace: true)
        let rows: [(AppConfiguration.Request, [String], Bool)] = [
            (.ndef, ["NDEF"], true), (.ndef, ["TAG"], true), (.ndef, [], false), (tags, ["TAG"], true),
            (tags, ["NDEF"], false), (pace, ["TAG"], false), (pace, ["TAG", "PACE"], true), (.vas, ["TAG"], false),
            (.vas, ["VAS"], true), (.payment, ["TAG"], true), (.payment, ["NDEF"], false),
        ]
        for (request, formats, isAllowed) in rows {
            var app = App(
                infoPlist: Self.plist([Self.usage: ["Why."]]),
                entitlements: Self.rights([App.formats: formats])
            )
            #expect(Self.verdict(app, request) == (isAllowed ? "allowed" : "refused formats"), "\(request) \(formats)")
            app.isStrict = true
            #expect(Self.verdict(app, request) == (isAllowed ? "allowed" : "ends formats"), "\(request) \(formats)")
        }
    }

    @Test func `Usage description: a property list without one ends the process`() {
        for values in [[:], [Self.usage: [""]]] {
            #expect(Self.verdict(App(infoPlist: Self.plist(values)), .ndef) == "ends \(Self.usage)")
        }
    }

    @Test(.ownThreads) func `Session of an app without a usage description: the process ends`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            await withVirtualField { _ in
                AppConfiguration.$scoped.withValue(App(infoPlist: Self.plist([:]))) {
                    ndefSession(MessageDelegate(), once: true).begin()
                }
            }
        }
    }

    @Test func `FeliCa: an app needs system codes, and polling one that is not listed is error 2`() throws {
        let none = App(infoPlist: Self.plist([Self.usage: ["Why."]]))
        #expect(Self.verdict(none, .tags(feliCa: true, pace: false)) == "refused systemcodes")
        let app = App.app(systems: ["0003", "fe00"])
        #expect(Self.verdict(app, .tags(feliCa: true, pace: false)) == "allowed")
        #expect(app.violation(ofPolling: Data([0xFE, 0x00])) == nil)
        let error = try #require(app.violation(ofPolling: Data([0x88, 0xB4])))
        #expect(error.errorCode == 2 && error.localizedDescription == "Missing required entitlement")
        // The author reads what to add, and where.
        let reason = try #require((error as NSError).localizedFailureReason)
        #expect(reason.contains(App.codes) && reason.contains("App/Info.plist") && reason.contains("88B4"))
    }

    @Test func `Card emulation: only a flag that is true allows it`() throws {
        let rows = [
            ("<true/>", "allowed"), ("<false/>", "refused hce"), ("<integer>1</integer>", "refused hce"),
            ("<integer>0</integer>", "refused hce"), ("<real>1.0</real>", "refused hce"),
            ("<string>NO</string>", "refused hce"),
        ]
        for (value, verdict) in rows {
            let list = "<plist><dict><key>\(Self.hce)</key>\(value)</dict></plist>"
            let rights = Self.rights(try #require(App.parse(Data(list.utf8))))
            #expect(Self.verdict(App(entitlements: rights), .cardEmulation) == verdict, "\(value)")
        }
        #expect(App.parse(Data("no list".utf8)) == nil)
    }

    // MARK: Files

    /// A folder with an app's program, and its files.
    private struct Folder: ~Copyable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("app-\(UUID().uuidString)")

        deinit { try? FileManager.default.removeItem(at: url) }

        func path(_ name: String) -> String { url.appendingPathComponent(name).path }

        /// Writes a property list, and returns its path.
        @discardableResult func write(_ name: String, _ values: [String: Any]) throws -> String {
            let file = url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0).write(to: file)
            return file.path
        }
    }

    @Test func `Info.plist and entitlements beside the program: used, unless NFC_INFO_PLIST names another file`() throws
    {
        let folder = Folder()
        let program = folder.path("App")
        #expect(App(environment: [:], executable: program) == App())
        let plist = try folder.write("Info.plist", [Self.usage: "Why.", App.aids: ["a0"], "other": 3])
        let rights = try folder.write("App.entitlements", [App.formats: ["TAG"], Self.hce: true])
        let found = App(environment: ["NFC_STRICT": "1"], executable: program)
        #expect(found.infoPlist?.path == plist && found.entitlements?.path == rights && found.isStrict)
        #expect(found.selectIdentifiers == ["A0"])
        #expect(Self.verdict(found, .tags(feliCa: false, pace: false)) == "allowed")
        #expect(Self.verdict(found, .cardEmulation) == "allowed")
        let named = try folder.write("Named.plist", [Self.usage: "Other."])
        #expect(App(environment: ["NFC_INFO_PLIST": named], executable: program).infoPlist?.path == named)
        // Otherwise nobody would notice that a named file is missing.
        let missing = App(environment: ["NFC_INFO_PLIST": "/nowhere"], executable: program)
        #expect(Self.verdict(missing, .ndef) == "ends \(Self.usage)")
        for (value, isStrict) in [("0", false), ("", false), ("true", false), ("1", true)] {
            #expect(App(environment: ["NFC_STRICT": value], executable: "/nowhere/App") == App(isStrict: isStrict))
        }
    }

    @Test(arguments: ["Package_App.resources/Resources", "Package_App.resources", "App.resources"])
    func `Info.plist and entitlements in a resource bundle: used if the bundle belongs to the program's target`(
        place: String
    ) throws {
        let folder = Folder()
        let plist = try folder.write("\(place)/Info.plist", [Self.usage: "Why."])
        let rights = try folder.write("\(place)/App.entitlements", [App.formats: ["TAG"]])
        let found = App(environment: [:], executable: folder.path("App"))
        #expect(found.infoPlist?.path == plist && found.entitlements?.path == rights)
        // Neither a longer name nor a shorter one is that of the target.
        for name in ["OtherApp", "pp", "Package"] {
            #expect(App(environment: [:], executable: folder.path(name)) == App())
        }
    }

    @Test func `Several Info.plist files: beside the program goes first, then its resources, then the folder above`()
        throws
    {
        let folder = Folder()
        for place in ["Info.plist", "Programs/App.resources/Info.plist", "Programs/Info.plist"] {
            let path = try folder.write(place, [Self.usage: place])
            // A variable without a value names no file.
            for environment in [[:], ["NFC_INFO_PLIST": "", "NFC_ENTITLEMENTS": ""]] as [[String: String]] {
                let found = App(environment: environment, executable: folder.path("Programs/App"))
                #expect(found.infoPlist?.path == path && found.entitlements == nil)
            }
        }
    }
}
