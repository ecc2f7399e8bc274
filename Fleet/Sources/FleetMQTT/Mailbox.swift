// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Gives values to one task, in the order in which they were sent.
///
/// It waits where its task runs. An `AsyncStream` leaves the task's actor to wait, which costs three jobs for a value.
package final class Mailbox<Value: Sendable>: @unchecked Sendable {
    // Sendable because of its lock.

    private let lock = NSLock()
    private var values: [Value] = []
    private var isClosed = false
    private var waiter: CheckedContinuation<Void, Never>?

    package init() {}

    /// Adds a value.
    ///
    /// - Returns: false after ``close()``, when nothing is added.
    @discardableResult
    package func send(_ value: Value) -> Bool {
        let (isOpen, waiter) = lock.withLock {
            guard !isClosed else { return (false, nil as CheckedContinuation<Void, Never>?) }
            values.append(value)
            return (true, self.waiter.take())
        }
        waiter?.resume()
        return isOpen
    }

    /// Ends ``next()`` after the values that were sent before.
    package func close() {
        let waiter = lock.withLock {
            isClosed = true
            return self.waiter.take()
        }
        waiter?.resume()
    }

    /// Returns the values that have come, in order, and waits until there is one. Only one task may call it at a time.
    ///
    /// - Returns: nil after the end.
    package nonisolated(nonsending) func next() async -> [Value]? {
        while true {
            let (values, isOver) = take()
            if !values.isEmpty { return values }
            if isOver { return nil }
            await withCheckedContinuation { continuation in
                let isReady = lock.withLock {
                    guard self.values.isEmpty, !isClosed else { return true }
                    precondition(waiter == nil, "Only one task waits for the values of a mailbox.")
                    waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    private func take() -> ([Value], isOver: Bool) {
        lock.withLock {
            defer { values = [] }
            return (values, isClosed)
        }
    }
}
