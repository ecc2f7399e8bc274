// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import Testing

@Suite struct ProjectTests {
    private func files(target: String, project: String = "", _ more: [String: String] = [:]) -> [String: String] {
        var files = ["App.xcodeproj/project.pbxproj": Projects.xcode(target: target, project: project)]
        files["Reader.swift"] = Projects.reader
        files["Doors/Doors.entitlements"] = Projects.formats("TAG")
        return files.merging(more) { $1 }
    }

    private let signed = "CODE_SIGN_ENTITLEMENTS = Doors/Doors.entitlements;"

    @Test func `Usage text in the build settings: no CFG001`() {
        let key =
            "GENERATE_INFOPLIST_FILE = YES; INFOPLIST_KEY_NFCReaderUsageDescription = \"Badges open doors here.\";"
        #expect(!Projects.ids(files(target: signed + key)).contains("CFG001"))
        #expect(Projects.ids(files(target: signed)).contains("CFG001"))
    }

    @Test func `Usage text in an xcconfig file: no CFG001`() {
        let config = "INFOPLIST_KEY_NFCReaderUsageDescription = Badges open doors here. // why\n"
        #expect(!Projects.ids(files(target: signed, ["App.xcconfig": config])).contains("CFG001"))
    }

    @Test(.timeLimit(.minutes(1)))
    func `xcconfig files that include themselves: each is read once, and later settings are found`() {
        let config = """
            #include "Loop.xcconfig"
            INFOPLIST_KEY_NFCReaderUsageDescription = Badges open doors here.

            """
        let loop = String(repeating: "#include \"Loop.xcconfig\"\n", count: 20)
        let ids = Projects.ids(files(target: signed, ["App.xcconfig": config, "Loop.xcconfig": loop]))
        #expect(!ids.contains("CFG001"))
    }

    @Test func `Setting that doubles $(inherited) twenty times: its text stays bounded`() {
        let twice = String(repeating: "INFOPLIST_FILE = $(inherited)$(inherited)\n", count: 20)
        let report = Projects.report(files(target: signed, ["App.xcconfig": "INFOPLIST_FILE = a\n" + twice]))
        #expect(report.json.contains("The Info.plist ") && report.json.utf8.count < 200_000)
    }

    @Test func `Deployment target: the target's setting wins over the project's`() {
        let formats = ["Doors/Doors.entitlements": Projects.formats("NDEF", "TAG")]
        let outer = "IPHONEOS_DEPLOYMENT_TARGET = 15.0;"
        #expect(Projects.ids(files(target: signed, project: outer, formats)).contains("CFG011"))
        let own = signed + "IPHONEOS_DEPLOYMENT_TARGET = 12.0;"
        #expect(!Projects.ids(files(target: own, project: outer, formats)).contains("CFG011"))
        let conditional = signed + "\"IPHONEOS_DEPLOYMENT_TARGET[sdk=iphoneos*]\" = 12.0;"
        #expect(!Projects.ids(files(target: conditional, project: outer, formats)).contains("CFG011"))
    }

    @Test(arguments: [
        ("12.4", ["NDEF", "TAG"], []), ("13.0", ["NDEF", "TAG"], ["CFG011"]), ("13.1", ["NDEF", "TAG"], ["CFG011"]),
        ("12.4", ["NDEF"], []), ("13.0", ["NDEF"], ["CFG012", "CFG011"]), ("13", ["TAG"], []),
        ("12.4", ["TAG"], ["CFG013"]), ("15.9", ["TAG", "PACE"], ["CFG015"]), ("16.0", ["TAG", "PACE"], []),
        ("16", ["TAG", "PACE"], []),
    ])
    func `Reader session formats: each is allowed from its iOS version on, and no earlier`(
        minimum: String,
        formats: [String],
        expected: [String]
    ) {
        let list =
            "<key>com.apple.developer.nfc.readersession.formats</key><array>"
            + formats.map { "<string>\($0)</string>" }.joined() + "</array>"
        let settings = signed + "IPHONEOS_DEPLOYMENT_TARGET = \(minimum);"
        let ids = Projects.ids(files(target: settings, ["Doors/Doors.entitlements": Projects.list(list)]))
        #expect(ids.filter { ["CFG011", "CFG012", "CFG013", "CFG015"].contains($0) } == expected)
    }

    @Test(arguments: [("17.3", true), ("17.4", false), ("18.0", false)])
    func `Card emulation: allowed from iOS 17.4 on`(minimum: String, isTooOld: Bool) {
        let list = """
            <key>com.apple.developer.nfc.hce</key><true/>
            <key>com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes</key><array><string>A000000247</string></array>
            """
        let settings = signed + "IPHONEOS_DEPLOYMENT_TARGET = \(minimum);"
        let ids = Projects.ids(files(target: settings, ["Doors/Doors.entitlements": Projects.list(list)]))
        #expect(ids.contains("CFG042") == isTooOld)
    }

