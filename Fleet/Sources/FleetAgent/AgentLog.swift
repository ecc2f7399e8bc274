// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// Where an agent reports what it does, without contents of tags.
package struct AgentLog: Sendable {
    private let write: @Sendable (String, String, [JSONValue.Member]) -> Void

    /// - Parameter write: called with one word for programs, a sentence for people, and details for programs; on any
    ///   thread.
    package init(_ write: @escaping @Sendable (String, String, [JSONValue.Member]) -> Void) {
        self.write = write
    }

    /// A log that goes nowhere.
    package static let silent = AgentLog { _, _, _ in }

    /// Reports something.
    package func callAsFunction(_ event: String, _ text: String, _ details: [JSONValue.Member] = []) {
        write(event, text, details)
    }
}
