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

            A folder is enough: the apps in it are found, with their lists, entitlements and
            sources. What .nfclint.yml in it chooses counts. A comment
            // nfclint:disable SRC012 silences a rule for a line, a block or a file.

            Exit status: 0 without errors, 1 with errors, when nothing of a file or folder
            can be read, or when the output can't be written, 2 for wrong usage. With
            --strict warnings count as errors.
            """
    )

    @Argument(help: "Folders or files; the current folder without any.")
    var paths: [String] = []

    @OptionGroup var output: OutputOptions

    @Option(help: ArgumentHelp("A link of a tag, which is to open the app; may be given again.", valueName: "link"))
    var url: [String] = []

    @Option(help: "The app's identifier, which association files are to name.")
    var app: String?

    @Option(help: ArgumentHelp("Another file than .nfclint.yml.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Leave out the findings of this file.", valueName: "file"))
    var baseline: String?

    @Option(help: ArgumentHelp("Write the findings to this file, for --baseline.", valueName: "file"))
    var writeBaseline: String?

    @Flag(help: "Count warnings as errors.")
    var strict = false

    @Flag(help: "Mend what is safe to mend.")
    var fix = false

    @Flag(help: "With --fix: print the changes, and make none.")
    var dryRun = false

    @Flag(help: "Print the rules.")
    var rules = false

    @Option(help: ArgumentHelp("Print the page of a rule.", valueName: "id"))
    var explain: String?

    @Option(help: .hidden)
    var writePages: String?

    func validate() throws {
        if dryRun, !fix { throw ValidationError("--dry-run goes with --fix.") }
        if let explain, Rules.rule(explain) == nil {
            throw ValidationError("There is no rule '\(explain)'. nfc-lint --rules prints all.")
        }
        for path in paths where !FileManager.default.fileExists(atPath: path) {
            throw ValidationError("'\(path)' is not there.")
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
            let isTold = CommandLine.arguments.contains("--json") && (try? Console.print(answer)) != nil
            if !isTold { Console.note("Error: \(text)") }
            Foundation.exit(isUsage ? 2 : 1)
        }
    }

    func run() throws {
        if rules { return try RuleList.print(json: output.json) }
        if let rule = explain.flatMap(Rules.rule) {
            return try Console.print((output.json ? rule.explanation : RulePage(rule).text) + "\n")
        }
        if let writePages { return try RulePages.write(to: URL(fileURLWithPath: writePages)) }
        let checks = try FolderCheck.all(of: paths, self)
        let absolute = { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        if let writeBaseline {
            let reports = Reports(checks.map(\.report), absolute: absolute)
            try FileChange.write(baseline: Baseline.text(reports), to: URL(fileURLWithPath: writeBaseline))
            let count = reports.all.reduce(0) { $0 + $1.findings.count }
            return Console.note("\(Self.words(count)) \(count == 1 ? "is" : "are") in \(writeBaseline) now.")
        }
        let reports = Reports(try FolderCheck.newReports(checks, baseline: baseline), absolute: absolute)
        if fix { return try mend(zip(reports.all, checks).map { ($0, $1.folder) }) }
        try output.write(reports)
        if !reports.isFine { throw ExitCode(1) }
    }

    private static func words(_ count: Int) -> String { count == 1 ? "1 finding" : "\(count) findings" }

    /// Applies the safe fixes, or prints them with `--dry-run`. Skips files outside the project that links point to.
    private func mend(_ reports: [(report: Report, folder: URL)]) throws {
        var count = 0
        for (report, folder) in reports {
            let outside = Set(report.findings.flatMap(\.edits).map(\.path)).filter { path in
                !FileChange.isInside(folder, folder.appendingPathComponent(path))
            }
            for path in outside.sorted() { Console.note("\(path) leads out of the project. It stays as it is.") }
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
        Console.note("\(Self.words(count)) \(verb) mended.")
    }
}
