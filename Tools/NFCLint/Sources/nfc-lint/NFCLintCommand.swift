// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NFCLintEngine
import NFCLintRules

/// `nfc-lint`, which `nfc lint` starts.
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

            Exit status: 0 without errors, 1 with errors or when a file can't be read,
            2 for wrong usage. With --strict warnings count as errors.
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
        if output.format == .sarif, paths.count > 1 { throw ValidationError("--sarif is for one folder.") }
        if let explain, Rules.rule(explain) == nil {
            throw ValidationError("There is no rule '\(explain)'. nfc-lint --rules prints all.")
        }
        for path in paths where !FileManager.default.fileExists(atPath: path) {
            throw ValidationError("'\(path)' is not there.")
        }
    }

    /// Wrong usage ends with 2, and is answered in JSON too where that is asked for.
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
            if CommandLine.arguments.contains("--json") {
                print(Report.failure(isUsage ? "usage" : "unreadable-file", text))
            } else {
                FileHandle.standardError.write(Data("Error: \(text)\n".utf8))
            }
            Foundation.exit(isUsage ? 2 : 1)
        }
    }

    func run() throws {
        if rules { return RuleList.print(json: output.json) }
        if let rule = explain.flatMap(Rules.rule) { return print(RulePage(rule).text) }
        if let writePages { return try RulePages.write(to: URL(fileURLWithPath: writePages)) }
        var isFine = true
        for path in paths.isEmpty ? ["."] : paths { isFine = try check(path) && isFine }
        if !isFine { throw ExitCode(1) }
    }

    private func check(_ path: String) throws -> Bool {
        let choices = try Choices(path: path, named: config)
        let url = URL(fileURLWithPath: path)
        let folder = choices.isFolder ? path : (path as NSString).deletingLastPathComponent
        let options = ProjectOptions(
            links: self.url,
            app: app,
            objects: choices.configuration.objects,
            products: choices.configuration.products,
            images: choices.isFolder ? [] : [url.lastPathComponent]
        )
        let project = Project(DiskFiles(root: url, excluded: choices.configuration.excluded), options: options)
        let findings = Linter(Rules.all, configuration: choices.configuration).check(project)
        var report = Report(findings: findings, project: project, rules: Rules.all, folder: folder, isStrict: strict)
        if let writeBaseline {
            try Data(Baseline.text(report).utf8).write(to: URL(fileURLWithPath: writeBaseline), options: .atomic)
            FileHandle.standardError.write(Data("\(findings.count) findings are in \(writeBaseline) now.\n".utf8))
            return true
        }
        if let file = baseline ?? choices.baseline {
            report.findings = try choices.read(baseline: file).newFindings(report)
        }
        if fix { return try mend(report, folder: choices.isFolder ? url : url.deletingLastPathComponent()) }
        output.write(report)
        return report.isFine
    }

    /// Mends what is safe, and prints the changes with `--dry-run`.
    private func mend(_ report: Report, folder: URL) throws -> Bool {
        let fixes = Fixes(report.findings, report.project.files)
        if dryRun {
            print(fixes.diff, terminator: "")
        } else {
            for change in fixes.changes {
                try FileChange.write(change.after, to: folder.appendingPathComponent(change.path))
            }
        }
        let count = fixes.count == 1 ? "1 finding" : "\(fixes.count) findings"
        FileHandle.standardError.write(Data("\(count) \(dryRun ? "can be" : "were") mended.\n".utf8))
        return true
    }
}
