// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization
import SystemLibrary
import TagLink

/// Hears signals of the process from the moment that it is made: none is lost, however busy the machine is.
///
/// A dispatch source for a signal listens only some time after it was activated, and until then the signal has to be
/// ignored so as not to end the process. This one has a handler that writes the signal's number to a pipe.
final class ProcessSignals: @unchecked Sendable {
    // Sendable because the source is made once, and may be cancelled from any thread.
    private let source: any DispatchSourceRead

    /// Where the handler writes. It may run between any two instructions, so it takes no lock and allocates nothing.
    private static let outlet = Atomic<Int32>(-1)

    /// Begins to listen. One listener at a time; what comes after it was cancelled is ignored.
    ///
    /// - Parameters:
    ///   - numbers: the signals.
    ///   - handler: takes the number of each that came, one after the other, on any thread.
    init(_ numbers: [Int32], handler: @escaping @Sendable (Int32) -> Void) {
        guard let pipe = DescriptorPipe(blocks: false) else { preconditionFailure("no pipe could be made") }
        let (inlet, outlet) = (pipe.reader, pipe.writer)
        source = DispatchSource.makeReadSource(fileDescriptor: inlet, queue: DispatchQueue(label: "signals"))
        source.setEventHandler {
            var octets = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(inlet, &octets, octets.count)
            for octet in octets.prefix(max(0, count)) { handler(Int32(octet)) }
        }
        source.setCancelHandler { close(inlet) }
        // The other end stays open: a handler that runs on another thread may write to it at any time.
        Self.outlet.store(outlet, ordering: .sequentiallyConsistent)
        for number in numbers { Self.handle(number) }
        source.activate()
    }

    /// Stops listening.
    func cancel() {
        source.cancel()
    }

    private static func handle(_ number: Int32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            let error = errno
            var octet = UInt8(truncatingIfNeeded: number)
            _ = unsafe write(ProcessSignals.outlet.load(ordering: .sequentiallyConsistent), &octet, 1)
            errno = error
        }
        action.sa_flags = SA_RESTART
        _ = unsafe sigaction(number, &action, nil)
    }
}
