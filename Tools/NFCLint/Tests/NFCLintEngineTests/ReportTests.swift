// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules
import Testing

@Suite struct ReportTests {
    private let report = Projects.report(["My Reader.swift": Projects.reader])

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `JSON report: one object on one line, with all members of each finding`() throws {
        #expect(!report.json.contains("\n"))
        let object = try object(report.json)
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.count == 2 && object["ok"] as? Bool == true && object["error"] is NSNull)
        #expect(findings[0]["id"] as? String == "SRC001" && findings[0]["line"] as? Int == 6)
        #expect(findings[0]["file"] as? String == "My Reader.swift" && findings[0]["column"] as? Int == 19)
        let keys: Set = [
            "id", "severity", "file", "line", "column", "message", "remedy", "proven", "fixable", "target", "page",
        ]
        #expect(Set(findings[0].keys) == keys)
    }

    @Test func `SARIF log: each result has the index of its rule, and its file, line and column`() throws {
        let log = try object(report.sarif)
        #expect(log["version"] as? String == "2.1.0")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
        let rules = try #require(driver["rules"] as? [[String: Any]])
        for result in try #require(run["results"] as? [[String: Any]]) {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
            #expect(["error", "warning", "note"].contains(result["level"] as? String))
            let location = try #require(
                (result["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any]
            )
            let artifact = try #require(location["artifactLocation"] as? [String: Any])
            #expect(artifact["uri"] as? String == "My%20Reader.swift")
            let region = try #require(location["region"] as? [String: Any])
            #expect((region["startLine"] as? Int ?? 0) >= 1 && (region["startColumn"] as? Int ?? 0) >= 1)
        }
    }

    @Test(arguments: [
        ("/srv/App", "file:///srv/App/My%20Reader.swift"), ("./App", "App/My%20Reader.swift"),
        (".", "My%20Reader.swift"),
    ])
    func `SARIF log: a file has a file: URI, or a path relative to the current folder`(folder: String, uri: String) {
        var placed = report
        placed.folder = folder
        #expect(placed.sarif.contains("\"uri\":\"\(uri)\""), "\(placed.sarif)")
    }

    @Test func `Severities: error, warning and note in SARIF; error, warning and notice on GitHub`() throws {
        let text = "disabled: [TXT010]\nseverity:\n  SRC001: SEVERITY\n"
        for (severity, level, command) in [
            ("error", "error", "error"), ("warning", "warning", "warning"), ("info", "note", "notice"),
        ] {
            let chosen = text.replacing("SEVERITY", with: severity)
            let configuration = LintConfiguration(Array(chosen.utf8), known: Set(Rules.all.map(\.id)))
            let project = Projects.project(["Reader.swift": Projects.reader])
            let findings = Linter(Rules.all, configuration: configuration).check(project)
            let report = Report(findings: findings, project: project, rules: Rules.all)
            #expect(report.sarif.contains(#""ruleId":"SRC001","ruleIndex":"#))
            let run = try #require((try object(report.sarif)["runs"] as? [[String: Any]])?.first)
            let results = try #require(run["results"] as? [[String: Any]])
            #expect(results.map { $0["level"] as? String } == [level])
            #expect(report.github.hasPrefix("::\(command) "), "\(report.github)")
        }
    }

    @Test func `Text report: the line of the finding, with a caret at its column`() {
        let lines = report.text().split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("My Reader.swift:6:19: warning: "))
        #expect(lines[1].contains("session = NFCNDEFReaderSession("))
        #expect(lines[2].count == 4 + 19)
    }

    @Test func `Reports: contain no control characters of a source file`() {
        let text = Projects.reader.replacing("session?.begin()", with: "session?.begin() // \u{1B}[31m\u{202E}")
        let report = Projects.report(["Reader.swift": text])
        for output in [report.text(), report.xcode, report.markdown, report.github] {
            #expect(!output.contains("\u{1B}") && !output.contains("\u{202E}"))
        }
    }

    @Test func `GitHub, Xcode and Markdown reports: a line for each finding`() {
        #expect(
            report.github.split(separator: "\n").count == 2
                && report.github.hasPrefix("::warning file=My Reader.swift,line=6,")
        )
        #expect(report.xcode.hasPrefix("My Reader.swift:6:19: warning: "))
        #expect(report.markdown.contains("| ⚠️ | SRC001 | `My Reader.swift:6` |"))
    }

    @Test func `Checklist: twelve rows, each with its state and place`() throws {
        let unit = try #require(report.project.units.first { $0.usesCoreNFC })
        let list = Checklist(unit, report)
        #expect(list.rows.count == 12)
        #expect(list.rows[3].state == .notMet && list.rows[3].place == "My Reader.swift:6 (SRC001)")
        #expect(list.rows[0].state == .unknown && list.rows[4].state == .met)
    }

    @Test func `Report with warnings only: fails in a strict run, else passes`() {
        var strict = report
        strict.isStrict = true
        #expect(report.passes && !strict.passes)
    }

    @Test func `Rule page: has the fix, and the beginning of each example file`() {
        for rule in Rules.all {
            let page = RulePage(rule).markdown
            #expect(page.contains(rule.fix), "\(rule.id)")
            for file in (rule.bad + rule.good).flatMap(\.files) {
                let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
                let beginning = lines.first.map { String($0.prefix(200)) } ?? ""
                #expect(page.contains("`\(file.path)`:"), "\(rule.id): \(file.path)")
                #expect(page.contains(beginning), "\(rule.id): \(file.path)")
            }
        }
    }
}
