// SPDX-License-Identifier: Apache-2.0

/// What an event reports. Its name is the last part of the type of a CloudEvent.
package enum EventKind: String, Sendable, Hashable, CaseIterable {
    /// A tag came.
    case tag
    /// A tag was taken away.
    case removed
    /// Something went wrong at a reader or in the agent.
    case error
    /// What became of a job.
    case outcome

    /// The type of the CloudEvent.
    package var type: String { "org.opencorenfc.\(rawValue)" }

    /// The kind of a CloudEvent's type; nil for others.
    package init?(type: String) {
        guard type.hasPrefix("org.opencorenfc."), let kind = EventKind(rawValue: String(type.dropFirst(16))) else {
            return nil
        }
        self = kind
    }
}
