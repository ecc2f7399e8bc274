// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import Foundation

/// A bounded, ordered queue of the requests an agent receives from the broker.
///
/// Clients may send requests faster than the agent can handle them. Excess requests are dropped without being parsed.
final class RequestQueue: @unchecked Sendable {
    // Sendable because the mutable state is protected by a lock.

    private static let maximumMessages = 500
    private static let maximumBytes = 4 << 20
    /// The burst limit, and the sustained rate in requests per second.
    private static let burst = 500.0
    private static let rate = 10.0

    private let lock = NSLock()
    private let mailbox = Mailbox<MQTTMessage>()
    private var count = 0
    private var bytes = 0
    private var dropped = 0
    private var budget = burst
    private var lastRequest = ContinuousClock.now

    /// Adds a message, unless the queue is full.
    func offer(_ message: MQTTMessage) {
        let isTaken = lock.withLock {
            guard count < Self.maximumMessages, count == 0 || bytes + message.payload.count <= Self.maximumBytes else {
                dropped += 1
                return false
            }
            count += 1
            bytes += message.payload.count
            return true
        }
        if isTaken { mailbox.send(message) }
    }

    /// Waits for messages, and returns all that have arrived; nil after the queue is closed.
    nonisolated(nonsending) func next() async -> [MQTTMessage]? { await mailbox.next() }

    /// Marks a message as handled.
    ///
    /// - Returns: how many messages were dropped since the last call, and how long to wait before the next one.
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
