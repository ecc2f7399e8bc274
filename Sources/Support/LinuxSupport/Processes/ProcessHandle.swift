// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Glibc

/// A process, identified by a descriptor.
///
/// The number of an ended process may be reused by another one, and a signal to the number would reach that one. A
/// handle always means the process that had the number when it was opened. Use it for every process except a child that
/// was not waited for yet. Read other data by the number (proc(5)) only after you opened the handle: if the number was
/// reused by then, the handle's process has ended, and signals to it have no effect.
package final class ProcessHandle: Sendable {
    /// The process number.
    package let number: Int32
    private let descriptor: Int32

    /// Opens a handle.
    ///
    /// - Parameter number: the process number.
    /// - Returns: nil when the process does not exist, or the system has no process descriptors (before Linux 5.3).
    package init?(_ number: Int32) {
        let descriptor = ocn_process_descriptor(number)
        guard descriptor != -1 else { return nil }
        self.number = number
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends a signal.
    ///
    /// - Parameter signal: the signal; 0 only checks the process.
    /// - Returns: whether the process exists and may be sent signals.
    @discardableResult
    package func send(_ signal: Int32) -> Bool { ocn_signal_process(descriptor, signal) == 0 }
}
