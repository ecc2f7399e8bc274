// SPDX-License-Identifier: Apache-2.0

/// The result of checking a project, which can be output in several formats.
public struct Report: Sendable {
    /// The findings in order.
    public var findings: [Finding]
    /// The project.
    public var project: Project
    /// The rules that were enabled.
    public var rules: [Rule]
    /// The folder that paths are relative to, as the caller wrote it; empty for the current folder.
    public var folder: String
    /// Whether warnings count as errors.
    public var isStrict: Bool
    private let lines = LineCache()

    /// Creates a report.
    public init(
        findings: [Finding],
        project: Project,
        rules: [Rule],
        folder: String = "",
        isStrict: Bool = false
    ) {
        self.findings = findings
        self.project = project
        self.rules = rules
        self.folder = folder
        self.isStrict = isStrict
    }

    /// Whether the build passes: no findings count as errors.
    public var passes: Bool {
        !findings.contains { $0.severity == .error || isStrict && $0.severity == .warning }
    }

    func count(_ severity: Severity) -> Int { findings.count { $0.severity == severity } }

    /// The numbers of findings, as a sentence.
    public var summary: String { Reports([self]).summary }

    /// The targets to show: apps and users of Core NFC.
    var shownUnits: [Unit] { project.units.filter { $0.usesCoreNFC || $0.isApp || $0.importsCoreNFC } }

    /// A note that the folder contains no app; nil if it contains one or if single files were checked.
    var notice: String? {
        guard shownUnits.isEmpty, project.options.images.isEmpty else { return nil }
        let found = "No app was found in \((folder.isEmpty ? "." : folder).visible)"
        if let plugin = project.plugin {
            return "\(found), but \(path(plugin.path).visible) names a plugin for NFC. Generate the iOS project first."
        }
        return "\(found), and nothing that uses Core NFC."
    }

    func page(_ finding: Finding) -> String { rules.first { $0.id == finding.id }?.page ?? "" }

    /// Makes a path relative to the caller's current folder.
    func path(_ path: String) -> String { folder.isEmpty || folder == "." ? path : PathLookup.appending(folder, path) }

    /// The source line at a location; nil if there is no such line.
    func line(_ place: Place) -> String? {
        let lines = lines.lines(place.path, project.files)
        let number = place.position.line
        guard (1...max(lines.count, 1)).contains(number), number < lines.count || lines.last?.isEmpty == false else {
            return nil
        }
        return text(lines[number - 1])
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.count > 400 ? nil : String(decoding: bytes.filter { $0 != 0x0D }, as: UTF8.self)
    }
}

extension PathLookup {
    /// Appends a path to a folder, which may be absolute.
    static func appending(_ folder: String, _ path: String) -> String {
        folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }
}
