// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NFCLintEngine
import NFCLintRules

/// The options for printing findings.
struct OutputOptions: ParsableArguments {
    enum Format: EnumerableFlag {
        case json
        case sarif
        case github
        case xcode
        case markdown

        static func help(for value: Format) -> ArgumentHelp? {
            switch value {
            case .json: "Print one JSON object."
            case .sarif: "Print a log in SARIF 2.1.0, for code scanning."
            case .github: "Print GitHub Actions workflow commands."
            case .xcode: "Print lines in Xcode's format."
            case .markdown: "Print a Markdown table for a pull request."
            }
        }
    }

    @Flag(exclusivity: .exclusive)
    var format: Format?

    @Flag(help: "Print the review checklist of each app; with --json as JSON.")
    var checklist = false

    /// Whether JSON output is requested.
    var json: Bool { format == .json }

    func write(_ reports: Reports) throws {
        if format != nil || checklist { for notice in reports.notices { Console.note(notice) } }
        if checklist { return try Console.print(checklists(reports)) }
        switch format {
        case .json: try Console.print(reports.json + "\n")
        case .sarif: try Console.print(reports.sarif + "\n")
        case .github: try Console.print(reports.all.map(\.github).joined())
        case .xcode: try Console.print(reports.all.map(\.xcode).joined())
        case .markdown: try Console.print(reports.markdown)
        case nil:
            let lines = reports.all.map { $0.targetLines + $0.text(hasColour: Console.hasColour) }
            let notices = reports.notices.map { $0 + "\n" }
            let counts = reports.counts.map { "\($0.id) \($0.count)" }.joined(separator: ", ")
            let rules = counts.isEmpty ? "" : "By rule: \(counts).\n"
            try Console.print((lines + notices).joined() + rules + reports.summary + "\n")
        }
    }

    private func checklists(_ reports: Reports) -> String {
        let lists = reports.all.flatMap { report in
            // Include findings that the project suppresses: they still mean that a requirement is not met.
            let findings = Linter(Rules.all).check(report.project, includesSuppressed: true)
            return report.project.units.filter { $0.isApp || $0.usesCoreNFC }.map { unit in
                Checklist(unit, report, findings: findings)
            }
        }
        return json ? Checklist.json(lists) + "\n" : lists.map(\.text).joined()
    }
}
