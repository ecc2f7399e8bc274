// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import Glibc
import Synchronization

/// Calls a handler when a descriptor can be read or has ended, until the watch is cancelled. It uses its own thread.
///
/// It replaces a `DispatchSource`. On Linux that can miss the end of a connection: when the other side closes it while
/// the handler for its last bytes runs, the handler is not called again.
package final class ReadWatch: Sendable {
    /// Closed when the watch is cancelled.
    private let wakeUp: Int32
    private let state = State()

    /// The state that the watch shares with its thread. The thread does not keep the watch alive.
    private final class State: Sendable {
        /// Whether the watch was cancelled, and its pipe closed.
        let isCancelled = Atomic(false)
    }

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor. It must stay open until `onClose` is called.
    ///   - queue: the queue on which the handlers are called.
    ///   - onReadable: called while there is data or the end to read. It must read, and returns whether the watch
    ///     continues: false at the end.
    ///   - onClose: called once, after the last call of `onReadable`. The descriptor may be closed then.
    /// - Returns: nil when the process can't open more descriptors. Then the caller keeps the descriptor.
    package init?(
        _ descriptor: Int32,
        queue: DispatchQueue,
        onReadable: @escaping @Sendable () -> Bool,
        onClose: @escaping @Sendable () -> Void
    ) {
        guard let pipe = DescriptorPipe() else { return nil }
        let outlet = pipe.reader
        wakeUp = pipe.writer
        DispatchQueue(label: "ReadWatch").async { [state] in
            while Self.waitUntilReadable(descriptor, outlet) {
                let goesOn = queue.sync { !state.isCancelled.load(ordering: .acquiring) && onReadable() }
                guard goesOn else { break }
            }
            queue.async {
                close(outlet)
                onClose()
            }
        }
    }

    deinit {
        cancel()
    }

    /// Stops watching. A handler that is running is the last one.
    package func cancel() {
        let wasCancelled = state.isCancelled.exchange(true, ordering: .acquiringAndReleasing)
        // The waiting thread notices that this end of the pipe is closed.
        if !wasCancelled { close(wakeUp) }
    }

    /// Waits until the descriptor can be read.
    ///
    /// - Returns: false when the watch is cancelled.
    private static func waitUntilReadable(_ descriptor: Int32, _ outlet: Int32) -> Bool {
        let events = Int16(POLLIN)
        var waited = [descriptor, outlet].map { pollfd(fd: $0, events: events, revents: 0) }
        while true {
            let isCutShort = unsafe poll(&waited, 2, -1) < 0
            // A wait that a signal interrupts reports nothing, and is repeated.
            if isCutShort, errno != EINTR { return false }
            if waited[1].revents != 0 { return false }
            if waited[0].revents != 0 { return true }
        }
    }
}
