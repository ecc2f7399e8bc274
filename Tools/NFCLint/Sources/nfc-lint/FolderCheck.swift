// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules

/// The result of checking one path of the command.
struct FolderCheck {
    var report: Report
    /// The folder that contains the findings.
    let folder: URL
    private let choices: Choices

    private init(_ path: String, _ command: NFCLintCommand) throws {
        choices = try Choices(path: path, named: command.config)
        let url = URL(fileURLWithPath: path)
        folder = choices.isFolder ? url : url.deletingLastPathComponent()
        let options = ProjectOptions(
            links: command.url,
            app: command.app,
            objects: choices.configuration.objects,
            products: choices.configuration.products,
            images: choices.isFolder ? [] : [url.lastPathComponent]
        )
        let project = Project(DiskFiles(root: url, excluded: choices.configuration.excluded), options: options)
        report = Report(
            findings: Linter(Rules.all, configuration: choices.configuration).check(project),
            project: project,
            rules: Rules.all,
            folder: choices.isFolder ? path : (path as NSString).deletingLastPathComponent,
            isStrict: command.strict
        )
    }

    /// Checks each path. Skips a path that was already checked as part of an outer folder.
    static func all(of paths: [String], _ command: NFCLintCommand) throws -> [FolderCheck] {
        var checks: [(path: String, check: FolderCheck)] = []
        // Check outer folders first.
        let named = (paths.isEmpty ? ["."] : paths).map {
            (path: $0, real: URL(fileURLWithPath: $0).resolvingSymlinksInPath().path)
        }
        let order = named.indices.sorted { (named[$0].real.utf8.count, $0) < (named[$1].real.utf8.count, $1) }
        var positions: [Int] = []
        for index in order {
            let (path, real) = named[index]
            let isChecked = checks.contains { outer in outer.check.has(real, in: outer.path) }
            guard !isChecked else { continue }
            checks.append((real, try FolderCheck(path, command)))
            positions.append(index)
        }
        return zip(positions, checks.map(\.check)).sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Whether a folder or source file was part of this check.
    private func has(_ path: String, in own: String) -> Bool {
        if path == own { return true }
        let prefix = own.hasSuffix("/") ? own : own + "/"
        guard choices.isFolder, path.hasPrefix(prefix) else { return false }
        let inner = path.dropFirst(prefix.count)
        // A tag's content is checked only if the user names the file.
        return report.project.files.paths.contains {
            $0.hasPrefix(inner + "/") || $0 == inner && inner.hasSuffix(".swift")
        }
    }

    /// The reports without the findings in the baselines, and without notes if the user hides them.
    static func newReports(_ checks: [FolderCheck], _ command: NFCLintCommand) throws -> [Report] {
        var known: [String: Baseline] = [:]
        return try checks.map { check in
            var report = check.report
            if let path = command.baseline ?? check.choices.baseline {
                var left = try known[path] ?? check.choices.read(baseline: path)
                report.findings = left.takeNewFindings(report)
                known[path] = left
            }
            if command.hideNotes { report.findings.removeAll { $0.severity == .info } }
            return report
        }
    }
}
