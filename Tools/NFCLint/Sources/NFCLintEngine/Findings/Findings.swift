// SPDX-License-Identifier: Apache-2.0

/// Collects the findings of a rule in a target.
public struct Findings {
    let rule: Rule
    let target: String?
    /// The findings so far.
    public private(set) var all: [Finding] = []

    init(rule: Rule, target: String?) {
        self.rule = rule
        self.target = target
    }

    /// Adds a finding.
    ///
    /// - Parameters:
    ///   - place: the location; if nil, nothing is added.
    ///   - message: the problem, as a sentence.
    ///   - remedy: how to fix the problem; nil for the rule's own text.
    ///   - severity: the severity; nil for the rule's own severity.
    ///   - isProven: whether the problem is certain.
    ///   - edits: the edits that fix the problem.
    public mutating func add(
        _ place: Place?,
        _ message: String,
        remedy: String? = nil,
        severity: Severity? = nil,
        isProven: Bool = true,
        edits: [Edit] = []
    ) {
        guard let place else { return }
        all.append(
            Finding(
                id: rule.id,
                severity: severity ?? rule.severity,
                place: place,
                message: message,
                remedy: remedy ?? rule.fix,
                isProven: isProven,
                target: target,
                edits: edits
            )
        )
    }
}
