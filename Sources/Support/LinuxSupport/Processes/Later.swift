// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Work for the main queue that is done after a pause.
package enum Later {
    /// Plans work.
    ///
    /// - Parameters:
    ///   - pause: how long to wait at least.
    ///   - work: called on the main queue, once. It can't be cancelled.
    package static func run(after pause: Duration, _ work: @escaping @MainActor @Sendable () -> Void) {
        let nanoseconds = Int(pause / .nanoseconds(1))
        DispatchQueue.main.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { MainActor.assumeIsolated(work) }
    }
}
