// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Delivers values to one task, in the order sent.
///
/// Waits on the receiver's executor. An `AsyncStream` would switch executors, which costs three jobs per value.
package final class Mailbox<Value: Sendable>: @unchecked Sendable {
    // Sendable because its state is protected by a lock.

    private let lock = NSLock()
    private var values: [Value] = []
    private var isClosed = false
    private var waiter: CheckedContinuation<Void, Never>?

    package init() {}

    /// Adds a value.
    ///
    /// - Returns: false if the mailbox is closed and the value was not added.
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

    /// Closes the mailbox. ``next()`` still returns the values sent before.
    package func close() {
        let waiter = lock.withLock {
            isClosed = true
            return self.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits for values, and returns all that have arrived, in order. Only one task may call this at a time.
    ///
    /// - Returns: the values; nil once the mailbox is closed and empty.
    package nonisolated(nonsending) func next() async -> [Value]? {
        while true {
            let (values, isOver) = take()
            if !values.isEmpty { return values }
            if isOver { return nil }
            await withCheckedContinuation { continuation in
                let isReady = lock.withLock {
                    guard self.values.isEmpty, !isClosed else { return true }
                    precondition(waiter == nil, "Only one task may wait for a mailbox's values.")
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
