// SPDX-License-Identifier: Apache-2.0

/// Checks a project with rules.
public struct Linter: Sendable {
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
    public func check(_ project: Project) -> [Finding] {
        let rules = rules
        let lists = Parallel.map(project.units) { unit in
            rules.flatMap { rule -> [Finding] in
                var findings = Findings(rule: rule, target: unit.target.name)
                rule.check(unit, &findings)
                return findings.all
            }
        }
        var seen: Set<Key> = []
        var result: [Finding] = []
        var suppressions: [String: Suppressions] = [:]
        for finding in (lists.joined() + broken(project)).sorted(by: Self.isBefore)
        where seen.insert(Key(finding)).inserted {
            let path = finding.place.path
            let fileSuppressions = suppressions[path] ?? Suppressions(project.files.bytes(path) ?? [])
            suppressions[path] = fileSuppressions
            guard !fileSuppressions.covers(finding) else { continue }
            var finding = finding
            finding.severity = configuration.severities[finding.id] ?? finding.severity
            result.append(finding)
        }
        return result
    }

    /// A finding for each file that can't be read.
    private func broken(_ project: Project) -> [Finding] {
        guard let rule = rules.first(where: { $0.id == Self.brokenFile }) else { return [] }
        return project.problems.map { problem in
            Finding(
                id: rule.id,
                // A file that was read in part is less serious than one that could not be checked.
                severity: problem.isWhole ? .error : rule.severity,
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
