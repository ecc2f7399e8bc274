// SPDX-License-Identifier: Apache-2.0
package import FleetAgent
import Foundation

/// What agents have logged: the event and the sentence of each line.
package final class LogLines: @unchecked Sendable {
    // Sendable because the list has a lock.
    private let lock = NSLock()
    private var lines: [String] = []

    package init() {}

    /// A log that is kept here.
    package var log: AgentLog { AgentLog { event, text, _ in self.add("\(event) \(text)") } }

    package func add(_ line: String) { lock.withLock { lines.append(line) } }
    package func count(_ beginning: String) -> Int { lock.withLock { lines.count { $0.hasPrefix(beginning) } } }
    package func all(_ beginning: String) -> [String] { lock.withLock { lines.filter { $0.hasPrefix(beginning) } } }
}
