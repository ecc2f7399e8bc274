// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import Foundation

/// What others ask of an agent over the broker, in order, and no more than it can take.
///
/// Whoever may publish can send faster than jobs are done. What is too much is dropped before it is looked at.
final class RequestQueue: @unchecked Sendable {
    // Sendable because what changes has a lock.

    private static let mostMessages = 500
    private static let mostBytes = 4 << 20
    /// How many requests are handled at once after a pause, and in each second later.
    private static let burst = 500.0
    private static let rate = 10.0

    private let lock = NSLock()
    private let mailbox = Mailbox<MQTTMessage>()
    private var count = 0
    private var bytes = 0
    private var dropped = 0
    private var budget = burst
    private var lastRequest = ContinuousClock.now

    /// Adds a message, unless too much waits already.
    func offer(_ message: MQTTMessage) {
        let isTaken = lock.withLock {
            guard count < Self.mostMessages, count == 0 || bytes + message.payload.count <= Self.mostBytes else {
                dropped += 1
                return false
            }
            count += 1
            bytes += message.payload.count
            return true
        }
        if isTaken { mailbox.send(message) }
    }

    /// Returns the messages that have come, and waits until there is one; nil after the end.
    nonisolated(nonsending) func next() async -> [MQTTMessage]? { await mailbox.next() }

    /// Notes that a message was handled.
    ///
    /// - Returns: how many were dropped since the last call, and how long to wait with the next one.
    func finish(_ message: MQTTMessage) -> (dropped: Int, pause: Duration) {
        lock.withLock {
            count -= 1
            bytes -= message.payload.count
            let now = ContinuousClock.now
            budget = min(budget + (now - lastRequest) / .seconds(1) * Self.rate, Self.burst) - 1
            lastRequest = now
            defer { dropped = 0 }
            return (dropped, budget < 0 ? .seconds(1) / Self.rate : .zero)
        }
    }

    func close() { mailbox.close() }
}
