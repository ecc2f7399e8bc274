// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules
import Testing

/// Names and texts of a project never write more than themselves into an answer.
@Suite struct InjectionTests {
    private static let bad = "a\r\n::error title=x::y\u{1B}[31m\u{2028}b"

    private func report() -> Report {
        let files = Folders.app.map { (Self.bad + "/" + $0.key, $0.value) }
        var report = Projects.report(Dictionary(uniqueKeysWithValues: files))
        report.folder = Self.bad
        return report
    }

    @Test func `Hostile names in a project: no output has a workflow command or an escape sequence from them`() throws {
        let report = report()
        let unit = try #require(report.project.units.first)
        let fixes = Fixes(report.findings, report.project.files)
        for output in [
            report.text(), report.targetLines, report.xcode, report.github, report.markdown, report.json, report.sarif,
            Checklist(unit, report).text, Checklist.json([Checklist(unit, report)]), fixes.diff,
        ] {
            let lines = output.unicodeScalars.split { "\r\n\u{2028}".unicodeScalars.contains($0) }.map(String.init)
            #expect(!lines.contains { $0.hasPrefix("::error title=x") || $0.contains("\u{1B}") })
        }
        #expect(report.github.utf8.count { $0 == 0x0A } == report.findings.count)
    }

    @Test func `--fix --dry-run: control characters in the diff are escaped, and all other lines are unchanged`() throws
    {
        let list = Projects.list("\r\n<!-- \u{1B}]0;title\u{7} \u{202E} -->\r\n\t<!-- end -->\r\n")
        try Folders.withFiles(["Info.plist": list, "Reader.swift": Projects.reader]) { folder in
            let shown = try Command.run(["--fix", "--dry-run", folder.path]).output
            #expect(
                shown.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 && $0 != "\u{202E}" || "\r\n\t".unicodeScalars.contains($0)
                }
            )
            #expect(shown.contains("\\u{1b}]0;title\\u{7}"))
            #expect(shown.utf8.split(separator: 0x0A).contains { $0.elementsEqual(" \t<!-- end -->\r".utf8) })
        }
    }

    @Test
    func `Hostile key in .nfclint.yml or path on the command line: messages have no escape sequence or added line`()
        throws
    {
        try Folders.withFiles([".nfclint.yml": "\"a\u{1B}[31m\": 1\n", "A.swift": "let a = 1\n"]) { folder in
            let answer2 = try Command.run([folder.path])
            #expect(!answer2.errors.contains("\u{1B}"))
            let answer = try Command.run(["--url", Self.bad, folder.path + "/" + Self.bad])
            #expect(answer.status == 2 && answer.errors.utf8.count { $0 == 0x0A } == 1)
            #expect(!answer.errors.contains("\u{1B}"))
        }
    }

    @Test func `Markdown report: a hostile message makes no link, image, mention or column`() {
        let finding = Finding(
            id: "TXT001",
            severity: .warning,
            place: Place("a`|<b>.swift"),
            message: "![x](http://a.example/b) [y](z) <img> @octocat #12 `code` | end",
            remedy: "Nothing."
        )
        var report = Projects.report([:])
        report.findings = [finding]
        let row = report.markdown.split(separator: "\n").last ?? ""
        #expect(row.contains("| `a'\\|<b>.swift:1` |"))
        for part in ["![", "](", "<img", "@octocat", "#12", " `code", "http://"] { #expect(!row.contains(part)) }
        #expect(row.replacing("\\|", with: "").count { $0 == "|" } == 6)
    }
}
