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

    @Test func `The usage text may stand in the settings`() {
        let key =
            "GENERATE_INFOPLIST_FILE = YES; INFOPLIST_KEY_NFCReaderUsageDescription = \"Badges open doors here.\";"
        #expect(!Projects.ids(files(target: signed + key)).contains("CFG001"))
        #expect(Projects.ids(files(target: signed)).contains("CFG001"))
    }

    @Test func `The usage text may stand in a file of settings`() {
        let config = "INFOPLIST_KEY_NFCReaderUsageDescription = Badges open doors here. // why\n"
        #expect(!Projects.ids(files(target: signed, ["App.xcconfig": config])).contains("CFG001"))
    }

    @Test func `The target's least version wins over the project's`() {
        let formats = ["Doors/Doors.entitlements": Projects.formats("NDEF", "TAG")]
        let outer = "IPHONEOS_DEPLOYMENT_TARGET = 15.0;"
        #expect(Projects.ids(files(target: signed, project: outer, formats)).contains("CFG011"))
        let own = signed + "IPHONEOS_DEPLOYMENT_TARGET = 12.0;"
        #expect(!Projects.ids(files(target: own, project: outer, formats)).contains("CFG011"))
        let conditional = signed + "\"IPHONEOS_DEPLOYMENT_TARGET[sdk=iphoneos*]\" = 12.0;"
        #expect(!Projects.ids(files(target: conditional, project: outer, formats)).contains("CFG011"))
    }

    @Test func `A path in another case than on disk is found`() {
        let named =
            "CODE_SIGN_ENTITLEMENTS = \"$(SRCROOT)/doors/doors.ENTITLEMENTS\"; INFOPLIST_FILE = $(TARGET_NAME)/Info.plist;"
        let ids = Projects.ids(files(target: named, ["Doors/Info.plist": Projects.list(Projects.usage)]))
        #expect(!ids.contains("CFG010") && !ids.contains("CFG001"))
    }

    @Test func `An app without entitlements has none`() {
        #expect(Projects.ids(files(target: "")).contains("CFG010"))
    }

    @Test func `A list that is named and not there is no finding, but is said`() {
        let project = Projects.project(files(target: signed + "INFOPLIST_FILE = Other/Info.plist;"))
        let unit = project.units.first { $0.target.name == "Doors" }
        #expect(unit?.target.missing == ["The Info.plist Other/Info.plist was not found or can't be read."])
        #expect(!Projects.ids(files(target: signed + "INFOPLIST_FILE = Other/Info.plist;")).contains("CFG001"))
    }

    @Test func `Tests and watch apps are left out`() {
        let text = Projects.xcode(target: signed).replacing(
            "product-type.application",
            with: "product-type.bundle.unit-test"
        )
        let ids = Projects.ids(files(target: "", ["App.xcodeproj/project.pbxproj": text]))
        #expect(!ids.contains("CFG001"))
    }

    @Test func `A text that all configurations set is one finding`() {
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

    @Test func `An app that only hosts tests is left out`() {
        func ids(in folder: String) -> [String] {
            Projects.ids([
                "\(folder)/\(folder).xcodeproj/project.pbxproj": Projects.xcode(target: signed),
                "\(folder)/Reader.swift": Projects.reader,
            ])
        }
        #expect(ids(in: "Doors").contains("CFG001"))
        #expect(!ids(in: "DoorTests").contains("CFG001"))
    }

    @Test func `XcodeGen takes the list that stands among the sources`() {
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

    @Test func `A description for Tuist is read`() {
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
}
