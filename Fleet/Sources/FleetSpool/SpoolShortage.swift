// SPDX-License-Identifier: Apache-2.0

/// Why there is no space for an event.
package enum SpoolShortage: Sendable, Hashable {
    /// The events have reached the size limit of the settings.
    case limit
    /// The disk has less free space than the settings allow.
    case disk

    /// A sentence that says what to do.
    package var advice: String {
        switch self {
        case .limit: "Reconnect the broker, or raise limit_mb."
        case .disk: "The disk with the state folder is full. Free some space."
        }
    }
}
