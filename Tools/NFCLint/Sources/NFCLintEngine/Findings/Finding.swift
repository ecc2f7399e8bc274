// SPDX-License-Identifier: Apache-2.0

/// A problem that a rule has found.
public struct Finding: Sendable, Hashable {
    /// The rule's id, such as `SRC003`.
    public var id: String
    /// The severity of the problem.
    public var severity: Severity
    /// The location of the problem.
    public var place: Place
    /// The problem, as a sentence.
    public var message: String
    /// How to fix the problem, as a sentence.
    public var remedy: String
    /// Whether the problem is certain. Problems that the syntax can't prove are never errors.
    public var isProven: Bool
    /// The target that contains the problem; nil if unknown.
    public var target: String?
    /// The edits that fix the problem; empty if a person must decide.
    public var edits: [Edit]

    /// Creates a finding.
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
