// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules
import Testing

@Suite struct ChecklistTests {
    private func rows(_ files: [String: String]) throws -> [Checklist.Row] {
        let report = Projects.report(files)
        let unit = try #require(report.project.units.first { $0.usesCoreNFC })
        return Checklist(unit, report).rows
    }

    @Test func `Checklist: each question that is met names its file and line`() throws {
        let app = Folders.app.merging(["Info.plist": Projects.list("\n" + Projects.usage)]) { $1 }
        let rows = try rows(app)
        #expect(rows[1].state == .met && rows[1].place == "Info.plist:2")
        #expect(rows[0].state == .met && rows[0].place == "App.entitlements:1")
        #expect(rows.allSatisfy { $0.state != .met || !$0.place.isEmpty })
    }

    @Test func `Checklist: a session in a package's module counts for the app that imports it`() throws {
        let files = [
            "App/Info.plist": Projects.list(Projects.usage), "App/A.swift": "import Scanning\n@main struct A {}\n",
            "Package.swift": "", "Sources/Scanning/Reader.swift": Self.guarded,
        ]
        let rows = try rows(files)
        #expect(rows[11].state == .met && rows[11].place.hasPrefix("Sources/Scanning/Reader.swift:"))
    }

    /// A reader that begins no second session.
    private static let guarded = Projects.reader.replacing(
        "func scan() {\n",
        with: "func scan() {\n        guard session == nil else { return }\n"
    )

    @Test(arguments: [
        ("Use NFC to read and write data.", Checklist.State.unknown), ("We need to use NFC", .unknown),
        ("This app reads badges.", .unknown), ("NFC is used to open doors.", .met),
    ])
    func `Checklist: a usage text counts only with a purpose that is more than scanning`(
        _ text: String,
        _ state: Checklist.State
    ) throws {
        let usage = "<key>NFCReaderUsageDescription</key><string>\(text)</string>"
        #expect(try rows(Folders.app.merging(["Info.plist": Projects.list(usage)]) { $1 })[1].state == state)
    }

    @Test func `Checklist: two sessions that may overlap, or a computed AID, make the answer unknown`() throws {
        let begin = "session?.begin()"
        let two = Projects.reader.replacing(begin, with: "\(begin)\n        other?.begin()")
            .replacing("    func scan", with: "    var other: NFCNDEFReaderSession?\n    func scan")
        #expect(try rows(Folders.app)[11].state == .unknown)
        #expect(try rows(Folders.app.merging(["Reader.swift": Self.guarded]) { $1 })[11].state == .met)
        #expect(try rows(Folders.app.merging(["Reader.swift": two]) { $1 })[11].state == .unknown)
        let select = Projects.reader.replacing(begin, with: "\(begin); select(0xA4, card.name)")
        #expect(try rows(Folders.app)[9].state == .met)
        #expect(try rows(Folders.app.merging(["Reader.swift": select]) { $1 })[9].state == .unknown)
    }

    @Test func `Checklist: a question stays not met if its finding is in the baseline, disabled or of lower severity`()
        throws
    {
        for choice in ["disabled: [CFG001]\n", "severity:\n  CFG001: info\n", ""] {
            try Folders.withFiles(Folders.app.merging([".nfclint.yml": choice]) { $1 }) { folder in
                let known = folder.appendingPathComponent("known.json").path
                let written = try Command.run(["--write-baseline", known, folder.path])
                let list = try Command.run(["--checklist", "--baseline", known, folder.path]).output
                let row = list.split(separator: "\n").first { $0.contains("Usage description") }
                #expect(written.status == 0 && row?.contains("not met") == true)
            }
        }
    }

    @Test func `Checklist: a question for which no file has evidence is not met or unknown`() throws {
        let silent = Projects.reader.replacing(
            "session?.begin()",
            with: "session?.begin() }\n    func write(_ tag: any NFCNDEFTag) { tag.writeNDEF(message) { _ in }"
        )
        for files in [
            ["Reader.swift": silent, "Info.plist": Projects.list("")],
            ["App.xcodeproj/project.pbxproj": Projects.xcode(target: ""), "Reader.swift": silent],
            [
                "App.xcodeproj/project.pbxproj": Projects.xcode(target: ""),
                "package.json":
                    "{\"dependencies\": {\"react-native-nfc-manager\": \"3\"}}",
            ],
        ] {
            let met = try rows(files).filter { $0.state == .met }.map(\.title)
            #expect(
                met.allSatisfy {
                    $0.hasPrefix("The session has a delegate") || $0.hasPrefix("AIDs") || $0.hasPrefix("Only")
                }
            )
        }
    }

    @Test func `Checklist: a comment that silences a rule makes its question unknown`() throws {
        let text = Projects.reader.replacing("class Reader", with: "// nfclint:disable:file\nclass Reader")
        let report = Projects.report(["Reader.swift": text])
        let unit = try #require(report.project.units.first { $0.usesCoreNFC })
        let findings = Linter(Rules.all).check(report.project, includesSuppressed: true)
        #expect(report.findings.isEmpty && Checklist(unit, report, findings: findings).rows[3].state == .unknown)
    }
}
