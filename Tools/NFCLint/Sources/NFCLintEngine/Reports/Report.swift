// SPDX-License-Identifier: Apache-2.0

/// The result of checking a project, for output in one of the formats.
public struct Report: Sendable {
    /// The findings in order.
    public var findings: [Finding]
    /// The project.
    public var project: Project
    /// The rules that were on.
    public var rules: [Rule]
    /// The folder that paths are relative to, as the caller named it; empty for the current one.
    public var folder: String
    /// Whether warnings count as errors.
    public var isStrict: Bool
    private let lines = LineCache()

    /// A report.
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

    /// Whether there are no findings that fail a build.
    public var isFine: Bool {
        !findings.contains { $0.severity == .error || isStrict && $0.severity == .warning }
    }

    func count(_ severity: Severity) -> Int { findings.count { $0.severity == severity } }

    /// The numbers in words.
    public var summary: String { Reports([self]).summary }

    /// The targets that people ask for.
    var shownUnits: [Unit] { project.units.filter { $0.usesCoreNFC || $0.isApp } }

    /// A note that a folder has no app; nil when it has one, and for a single file.
    var notice: String? {
        guard shownUnits.isEmpty, project.options.images.isEmpty else { return nil }
        return "No app was found in \((folder.isEmpty ? "." : folder).visible), and nothing that uses Core NFC."
    }

    func page(_ finding: Finding) -> String { rules.first { $0.id == finding.id }?.page ?? "" }

    /// A path as the caller can open it.
    func path(_ path: String) -> String { folder.isEmpty || folder == "." ? path : PathLookup.appending(folder, path) }

    /// The line of a file at a place; nil when there is none.
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
    /// A path in a folder, which may begin with a slash.
    static func appending(_ folder: String, _ path: String) -> String {
        folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }
}
