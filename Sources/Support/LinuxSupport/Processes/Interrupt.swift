// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Wakes a thread that waits for a device or a socket, from any other thread.
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

    /// Wakes the thread.
    package func raise() {
        var byte: UInt8 = 0
        // A pipe that is full wakes the thread as well.
        _ = unsafe write(writer, &byte, 1)
    }

    /// Clears all calls of ``raise()`` so far.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
