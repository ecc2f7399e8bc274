// SPDX-License-Identifier: Apache-2.0

/// How serious a finding is.
public enum Severity: String, Sendable, Hashable, Comparable, CaseIterable {
    /// The app fails or is rejected.
    case error
    /// A problem for users, or bad style.
    case warning
    /// Useful to know, or not proven.
    case info

    /// Orders severities from info to error.
    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .error: 2
        case .warning: 1
        case .info: 0
        }
    }
}
