// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import TagLink

/// Wakes the thread that waits for the serial line, from any other.
final class Interrupt: Sendable {
    /// What the waiting thread polls: readable when somebody wants its attention. -1 where no pipe could be made.
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

    /// Takes note of every call so far.
    func clear() {
        var octets = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &octets, octets.count) > 0 {}
    }
}

/// Whether somebody still wants the outcome of one operation.
final class Cancellation: Sendable {
    private let interrupt: Interrupt
    private let state = Locked(false)

    init(_ interrupt: Interrupt) {
        self.interrupt = interrupt
    }

    /// Says that nobody does, and wakes the thread that works on it.
    func cancel() {
        state.withLock { $0 = true }
        interrupt.raise()
    }

    var isCancelled: Bool { state.withLock { $0 } }
}
