// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import Foundation

/// A log of what strangers can cause: a few lines in a minute. When the minute is over, it says how many were left out.
///
/// It is used on the thread of one loop.
final class LimitedLog: @unchecked Sendable {
    // Sendable because what changes has a lock.
    private let log: AgentLog
    private let subject: String
    private let loop: EventLoop
    private let span: Duration
    private let lock = NSLock()
    private var limit = MinuteLimit(10)
    private var leftOut = 0

    /// - Parameters:
    ///   - subject: what the lines are about, such as `jobs`.
    ///   - loop: the thread of the calls.
    ///   - span: how long after the first line that is left out it says how many were.
    init(
        _ log: AgentLog,
        about subject: String,
        loop: EventLoop,
        span: Duration = .milliseconds(MinuteLimit.minute)
    ) {
        (self.log, self.subject, self.loop, self.span) = (log, subject, loop, span)
    }

    /// Reports something, unless too much was reported in the last minute.
    func callAsFunction(_ event: String, _ text: String, _ details: [JSONValue.Member] = []) {
        let (isAllowed, isFirst) = lock.withLock {
            let isAllowed = limit.allows(now: Timestamp.now)
            if !isAllowed { leftOut += 1 }
            return (isAllowed, leftOut == 1)
        }
        if isAllowed { return log(event, text, details) }
        if isFirst { loop.after(span) { [weak self] in self?.reportLeftOut() } }
    }

    /// Reports how many lines were left out since this was said last.
    func reportLeftOut() {
        let count = lock.withLock {
            defer { leftOut = 0 }
            return leftOut
        }
        guard count > 0 else { return }
        log("left-out", "\(count) lines about \(subject) were left out of the log.", [.init("count", .integer(count))])
    }
}
