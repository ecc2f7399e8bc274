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
              nfc-lint --json MyApp
              nfc-lint --explain SRC003

            Exit status: 0 when there are no errors, 1 when there are, 2 for wrong usage.
            With --strict warnings count as errors.
            """
    )

    @Argument(help: "Folders or files.")
    var paths: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Count warnings as errors.")
    var strict = false

    func run() throws {
        var isFine = true
        for path in paths.isEmpty ? ["."] : paths { isFine = try check(path) && isFine }
        if !isFine { throw ExitCode(1) }
    }

    private func check(_ path: String) throws -> Bool {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ValidationError("\(path) is not there.")
        }
        let isFolder = try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
        let folder = isFolder ? path : (path as NSString).deletingLastPathComponent
        let project = Project(DiskFiles(root: url))
        let findings = Linter(Rules.all).check(project)
        let report = Report(findings: findings, project: project, rules: Rules.all, folder: folder, isStrict: strict)
        if json {
            print(report.json)
        } else {
            print(report.targetLines, terminator: "")
            print(report.text(), terminator: "")
            print(report.summary)
        }
        return report.isFine
    }
}
