// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Checks a project with rules.
public struct Linter: Sendable {
    /// The version of nfc-lint.
    public static let version = ProjectVersion.current
    /// The rule for files that can't be read.
    public static let brokenFile = "LNT001"

    private let rules: [Rule]
    private let configuration: LintConfiguration

    /// - Parameters:
    ///   - rules: all rules.
    ///   - configuration: settings that disable rules or change severities.
    public init(_ rules: [Rule], configuration: LintConfiguration = LintConfiguration()) {
        self.rules = rules.filter { !configuration.disabled.contains($0.id) }
        self.configuration = configuration
    }

    /// The findings of all rules, ordered by location. A finding that occurs in several targets is listed once.
    ///
    /// - Parameters:
    ///   - project: the project.
    ///   - includesSuppressed: whether findings that comments suppress are listed too, as unproven.
    public func check(_ project: Project, includesSuppressed: Bool = false) -> [Finding] {
        // The work is split by rule too, because most projects have one large target.
        let pairs = project.units.flatMap { unit in rules.map { (unit, $0) } }
        let lists = Parallel.map(pairs) { unit, rule in
            var findings = Findings(rule: rule, target: unit.target.name)
            rule.check(unit, &findings)
            return findings.all
        }
        var seen: Set<Key> = []
        var result: [Finding] = []
        var suppressions: [String: Suppressions] = [:]
        for finding in (lists.joined() + broken(project)).sorted(by: Self.isBefore)
        where seen.insert(Key(finding)).inserted {
            let path = finding.place.path
            let fileSuppressions = suppressions[path] ?? Suppressions(project.files.bytes(path) ?? [])
            suppressions[path] = fileSuppressions
            let isSuppressed = fileSuppressions.covers(finding)
            guard !isSuppressed || includesSuppressed else { continue }
            var finding = finding
            finding.isProven = finding.isProven && !isSuppressed
            finding.severity = configuration.severities[finding.id] ?? finding.severity
            result.append(finding)
        }
        return result
    }

    /// A finding for each file that can't be read.
    private func broken(_ project: Project) -> [Finding] {
        guard let rule = rules.first(where: { $0.id == Self.brokenFile }) else { return [] }
        let unread = Set(project.problems.filter(\.isWhole).map(\.place.path))
        // If no file can be read, nothing was checked, and the check must not pass.
        let isAll = !unread.isEmpty && project.files.paths.allSatisfy(unread.contains)
        return project.problems.map { problem in
            Finding(
                id: rule.id,
                severity: isAll ? .error : rule.severity,
                place: problem.place,
                message: problem.reason,
                remedy: rule.fix
            )
        }
    }

    private struct Key: Hashable {
        var id: String
        var place: Place

        init(_ finding: Finding) {
            id = finding.id
            place = finding.place
        }
    }

    static func isBefore(_ left: Finding, _ right: Finding) -> Bool {
        if left.place != right.place { return left.place < right.place }
        if left.id != right.id { return left.id < right.id }
        return left.severity > right.severity
    }
}
