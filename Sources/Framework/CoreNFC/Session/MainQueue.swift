// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCSessions
import TagLink

/// Finds out whether the program serves the main queue, and waits for work on that queue.
///
/// Not every program serves the main queue: the main thread of a command-line tool may wait for something else until
/// the program ends. Then the blocks on the queue never run.
enum MainQueue {
    private enum Service: Sendable {
        /// No block has been put on the queue yet.
        case unknown
        /// A test block was put on the queue, and has not run yet.
        case asked
        /// A block ran.
        case served
        /// A block did not run in time.
        case unserved
    }

    private static let service = Locked(Service.unknown)

    /// How long to wait for a block that runs late because the main thread is busy.
    private static let limit = Duration.seconds(1)

    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller runs on the main queue, or on one whose target it is.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    /// Puts a test block on the queue, to find out early whether the program serves it.
    static func ask() {
        let isFirst = service.withLock { service in
            guard service == .unknown else { return false }
            service = .asked
            return true
        }
        guard isFirst else { return }
        DispatchQueue.main.async { service.withLock { $0 = .served } }
    }

    /// Calls `work` after the work that is on the queue now; or at once, if the program does not serve the queue. Call
    /// ``ask()`` before: its block then runs before this one.
    ///
    /// - Parameters:
    ///   - clock: the clock for the time limit, after which `work` is called without waiting longer.
    ///   - work: called on any thread, perhaps twice.
    static func afterPresentWork(clock: any RuntimeClock, _ work: @escaping @Sendable () -> Void) {
        guard service.withLock({ $0 != .unserved }) else { return work() }
        let timer = clock.schedule(after: limit) {
            service.withLock { if $0 != .served { $0 = .unserved } }
            work()
        }
        DispatchQueue.main.async {
            timer.cancel()
            work()
        }
    }
}
