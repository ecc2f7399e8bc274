// SPDX-License-Identifier: Apache-2.0

/// Why there is no room for an event.
package enum SpoolShortage: Sendable, Hashable {
    /// The events have as many bytes as the settings allow.
    case limit
    /// The disk has less room than the settings allow.
    case disk

    /// What to do, as a sentence.
    package var advice: String {
        switch self {
        case .limit: "Bring the broker back, or raise limit_mb."
        case .disk: "The disk of the state folder is full. Make room on it."
        }
    }
}
