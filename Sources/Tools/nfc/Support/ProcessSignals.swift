// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import Synchronization

/// Receives signals of the process. From its creation on no signal is lost, even on a busy machine.
///
/// A dispatch source for a signal starts to listen some time after its activation. Until then the signal must be ignored,
/// or it ends the process. This type instead has a signal handler that writes the signal's number to a pipe.
final class ProcessSignals: @unchecked Sendable {
    // Sendable because the source is created once.
    private let source: any DispatchSourceRead

    /// The pipe that the handler writes to. The handler may interrupt any code, so it takes no lock and allocates nothing.
    private static let outlet = Atomic<Int32>(-1)

    /// Starts to listen, until the process ends. Only one listener at a time is possible.
    ///
    /// - Parameters:
    ///   - numbers: the signals.
    ///   - handler: called with the number of each signal, one after the other, on any thread.
    init(_ numbers: [Int32], handler: @escaping @Sendable (Int32) -> Void) {
        guard let pipe = DescriptorPipe(blocks: false) else { preconditionFailure("no pipe could be made") }
        let (inlet, outlet) = (pipe.reader, pipe.writer)
        source = DispatchSource.makeReadSource(fileDescriptor: inlet, queue: DispatchQueue(label: "signals"))
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(inlet, &bytes, bytes.count)
            for byte in bytes.prefix(max(0, count)) { handler(Int32(byte)) }
        }
        // Both ends stay open: a handler that runs on another thread may write to the pipe at any time.
        Self.outlet.store(outlet, ordering: .sequentiallyConsistent)
        for number in numbers { Self.handle(number) }
        source.activate()
    }

    private static func handle(_ number: Int32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            let error = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = unsafe write(ProcessSignals.outlet.load(ordering: .sequentiallyConsistent), &byte, 1)
            errno = error
        }
        action.sa_flags = SA_RESTART
        _ = unsafe sigaction(number, &action, nil)
    }
}
