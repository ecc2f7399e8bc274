// SPDX-License-Identifier: Apache-2.0

/// What a rule found in a place.
public struct Finding: Sendable, Hashable {
    /// The rule's id, such as `SRC003`.
    public var id: String
    /// How much it matters.
    public var severity: Severity
    /// Where it is.
    public var place: Place
    /// What is wrong, as a sentence.
    public var message: String
    /// How to mend it, as a sentence.
    public var remedy: String
    /// Whether it is certain. What syntax can't prove is never an error.
    public var isProven: Bool
    /// The target in which it was found; nil for none.
    public var target: String?
    /// The changes that fix it; empty when a person must decide.
    public var edits: [Edit]

    /// A finding.
    public init(
        id: String,
        severity: Severity,
        place: Place,
        message: String,
        remedy: String,
        isProven: Bool = true,
        target: String? = nil,
        edits: [Edit] = []
    ) {
        self.id = id
        self.severity = severity
        self.place = place
        self.message = message
        self.remedy = remedy
        self.isProven = isProven
        self.target = target
        self.edits = edits
    }
}
