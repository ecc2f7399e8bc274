// SPDX-License-Identifier: Apache-2.0

/// How much a finding matters.
public enum Severity: String, Sendable, Hashable, Comparable, CaseIterable {
    /// The app fails, or is refused.
    case error
    /// Something that goes wrong for people, or is bad style.
    case warning
    /// Good to know, or not proven.
    case info

    /// An error is the greatest.
    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .error: 2
        case .warning: 1
        case .info: 0
        }
    }
}
