// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import Glibc
import Synchronization

/// Tells when a descriptor can be read or has ended, from a thread of its own, until it is cancelled.
///
/// It stands for a `DispatchSource`, which on Linux can lose the end of a connection for good: when the other side closes it
/// while the handler for its last bytes runs, the handler is not called again.
public final class ReadWatch: Sendable {
    /// Written to when the watch is cancelled.
    private let wakeUp: Int32
    private let state = State()

    /// What the watch shares with its thread, which does not keep it.
    private final class State: Sendable {
        /// Whether the watch was cancelled, and its pipe closed.
        let isCancelled = Atomic(false)
    }

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor. It has to be open until `onClose` is called.
    ///   - queue: the queue on which the handlers are called.
    ///   - onReadable: called while there is something to read, or the end; it has to read. It returns whether the watch goes
    ///     on: false at the end.
    ///   - onClose: called once, after the last call to `onReadable`: here the descriptor may be closed.
    /// - Returns: nil when the process has no descriptors left; the descriptor is the caller's then.
    public init?(
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
            close(outlet)
            queue.async(execute: onClose)
        }
    }

    deinit {
        cancel()
    }

    /// Stops watching. The handler that runs now is the last one.
    public func cancel() {
        let wasCancelled = state.isCancelled.exchange(true, ordering: .acquiringAndReleasing)
        // The other end hears it, and that it is closed.
        if !wasCancelled { close(wakeUp) }
    }

    /// - Returns: false when the watch is cancelled.
    private static func waitUntilReadable(_ descriptor: Int32, _ outlet: Int32) -> Bool {
        var waited = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: outlet, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&waited, 2, -1)
            if count < 0, errno != EINTR { return false }
            guard count > 0 else { continue }
            if waited[1].revents != 0 { return false }
            if waited[0].revents != 0 { return true }
        }
    }
}
