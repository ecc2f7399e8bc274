// SPDX-License-Identifier: Apache-2.0
import CSystemCalls
import Glibc

/// A process, held by a descriptor.
///
/// The number of a process that has ended may become another's, and a signal to the number goes there. A handle stands for the
/// process that had the number when it was opened. Use it for every process that is not a child that was not waited for yet.
/// What else is known of the process by its number (proc(5)) is read after the handle is opened: if the number was another's
/// by then, the handle's process has ended, and signals go nowhere.
public final class ProcessHandle: Sendable {
    /// The process's number.
    public let number: Int32
    private let descriptor: Int32

    /// Opens a handle.
    ///
    /// - Parameter number: the process's number.
    /// - Returns: nil when there is no such process, or the system has no such descriptors (before Linux 5.3).
    public init?(_ number: Int32) {
        let descriptor = ocn_process_descriptor(number)
        guard descriptor >= 0 else { return nil }
        self.number = number
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends a signal.
    ///
    /// - Parameter signal: the signal; 0 only asks.
    /// - Returns: whether the process was there, and may be sent signals.
    @discardableResult
    public func send(_ signal: Int32) -> Bool { ocn_signal_process(descriptor, signal) == 0 }
}
