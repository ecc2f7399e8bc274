// SPDX-License-Identifier: Apache-2.0

/// The kind of an event. The raw value is the last part of the CloudEvent type.
package enum EventKind: String, Sendable, Hashable, CaseIterable {
    /// A tag arrived.
    case tag
    /// A tag was taken away.
    case removed
    /// Something went wrong at a reader or in the agent.
    case error
    /// The outcome of a job.
    case outcome

    /// The CloudEvent type.
    package var type: String { "org.opencorenfc.\(rawValue)" }

    /// Creates the kind from a CloudEvent type; nil for other types.
    package init?(type: String) {
        guard type.hasPrefix("org.opencorenfc."), let kind = EventKind(rawValue: String(type.dropFirst(16))) else {
            return nil
        }
        self = kind
    }
}
