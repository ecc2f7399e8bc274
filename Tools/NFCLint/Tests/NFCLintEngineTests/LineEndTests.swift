// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// Files of Windows: lines end with a carriage return too, and a mark of the byte order stands first.
@Suite struct LineEndTests {
    enum Form: CaseIterable, Sendable {
        case plain, carriageReturns, mark, both

        func of(_ text: String) -> String {
            let lines = self == .carriageReturns || self == .both ? text.replacing("\n", with: "\r\n") : text
            return (self == .mark || self == .both ? "\u{FEFF}" : "") + lines
        }
    }

    @Test(arguments: Form.allCases)
    func `xcconfig file with any line ends: its settings count`(_ form: Form) {
        let settings = "// Text\nA = 1\nINFOPLIST_KEY_NFCReaderUsageDescription = Badges are scanned to open doors.\n"
        let found = Projects.ids([
            "App.xcodeproj/project.pbxproj": Projects.xcode(target: "GENERATE_INFOPLIST_FILE = YES;"),
            "Reader.swift": Projects.reader, "App.xcconfig": form.of(settings),
        ])
        #expect(!found.contains("CFG001"))
    }

    @Test(arguments: Form.allCases)
    func `XcodeGen file with any line ends: its target is found`(_ form: Form) {
        let description = "targets:\n  Doors:\n    type: application\n    platform: iOS\n    sources: [Sources]\n"
        let project = Projects.project([
            "project.yml": form.of(description), "Sources/Reader.swift": form.of(Projects.reader),
        ])
        #expect(project.units.first.map { $0.target.name == "Doors" && $0.usesCoreNFC } == true)
    }

    @Test(arguments: Form.allCases)
    func `.nfclint.yml with any line ends: its settings count`(_ form: Form) {
        let choice = form.of("disabled:\n  - CFG002\n  - SRC001\nseverity:\n  TXT010: error\n")
        let configuration = LintConfiguration(Array(choice.utf8), known: Set(Rules.all.map(\.id)))
        #expect(configuration.problems == [] && configuration.disabled == ["CFG002", "SRC001"])
        #expect(configuration.severities == ["TXT010": .error])
    }

    @Test(arguments: Form.allCases)
    func `Swift file with any line ends: a comment silences its line, block or file`(_ form: Form) {
        for text in [
            Projects.reader.replacing(".main, inv", with: ".main /* nfclint:disable SRC001 */, inv"),
            Projects.reader.replacing("    func scan", with: "    // nfclint:disable SRC001\n    func scan"),
            "// nfclint:disable SRC001\n" + Projects.reader,
        ] {
            #expect(!Projects.ids(["Reader.swift": form.of(text)]).contains("SRC001"))
        }
    }

    @Test(arguments: Form.allCases)
    func `Diff of a file with any line ends: only the changed lines`(_ form: Form) {
        let middle = (0..<40).map { "<key>K\($0)</key><string>a</string>\n" }.joined()
        let files = [
            "Reader.swift": Projects.reader, "Info.plist": form.of(Projects.list("\n" + middle)),
            "App.entitlements": Projects.formats("TAG"),
        ]
        let report = Projects.report(files)
        let diff = Fixes(report.findings, report.project.files).diff
        let bytes = diff.utf8.split(separator: 0x0A)
        #expect(diff.contains("NFCReaderUsageDescription") && bytes.count < 20)
    }
}
