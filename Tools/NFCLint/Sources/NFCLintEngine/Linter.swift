// SPDX-License-Identifier: Apache-2.0

/// Checks a project with rules.
public struct Linter: Sendable {
    private let rules: [Rule]

    /// - Parameter rules: the rules that are on.
    public init(_ rules: [Rule]) { self.rules = rules }

    /// What the rules find, in order of place; the same finding of two targets is there once.
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
        for finding in lists.joined().sorted(by: Self.isBefore) where seen.insert(Key(finding)).inserted {
            result.append(finding)
        }
        return result
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
