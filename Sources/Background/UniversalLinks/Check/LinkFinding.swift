// SPDX-License-Identifier: Apache-2.0

/// A problem in an association file or an app's associated domains, or a part whose effect differs from what one
/// expects.
public struct LinkFinding: Sendable, Hashable {
    /// How serious a finding is.
    public enum Severity: String, Sendable, Hashable {
        /// Links don't open the app, or open another one.
        case error
        /// A part has no effect, or another one than expected.
        case warning
        /// Useful to know.
        case information
    }

    /// The rule that found it, such as `AASA011`. Its meaning never changes.
    public let id: String
    /// How serious the finding is.
    public let severity: Severity
    /// Sentences that explain the problem and its position.
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

    /// The error as a finding.
    public var finding: LinkFinding { LinkFinding(rule, .error, reason) }
}
