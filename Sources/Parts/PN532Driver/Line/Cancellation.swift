// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import TagLink

/// Wakes the thread that waits for the serial line, from any other thread.
final class Interrupt: Sendable {
    /// The descriptor that the waiting thread polls. It is readable after ``raise()``. -1 if no pipe could be created.
    let descriptor: Int32
    private let writer: Int32

    init() {
        let pipe = DescriptorPipe(blocks: false)
        descriptor = pipe?.reader ?? -1
        writer = pipe?.writer ?? -1
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if writer >= 0 { close(writer) }
    }

    /// Wakes the thread.
    func raise() {
        var octet: UInt8 = 0
        // A pipe that is full wakes the thread as well.
        _ = unsafe write(writer, &octet, 1)
    }

    /// Clears all calls of ``raise()`` so far.
    func clear() {
        var octets = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &octets, octets.count) > 0 {}
    }
}

/// Whether the result of an operation is still needed.
final class Cancellation: Sendable {
    private let interrupt: Interrupt
    private let state = Locked(false)

    init(_ interrupt: Interrupt) {
        self.interrupt = interrupt
    }

    /// Marks the operation as cancelled, and wakes the thread that runs it.
    func cancel() {
        state.withLock { $0 = true }
        interrupt.raise()
    }

    var isCancelled: Bool { state.withLock { $0 } }
}
