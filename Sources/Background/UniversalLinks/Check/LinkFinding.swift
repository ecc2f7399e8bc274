// SPDX-License-Identifier: Apache-2.0

/// Something that is wrong with an association file or an app's associated domains, or has another effect than it looks.
public struct LinkFinding: Sendable, Hashable {
    /// How much it matters.
    public enum Severity: String, Sendable, Hashable {
        /// Links don't open the app, or others do.
        case error
        /// A part has no effect, or another one than it looks.
        case warning
        /// Good to know.
        case information
    }

    /// The rule that found it, such as `AASA011`. It never changes its meaning.
    public let id: String
    /// How much it matters.
    public let severity: Severity
    /// What is wrong and where, as sentences for people.
    public let message: String

    init(_ id: String, _ severity: Severity, _ message: String) {
        self.id = id
        self.severity = severity
        self.message = message
    }
}

extension AssociationFileError {
    /// The rule of ``LinkFinding`` that the file breaks.
    public var rule: String { code == .tooLarge ? "AASA002" : "AASA001" }

    /// The same, as a finding.
    public var finding: LinkFinding { LinkFinding(rule, .error, reason) }
}
