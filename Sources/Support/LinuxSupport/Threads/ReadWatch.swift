// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
package import Dispatch
import Glibc
import Synchronization

/// Calls a handler when a descriptor can be read or has ended, until it is cancelled. Each watch has a thread.
///
/// This replaces a `DispatchSource`, which can miss the end of a connection on Linux: when the other side closes it
/// while the handler for the last bytes runs, that handler is not called again.
package final class ReadWatch: Sendable {
    /// Closed when the watch is cancelled.
    private let wakeUp: Int32
    private let state = State()

    /// The state is shared with the thread, which does not keep the watch alive.
    private final class State: Sendable { let isCancelled = Atomic(false) }

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor. It must stay open until `onClose` is called.
    ///   - queue: the queue on which the handlers are called.
    ///   - onReadable: called while there is data to read, or the end of the data. It must read, and returns whether to
    ///     continue watching: false at the end.
    ///   - onClose: called once, after the last call of `onReadable`. From then on the descriptor may be closed.
    /// - Returns: nil when the process can't open more descriptors. Then the caller still owns the descriptor.
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
                let continues = queue.sync { !state.isCancelled.load(ordering: .acquiring) && onReadable() }
                guard continues else { break }
            }
            queue.async {
                close(outlet)
                onClose()
            }
        }
    }

    deinit { cancel() }

    /// Stops watching. A running handler may finish, and no other is called.
    package func cancel() {
        let wasCancelled = state.isCancelled.exchange(true, ordering: .acquiringAndReleasing)
        // The waiting thread notices that this end of the pipe is closed.
        if !wasCancelled { close(wakeUp) }
    }

    /// Waits until the descriptor can be read, and returns true; false when the watch is cancelled.
    private static func waitUntilReadable(_ descriptor: Int32, _ outlet: Int32) -> Bool {
        var polled = [descriptor, outlet].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let isInterrupted = unsafe poll(&polled, 2, -1) < 0
            // An interrupted wait reports nothing, so it is repeated.
            if isInterrupted, errno != EINTR { return false }
            if polled[1].revents != 0 { return false }
            if polled[0].revents != 0 { return true }
        }
    }
}

/// Wakes a thread that waits for a device or a socket. Any thread may do this.
package final class Interrupt: Sendable {
    /// The descriptor that the waiting thread polls. It is readable after ``raise()``. -1 if no pipe could be created.
    package let descriptor: Int32
    private let writer: Int32

    package init() {
        let pipe = DescriptorPipe(blocks: false)
        descriptor = pipe?.reader ?? -1
        writer = pipe?.writer ?? -1
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if writer >= 0 { close(writer) }
    }

    package func raise() {
        var byte: UInt8 = 0
        // A full pipe wakes the thread as well.
        _ = unsafe write(writer, &byte, 1)
    }

    /// Clears all calls of ``raise()`` so far.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }

    package enum WaitEnd: Sendable {
        /// The descriptor is ready or has failed. The next call on it shows which.
        case ready
        case late
        case cancelled
        /// The system can't wait for the descriptor.
        case failed
    }

    /// Waits until another descriptor (-1 for none) is ready for POLLIN or POLLOUT, or for a cancellation.
    package func wait(
        for events: Int32,
        on polled: Int32,
        before deadline: ContinuousClock.Instant?,
        _ cancellation: Cancellation?
    ) -> WaitEnd {
        while true {
            // Cleared before the check, so that a later cancellation still ends the wait.
            clear()
            if cancellation?.isCancelled == true { return .cancelled }
            let rest = deadline.map { (($0 - .now) / .milliseconds(1)).rounded(.up) }
            if let rest, rest <= 0 { return .late }
            var descriptors = (
                pollfd(fd: polled, events: Int16(events), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            )
            let count = unsafe withUnsafeMutablePointer(to: &descriptors) { pointer in
                unsafe pointer.withMemoryRebound(to: pollfd.self, capacity: 2) {
                    unsafe poll($0, 2, rest.map { Int32(min($0, Double(Int32.max))) } ?? -1)
                }
            }
            if count < 0, errno != EINTR { return .failed }
            if descriptors.0.revents != 0 { return .ready }
        }
    }
}

/// Whether an operation was cancelled, because its result is no longer needed.
package final class Cancellation: Sendable {
    private let interrupt: Interrupt
    private let state = Atomic(false)

    package init(_ interrupt: Interrupt) { self.interrupt = interrupt }

    /// Marks the operation as cancelled, and wakes the thread that runs it.
    package func cancel() {
        state.store(true, ordering: .releasing)
        interrupt.raise()
    }

    package var isCancelled: Bool { state.load(ordering: .acquiring) }
}

/// A pipe. Its ends are created with close-on-exec, so child programs don't inherit them.
package struct DescriptorPipe: Sendable {
    package let reader: Int32
    package let writer: Int32

    /// Creates a pipe. If it blocks, reading and writing wait. Nil when the process can't open more descriptors. The
    /// caller closes both ends.
    package init?(blocks: Bool = true) {
        var ends: [Int32] = [-1, -1]
        guard unsafe ocn_pipe(&ends) == 0 else { return nil }
        if !blocks {
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        }
        (reader, writer) = (ends[0], ends[1])
    }
}
