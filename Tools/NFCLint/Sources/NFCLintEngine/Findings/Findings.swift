// SPDX-License-Identifier: Apache-2.0

/// Takes what a rule finds in a target.
public struct Findings {
    let rule: Rule
    let target: String?
    /// What was found.
    public private(set) var all: [Finding] = []

    init(rule: Rule, target: String?) {
        self.rule = rule
        self.target = target
    }

    /// Adds a finding.
    ///
    /// - Parameters:
    ///   - place: where it is; nil adds nothing.
    ///   - message: what is wrong, as a sentence.
    ///   - remedy: how to mend it; nil for what the rule says.
    ///   - severity: how much it matters; nil for what the rule says.
    ///   - isProven: whether it is certain.
    ///   - edits: the changes that mend it.
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
