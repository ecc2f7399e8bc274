// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// The agent's log. Tag contents are never logged.
package struct AgentLog: Sendable {
    private let write: @Sendable (String, String, [JSONValue.Member]) -> Void

    /// - Parameter write: called on any thread, with an event name for programs, a sentence for people, and details for
    ///   programs.
    package init(_ write: @escaping @Sendable (String, String, [JSONValue.Member]) -> Void) {
        self.write = write
    }

    /// A log that discards everything.
    package static let silent = AgentLog { _, _, _ in }

    /// Logs an event.
    package func callAsFunction(_ event: String, _ text: String, _ details: [JSONValue.Member] = []) {
        write(event, text, details)
    }
}
