// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NFCLintEngine
import NFCLintRules

/// The `nfc-lint` program, which `nfc lint` starts.
@main
struct NFCLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-lint",
        abstract: "Check an app that uses Core NFC: its configuration, its texts and its code.",
        discussion: """
            Examples:
              nfc-lint .
              nfc-lint --sarif . >lint.sarif
              nfc-lint --fix --dry-run .
              nfc-lint --explain SRC003

            In a folder, nfc-lint finds the apps with their property lists, entitlements and
            sources, and uses the settings in .nfclint.yml. A comment
            // nfclint:disable SRC012 silences a rule for a line, a block or a file.

            Exit status: 0 without errors, 1 if there are errors, if nothing in a folder can
            be read or if the output can't be written, 2 for wrong usage. With --strict,
            warnings count as errors.
            """,
        version: "nfc-lint \(Linter.version)"
    )

    @Argument(help: "Folders or files to check. Default: the current folder.")
    var paths: [String] = []

    @OptionGroup var output: OutputOptions

    @Option(help: ArgumentHelp("A link on a tag that should open the app; may be repeated.", valueName: "link"))
    var url: [String] = []

    @Option(help: "The app identifier that association files should contain.")
    var app: String?

    @Option(help: ArgumentHelp("The configuration file to use instead of .nfclint.yml.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Ignore the findings recorded in this file.", valueName: "file"))
    var baseline: String?

    @Option(help: ArgumentHelp("Write the findings to this file, for --baseline.", valueName: "file"))
    var writeBaseline: String?

    @Flag(help: "Count warnings as errors.")
    var strict = false

    @Flag(help: "Leave out notes.")
    var hideNotes = false

    @Flag(help: "Fix the findings that can be fixed safely.")
    var fix = false

    @Flag(help: "With --fix: print the changes without making them.")
    var dryRun = false

    @Flag(help: "Print the list of rules.")
    var rules = false

    @Option(help: ArgumentHelp("Print the page of this rule.", valueName: "id"))
    var explain: String?

    @Option(help: .hidden)
    var writePages: String?

    func validate() throws {
        if dryRun, !fix { throw ValidationError("--dry-run works only with --fix.") }
        if let explain, Rules.rule(explain) == nil {
            throw ValidationError("Rule '\(explain)' does not exist. To list all rules: nfc-lint --rules")
        }
        for path in paths where !FileManager.default.fileExists(atPath: path) {
            throw ValidationError("'\(path)' does not exist.")
        }
    }

    /// Runs the command. Wrong usage exits with status 2, and is reported as JSON if requested.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let status as ExitCode {
            Foundation.exit(status.rawValue)
        } catch {
            let code = exitCode(for: error)
            if code == .success { exit(withError: error) }
            let isUsage = code == .validationFailure
            let text = message(for: error)
            let answer = Report.failure(isUsage ? "usage" : "unreadable-file", text) + "\n"
            // If writing the JSON fails, report the error as text.
            let isPrinted = CommandLine.arguments.contains("--json") && (try? Console.print(answer)) != nil
            if !isPrinted { Console.note("Error: \(text)") }
            Foundation.exit(isUsage ? 2 : 1)
        }
    }

    func run() throws {
        if rules { return try RuleList.print(json: output.json) }
        if let rule = explain.flatMap(Rules.rule) {
            return try Console.print((output.json ? rule.explanation : RulePage(rule).text) + "\n")
        }
        if let writePages { return try RulePages.write(to: URL(fileURLWithPath: writePages)) }
        var checks = try FolderCheck.all(of: paths, self)
        let absolute = { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        if let writeBaseline {
            let reports = Reports(checks.map(\.report), absolute: absolute)
            try FileChange.write(baseline: Baseline.text(reports), to: URL(fileURLWithPath: writeBaseline))
            let count = reports.all.reduce(0) { $0 + $1.findings.count }
            return Console.note("\(Self.words(count)) \(count == 1 ? "is" : "are") in \(writeBaseline) now.")
        }
        var reports = Reports(try FolderCheck.newReports(checks, self), absolute: absolute)
        if fix {
            try applyFixes(zip(reports.all, checks).map { ($0, $1.folder) })
            // Report what is left. The files have changed, so check them again.
            if !dryRun {
                checks = try FolderCheck.all(of: paths, self)
                reports = Reports(try FolderCheck.newReports(checks, self), absolute: absolute)
            }
        }
        if !dryRun { try output.write(reports) }
        if !reports.passes { throw ExitCode(1) }
    }

    private static func words(_ count: Int) -> String { count == 1 ? "1 finding" : "\(count) findings" }

    /// Applies the safe fixes, or prints them with `--dry-run`. Skips files outside the project that links point to.
    private func applyFixes(_ reports: [(report: Report, folder: URL)]) throws {
        var count = 0
        for (report, folder) in reports {
            let outside = Set(report.findings.flatMap(\.edits).map(\.path)).filter { path in
                !FileChange.isInside(folder, folder.appendingPathComponent(path))
            }
            for path in outside.sorted() { Console.note("\(path) is outside the project. It was not changed.") }
            let findings = report.findings.filter { $0.edits.allSatisfy { !outside.contains($0.path) } }
            let fixes = Fixes(findings, report.project.files)
            count += fixes.count
            if dryRun {
                try Console.print(fixes.diff)
                continue
            }
            for change in fixes.changes {
                try FileChange.write(change.after, to: folder.appendingPathComponent(change.path))
            }
        }
        let verb = dryRun ? "can be" : count == 1 ? "was" : "were"
        let left = reports.reduce(0) { $0 + $1.report.findings.count } - count
        let rest = dryRun ? ", \(left) can't" : ""
        Console.note("\(Self.words(count)) \(verb) fixed\(rest).")
    }
}
