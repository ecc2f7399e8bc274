// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// Calls a closure on the signals that ask the program to end: Ctrl-C, a closed terminal, or `kill`.
///
/// The program exits immediately on a second signal, or if ending takes too long. The signals have their own queue, so
/// that this works even if everything else is busy.
struct Interrupts: @unchecked Sendable {
    /// How many seconds the program may take to end by itself.
    private static let patience = 10

    // Safe: Dispatch sources may be used from any thread.
    private let sources: [any DispatchSourceSignal]

    init(_ end: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "org.opencorenfc.simulator.signals", qos: .userInteractive)
        let first = FirstSignal()
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let count = Int(source.data)
                guard first.take(), count < 2 else { _exit(128 + number) }
                queue.asyncAfter(deadline: .now() + .seconds(Self.patience)) { _exit(128 + number) }
                end()
            }
            source.activate()
            return source
        }
    }

    func end() { for source in sources { source.cancel() } }
}

/// Reports whether a signal is the first one. Used only on the queue of the signals.
private final class FirstSignal: @unchecked Sendable {
    // Safe: only used on one serial queue.
    private var isTaken = false

    /// Returns true on the first call.
    func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }
}
