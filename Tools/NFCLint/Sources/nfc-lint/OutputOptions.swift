// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NFCLintEngine

/// How the findings are printed.
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
            case .github: "Print workflow commands of GitHub Actions."
            case .xcode: "Print lines as Xcode reads them."
            case .markdown: "Print a table in Markdown, for a pull request."
            }
        }
    }

    @Flag(exclusivity: .exclusive)
    var format: Format?

    @Flag(help: "Print the review checklist of each app; with --json as JSON.")
    var checklist = false

    /// Whether one JSON object is asked for.
    var json: Bool { format == .json }

    func write(_ report: Report) {
        if checklist { return printChecklists(report) }
        switch format {
        case .json: print(report.json)
        case .sarif: print(report.sarif)
        case .github: print(report.github, terminator: "")
        case .xcode: print(report.xcode, terminator: "")
        case .markdown: print(report.markdown, terminator: "")
        case nil:
            let isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
            print(report.targetLines, terminator: "")
            print(report.text(hasColour: isTerminal), terminator: "")
            print(report.summary)
        }
    }

    private func printChecklists(_ report: Report) {
        for unit in report.project.units where unit.isApp || unit.usesCoreNFC {
            let list = Checklist(unit, report)
            print(json ? list.json + "\n" : list.text, terminator: "")
        }
    }
}
