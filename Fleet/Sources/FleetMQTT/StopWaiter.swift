// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Resumes a continuation exactly once when a connection ends.
final class StopWaiter: @unchecked Sendable {
    // Sendable because the continuation is protected by a lock.
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Void, Never>?

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

    func resume() {
        let pending = lock.withLock {
            defer { continuation = nil }
            return continuation
        }
        pending?.resume()
    }
}
