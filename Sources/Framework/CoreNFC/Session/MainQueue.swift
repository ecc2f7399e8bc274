// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCRuntime
import TagLink

/// Knows the main queue, and waits for work that was put on it.
///
/// Not every program serves that queue: the main thread of a command-line tool may wait for something else as long as it
/// runs. What is put on it there is never done.
enum MainQueue {
    private enum Service: Sendable {
        /// Nobody has asked yet.
        case unknown
        /// A block waits to be run, as a test.
        case asked
        /// Blocks are run.
        case served
        /// A block was waited for in vain.
        case unserved
    }

    private static let service = Locked(Service.unknown)

    /// How long a block is waited for that is run late, because the main thread is busy.
    private static let limit = Duration.seconds(1)

    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller runs on the main queue, or on one whose target it is.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    /// Finds out early whether anybody serves the queue.
    static func ask() {
        let isFirst = service.withLock { service in
            guard service == .unknown else { return false }
            service = .asked
            return true
        }
        guard isFirst else { return }
        DispatchQueue.main.async { service.withLock { $0 = .served } }
    }

    /// Does something after the work that is on the queue now, or without waiting where nobody serves the queue.
    ///
    /// - Parameters:
    ///   - clock: the time by which it is given up to wait.
    ///   - work: what is done, on any thread; it may be done twice.
    static func afterPresentWork(clock: any RuntimeClock, _ work: @escaping @Sendable () -> Void) {
        guard service.withLock({ $0 != .unserved }) else { return work() }
        let timer = clock.schedule(after: limit) {
            service.withLock { if $0 != .served { $0 = .unserved } }
            work()
        }
        DispatchQueue.main.async {
            service.withLock { $0 = .served }
            timer.cancel()
            work()
        }
    }
}
