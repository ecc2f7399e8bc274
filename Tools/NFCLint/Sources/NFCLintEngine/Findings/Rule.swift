// SPDX-License-Identifier: Apache-2.0

/// A rule: its description, rationale, examples and check.
public struct Rule: Sendable {
    /// The id, such as `SRC003`. The meaning of an id never changes.
    public var id: String
    /// The default severity of the rule's findings.
    public var severity: Severity
    /// A short title.
    public var title: String
    /// Why the rule matters.
    public var why: String
    /// How to fix a finding.
    public var fix: String
    /// Projects in which the rule finds a problem.
    public var bad: [Example]
    /// Projects in which the rule finds no problem.
    public var good: [Example]
    /// Checks one target.
    public var check: @Sendable (Unit, inout Findings) -> Void

    /// Creates a rule.
    public init(
        id: String,
        severity: Severity,
        title: String,
        why: String,
        fix: String,
        bad: [Example],
        good: [Example],
        check: @escaping @Sendable (Unit, inout Findings) -> Void
    ) {
        self.id = id
        self.severity = severity
        self.title = title
        self.why = why
        self.fix = fix
        self.bad = bad
        self.good = good
        self.check = check
    }

    /// The command that prints the rule's page.
    public var page: String { "nfc-lint --explain \(id)" }
}

extension Rule {
    /// The rule as one JSON object on a line.
    public var json: String { JSONOutput.line(.object(members)) }

    /// The rule with its rationale, remedy and page, as one JSON object on a line.
    public var explanation: String {
        JSONOutput.line(
            .object(members + [("why", .text(why)), ("remedy", .text(fix)), ("text", .text(RulePage(self).text))])
        )
    }

    private var members: [(String, JSONOutput.Value)] {
        [("id", .text(id)), ("severity", .text(severity.rawValue)), ("title", .text(title)), ("page", .text(page))]
    }
}
