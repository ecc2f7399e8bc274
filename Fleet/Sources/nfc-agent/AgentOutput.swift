// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetModel
import Foundation
import TextSafety

/// Writes the log, one line per event.
struct AgentOutput: Sendable {
    let json: Bool
    /// Whether to prefix lines with the time. The systemd journal records it already.
    private let hasTime = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] == nil

    var log: AgentLog {
        AgentLog { event, text, details in
            write([.init("event", .string(event)), .init("message", .string(text))] + details, text)
        }
    }

    /// Logs why the agent can't run.
    func fail(_ code: String, _ reason: String) {
        let members: [JSONValue.Member] = [
            .init("ok", false), .init("event", "failed"), .init("error", .string(code)),
            .init("message", .string(reason)),
        ]
        write(members, reason)
    }

    private func write(_ members: [JSONValue.Member], _ text: String) {
        let time = Timestamp.text(Timestamp.now)
        guard json else {
            let line = (hasTime ? time + " " : "") + VisibleText.escaped(text) + "\n"
            return Self.write(line, to: STDERR_FILENO)
        }
        Self.write(JSONValue.object([.init("time", .string(time))] + members).line + "\n", to: STDOUT_FILENO)
    }

    /// Writes a line. Errors are ignored.
    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array(line.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
    }
}
