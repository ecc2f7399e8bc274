// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import Testing

/// Which of several settings counts, and the files that settings come from.
@Suite struct SettingsTests {
    private func files(_ target: String, _ more: [String: String] = [:]) -> [String: String] {
        let signed = "CODE_SIGN_ENTITLEMENTS = App.entitlements;"
        let files = [
            "App.xcodeproj/project.pbxproj": Projects.xcode(target: signed + target), "Reader.swift": Projects.reader,
            "App.entitlements": Projects.formats("NDEF", "TAG"),
        ]
        return files.merging(more) { $1 }
    }

    @Test(arguments: [("[sdk=iphoneos*]", "12.0"), ("[sdk=*]", "12.0"), ("[sdk=iphonesimulator*]", "15.0")])
    func `Conditional setting: one for iPhones wins over the unconditional one, one for simulators does not`(
        condition: String,
        minimum: String
    ) {
        let target = "\"IPHONEOS_DEPLOYMENT_TARGET\(condition)\" = 12.0; IPHONEOS_DEPLOYMENT_TARGET = 15.0;"
        #expect(Projects.report(files(target)).json.contains("\"minimum_ios\":\"\(minimum)\""))
    }

    @Test func `xcconfig file: its settings win over included ones; includes are found relative to the including file`()
    {
        let base = "#include \"Shared.xcconfig\"\nIPHONEOS_DEPLOYMENT_TARGET = 15.0\n"
        let report = Projects.report(
            files(
                "",
                [
                    "App.xcconfig": "#include \"Configs/Base.xcconfig\"\nIPHONEOS_DEPLOYMENT_TARGET = 12.0 ;;\n",
                    "Configs/Base.xcconfig": base,
                    "Configs/Shared.xcconfig": "INFOPLIST_KEY_NFCReaderUsageDescription = Badges open doors here.\n",
                ]
            )
        )
        #expect(report.json.contains("\"minimum_ios\":\"12.0\""))
        #expect(!report.findings.contains { $0.id == "CFG001" })
    }
}
