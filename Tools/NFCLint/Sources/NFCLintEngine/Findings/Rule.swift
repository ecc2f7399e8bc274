// SPDX-License-Identifier: Apache-2.0

/// A rule: its description, its reason, examples, and its check.
public struct Rule: Sendable {
    /// The id, such as `SRC003`. It never changes its meaning.
    public var id: String
    /// How much its findings matter, unless a finding says otherwise.
    public var severity: Severity
    /// What it is about, in a few words.
    public var title: String
    /// Why it matters.
    public var why: String
    /// How to mend it.
    public var fix: String
    /// Projects in which it finds something.
    public var bad: [Example]
    /// Projects in which it finds nothing.
    public var good: [Example]
    /// Looks for it in one target.
    public var check: @Sendable (Unit, inout Findings) -> Void

    /// A rule.
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

    /// The command that prints its page.
    public var page: String { "nfc lint --explain \(id)" }
}

extension Rule {
    /// The rule as one JSON object on a line.
    public var json: String { JSONOutput.line(.object(members)) }

    /// The rule with its reason, its remedy and its page, as one JSON object on a line.
    public var explanation: String {
        JSONOutput.line(
            .object(members + [("why", .text(why)), ("remedy", .text(fix)), ("text", .text(RulePage(self).text))])
        )
    }

    private var members: [(String, JSONOutput.Value)] {
        [("id", .text(id)), ("severity", .text(severity.rawValue)), ("title", .text(title)), ("page", .text(page))]
    }
}