    @Test func `Versions: ordered by major and minor number`() throws {
        let texts = ["9.3", "12", "12.4", "13.0", "13.1", "17.4", "17.10", "100.0"]
        let versions = try texts.map { try #require(Version($0)) }
        #expect(versions.shuffled().sorted() == versions)
        #expect(Version("13") == Version("13.0.1") && Version("x") == nil && Version("") == nil)
    }

    @Test func `File named in another case than on disk: found`() {
        let named =
            "CODE_SIGN_ENTITLEMENTS = \"$(SRCROOT)/doors/doors.ENTITLEMENTS\"; INFOPLIST_FILE = $(TARGET_NAME)/Info.plist;"
        let ids = Projects.ids(files(target: named, ["Doors/Info.plist": Projects.list(Projects.usage)]))
        #expect(!ids.contains("CFG010") && !ids.contains("CFG001"))
    }

    @Test func `App without an entitlements file: CFG010`() {
        #expect(Projects.ids(files(target: "")).contains("CFG010"))
    }

    @Test func `Named Info.plist that is missing: noted, and no CFG001`() {
        let project = Projects.project(files(target: signed + "INFOPLIST_FILE = Other/Info.plist;"))
        let unit = project.units.first { $0.target.name == "Doors" }
        #expect(unit?.target.missing == ["The Info.plist Other/Info.plist was not found or can't be read."])
        #expect(!Projects.ids(files(target: signed + "INFOPLIST_FILE = Other/Info.plist;")).contains("CFG001"))
    }

    @Test func `Test bundle: not checked as an app`() {
        let text = Projects.xcode(target: signed).replacing(
            "product-type.application",
            with: "product-type.bundle.unit-test"
        )
        let ids = Projects.ids(files(target: "", ["App.xcodeproj/project.pbxproj": text]))
        #expect(!ids.contains("CFG001"))
    }

    @Test func `Usage text that two configurations set: one finding`() {
        let key = "GENERATE_INFOPLIST_FILE = YES; INFOPLIST_KEY_NFCReaderUsageDescription = \"Some reason\";"
        let one = Projects.xcode(target: signed + key)
        let two = one.replacing("buildConfigurations = ( TC );", with: "buildConfigurations = ( TC, TD );")
            .replacing(
                "S = { isa",
                with:
                    "TD = { isa = XCBuildConfiguration; name = Debug;\n  buildSettings = { SDKROOT = iphoneos; \(signed + key) }; };\nS = { isa"
            )
        for text in [one, two] {
            let ids = Projects.ids(files(target: "", ["App.xcodeproj/project.pbxproj": text]))
            #expect(ids.count { $0 == "CFG003" } == 1)
        }
    }

    @Test func `App that only hosts tests: not checked`() {
        func ids(in folder: String) -> [String] {
            Projects.ids([
                "\(folder)/\(folder).xcodeproj/project.pbxproj": Projects.xcode(target: signed),
                "\(folder)/Reader.swift": Projects.reader,
            ])
        }
        #expect(ids(in: "Doors").contains("CFG001"))
        #expect(!ids(in: "DoorTests").contains("CFG001"))
    }

    @Test func `XcodeGen target without an Info.plist setting: the one among its sources is used`() {
        let text = """
            name: Doors
            targets:
              Doors:
                type: application
                platform: iOS
                deploymentTarget: "15.0"
                sources: [Sources]
                settings:
                  CODE_SIGN_ENTITLEMENTS: Sources/Doors.entitlements
            """
        let all = [
            "project.yml": text, "Sources/Reader.swift": Projects.reader,
            "Sources/Info.plist": Projects.list(Projects.usage), "Sources/Doors.entitlements": Projects.formats("TAG"),
        ]
        #expect(!Projects.ids(all).contains("CFG001"))
        let without = all.merging(["Sources/Info.plist": Projects.list("")]) { $1 }
        #expect(Projects.ids(without).contains("CFG001"))
    }

    @Test func `Tuist target: its Info.plist keys and entitlements are read`() {
        let tuist = """
            let project = Project(name: "Doors", targets: [
                .target(name: "Doors", destinations: .iOS, product: .app, bundleId: "org.example",
                    deploymentTargets: .iOS("15.0"),
                    infoPlist: .extendingDefault(with: ["NFCReaderUsageDescription": "Badges open doors here."]),
                    sources: ["Sources/**"], entitlements: .dictionary(
                        ["com.apple.developer.nfc.readersession.formats": ["NDEF"]]))
            ])
            """
        let ids = Projects.ids(["Project.swift": tuist, "Sources/Reader.swift": Projects.reader])
        #expect(ids.contains("CFG011") && !ids.contains("CFG001"))
    }

    /// A reader whose message is a key.
    private static let localized = Projects.reader.replacing(
        "session?.begin()",
        with: "session?.alertMessage = NSLocalizedString(\"hold\", comment: \"\"); session?.begin()"
    )

    @Test(arguments: [
        ["Reader.swift": "", "Texts/en.lproj/Localizable.strings": ""],
        ["App/Reader.swift": "", "Resources/Localizable.strings": ""],
        ["Package.swift": "", "Sources/App/Reader.swift": "", "Sources/App/Resources/en.lproj/A.strings": ""],
        ["Project.swift": "", "App/Sources/Reader.swift": "", "App/Resources/en.lproj/A.strings": ""],
    ])
    func `Strings files of packages, folders and Tuist projects: their texts are checked`(_ paths: [String: String]) {
        var files = paths
        for path in paths.keys {
            if path.hasSuffix("Reader.swift") { files[path] = Self.localized }
            if path.hasSuffix(".strings") { files[path] = "hold = \"Tap the NFC tag.\";\n" }
        }
        if paths["Project.swift"] != nil {
            files["Project.swift"] = """
                let project = Project(name: "Doors", targets: [
                    .target(name: "Doors", destinations: .iOS, product: .app, bundleId: "a",
                            sources: ["App/Sources/**"], resources: [.glob(pattern: "App/Resources/**")])
                ])
                """
        }
        #expect(Projects.ids(files).contains("TXT001"))
    }

    @Test(arguments: [("Doors", true), ("Locks", false)])
    func `Package manifest with folders of targets: a target uses the texts of its own folder only`(
        _ owner: String,
        _ isFound: Bool
    ) {
        let manifest = """
            let package = Package(name: "Doors", targets: [
                .target(name: "Locks", path: "Sources/App/Locks"),
                .target(name: "Doors", dependencies: ["Locks"], path: "Sources/App/Doors"),
            ])
            """
        let ids = Projects.ids([
            "Package.swift": manifest, "Sources/App/Locks/Lock.swift": "struct Lock {}\n",
            "Sources/App/Doors/Reader.swift": Self.localized,
            "Sources/App/\(owner)/en.lproj/Localizable.strings": "hold = \"Tap the NFC tag.\";\n",
        ])
        #expect(ids.contains("TXT001") == isFound)
    }

    @Test func `Tuist target with an xcconfig file: its settings are read`() throws {
        let project = """
            let project = Project(name: "Doors", targets: [
                .target(name: "Doors", destinations: .iOS, product: .app, bundleId: "a", infoPlist: .default,
                        sources: ["App/**"], settings: .settings(configurations: [
                            .release(name: "Release", xcconfig: "Release.xcconfig")
                        ]))
            ])
            """
        let settings = "IPHONEOS_DEPLOYMENT_TARGET = 12.4;\nCODE_SIGN_ENTITLEMENTS = App/App.entitlements\n"
        let files = [
            "Project.swift": project, "Release.xcconfig": settings, "App/Reader.swift": Projects.reader,
            "App/App.entitlements": Projects.formats("TAG"),
        ]
        let unit = try #require(Projects.project(files).units.first)
        let variant = try #require(unit.target.variants.first)
        #expect(variant.minimum == Version(12, 4) && variant.entitlements?.path == "App/App.entitlements")
    }

    @Test func `Version with a minor part that is not a number: not a version`() {
        #expect(Version("12.x") == nil && Version("12") == Version(12) && Version("12.4.1") == Version(12, 4))
    }

    @Test func `Settings that reference each other many times or in a circle: their text stays bounded`() {
        let doubles = (0..<60).map { "A\($0) = \"$(A\($0 + 1))$(A\($0 + 1))$(A\($0 + 1))\";" }.joined()
        let project = Projects.project([
            "App.xcodeproj/project.pbxproj": Projects.xcode(target: doubles + "INFOPLIST_FILE = \"$(A0)\";"),
            "Reader.swift": Projects.reader,
        ])
        #expect(project.units.first.map { $0.target.missing.allSatisfy { $0.utf8.count < 10_000 } } == true)
        let circle = Projects.xcode(target: "A = \"$(B)\"; B = \"$(A)$(A)\"; PRODUCT_NAME = \"$(A)\";")
        #expect(Projects.project(["App.xcodeproj/project.pbxproj": circle]).units.first?.target.name == "Doors")
    }

    @Test(arguments: [
        ["pubspec.yaml": "name: doors\ndependencies:\n  flutter:\n    sdk: flutter\n  nfc_manager: ^3.3.0\n"],
        ["package.json": "{\"dependencies\": {\"react-native-nfc-manager\": \"3.14\"}}"],
        ["package.json": "{\"dependencies\": {\"@capawesome-team/capacitor-nfc\": \"7\"}}"],
        ["ios/Podfile": "target 'Doors' do\n  pod 'NFCPassportReader'\nend\n"],
        ["ios/Podfile.lock": "PODS:\n  - nfc_manager (0.0.1):\n    - Flutter\n"],
        ["config.xml": "<widget id=\"a\">\n<plugin name=\"phonegap-nfc\" spec=\"1.2\" />\n</widget>\n"],
    ])
    func `App whose manifest names a plugin for NFC: its plist and entitlements are checked`(
        _ manifest: [String: String]
    ) {
        let project = ["ios/Doors.xcodeproj/project.pbxproj": Projects.xcode(target: "INFOPLIST_FILE = Info.plist;")]
        let files = project.merging(["ios/Info.plist": Projects.list("")]) { $1 }
        #expect(!Projects.ids(files).contains("CFG001"))
        let ids = Projects.ids(files.merging(manifest) { $1 })
        #expect(ids.contains("CFG001") && ids.contains("CFG010"))
    }

    @Test func `Expo app without an Xcode project: the keys in app.json are checked`() {
        func ids(_ ios: String, _ plugins: String) -> [String] {
            Projects.ids([
                "package.json": "{\"dependencies\": {\"react-native-nfc-manager\": \"3\"}}",
                "app.json": "{\"expo\": {\"name\": \"Doors\", \"ios\": {\(ios)}, \"plugins\": [\(plugins)]}}",
            ])
        }
        #expect(ids("", "").contains("CFG001"))
        #expect(!ids("", "\"react-native-nfc-manager\"").contains("CFG001"))
        let text = "[\"react-native-nfc-manager\", {\"nfcPermission\": \"Lorem ipsum\"}]"
        #expect(ids("", text).contains("CFG002"))
        #expect(ids("\"infoPlist\": {\"NFCReaderUsageDescription\": \"\"}", "").contains("CFG002"))
    }

    @Test func `Cordova plugin: the keys that its plugin.xml adds to apps are checked, in their lines`() {
        let manifest = """
            <plugin id="doors" version="1">
            <preference name="NFC_USAGE" default="Read NFC Tags" />
            <platform name="ios">
            <config-file target="*-Debug.plist" parent="com.apple.developer.nfc.readersession.formats">
              <array><string>TAGS</string></array>
            </config-file>
            <config-file target="*-Info.plist" parent="NFCReaderUsageDescription"><string>$NFC_USAGE</string></config-file>
            </platform></plugin>
            """
        let findings = Projects.report(["plugin.xml": manifest]).findings
        #expect(findings.contains { $0.id == "CFG003" && $0.place.position.line == 2 })
        #expect(findings.contains { $0.place.path == "plugin.xml" && $0.place.position.line == 5 })
    }

    @Test func `Library that imports Core NFC without creating a session: reported as using Core NFC`() {
        let library = "import CoreNFC\nfunc send(_ tag: NFCISO7816Tag, _ apdu: NFCISO7816APDU) {}\n"
        #expect(Projects.report(["Send.swift": library]).targetLines.hasPrefix("sources (library)"))
        #expect(Projects.report(["Send.swift": library]).json.contains("\"uses_core_nfc\":true"))
    }

    @Test(arguments: ["\"a\" = \"b\";;\n\"c\" = \"d\";", "", " \n// none\n"])
    func `Strings file with a second semicolon or without texts: no LNT001, as Foundation accepts it`(_ text: String) {
        let reader = Projects.reader.replacing("session?.begin()", with: "session?.alertMessage = \"c\".localized")
        let ids = Projects.ids(["Reader.swift": reader, "en.lproj/Localizable.strings": text])
        #expect(!ids.contains("LNT001") && !ids.contains("TXT003"))
    }

    @Test func `Damaged strings file of a translation: a warning only, so that the check passes`() {
        let files = ["Reader.swift": Self.localized, "de.lproj/Localizable.strings": "\"a\" = \"b\";\n\"c\" = \"d\""]
        let report = Projects.report(files)
        #expect(report.findings.filter { $0.id == "LNT001" }.map(\.severity) == [.warning] && report.passes)
    }
}
