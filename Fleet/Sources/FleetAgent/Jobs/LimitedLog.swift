// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import Foundation

/// A rate-limited log for events that anyone can cause. A minute later, it logs how many lines were left out.
///
/// All calls are made on the thread of one event loop.
final class LimitedLog: @unchecked Sendable {
    // Sendable because the mutable state is protected by a lock.
    private let log: AgentLog
    private let subject: String
    private let loop: EventLoop
    private let span: Duration
    private let lock = NSLock()
    private var limit = MinuteLimit(10)
    private var leftOut = 0

    /// - Parameters:
    ///   - subject: the topic of the log lines, such as `jobs`.
    ///   - loop: the event loop on which the calls are made.
    ///   - span: the delay between the first omitted line and the report of how many were omitted.
    init(
        _ log: AgentLog,
        about subject: String,
        loop: EventLoop,
        span: Duration = .milliseconds(MinuteLimit.minute)
    ) {
        (self.log, self.subject, self.loop, self.span) = (log, subject, loop, span)
    }

    /// Logs an event, unless there were too many in the last minute.
    func callAsFunction(_ event: String, _ text: String, _ details: [JSONValue.Member] = []) {
        let (isAllowed, isFirst) = lock.withLock {
            let isAllowed = limit.allows(now: Timestamp.now)
            if !isAllowed { leftOut += 1 }
            return (isAllowed, leftOut == 1)
        }
        if isAllowed { return log(event, text, details) }
        if isFirst { loop.after(span) { [weak self] in self?.reportOmittedLines() } }
    }

    /// Logs how many lines were left out since the last such report.
    func reportOmittedLines() {
        let count = lock.withLock {
            defer { leftOut = 0 }
            return leftOut
        }
        guard count > 0 else { return }
        log("left-out", "\(count) lines about \(subject) were left out of the log.", [.init("count", .integer(count))])
    }
}
