// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// Calls a closure when the program is to end: Ctrl-C, a closed terminal, or `kill`.
///
/// A second signal ends the program at once, and so does an end that takes too long. The signals have a queue of their own, so
/// that this works while everything else is busy.
struct Interrupts: @unchecked Sendable {
    /// How long the program has to end by itself.
    private static let patience = 10

    // Safe: sources of Dispatch may be used from any thread.
    private let sources: [any DispatchSourceSignal]

    init(_ end: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "org.opencorenfc.simulator.signals", qos: .userInteractive)
        let first = First()
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

/// Whether a signal is the first one. Only the queue of the signals uses it.
private final class First: @unchecked Sendable {
    // Safe: only used on one serial queue.
    private var isTaken = false

    /// Returns true the first time.
    func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }
}
