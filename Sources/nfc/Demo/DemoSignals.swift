// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Ctrl-C and the signals that end the demonstration, from its beginning to its end.
final class DemoSignals: Sendable {
    private let came: Flag
    private let signals: ProcessSignals

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    init() {
        let came = Flag()
        self.came = came
        signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP]) { _ in came.isSet.store(true, ordering: .relaxed) }
    }

    /// Fails when the person, or the system, has ended the demonstration, or nobody reads what it says.
    func check() throws(CommandFailure) {
        guard came.isSet.load(ordering: .relaxed) || StandardOutput.isBroken else { return }
        throw CommandFailure(
            .cancelled,
            "cancelled",
            "The demonstration was ended, and everything is taken away again."
        )
    }

    func cancel() { signals.cancel() }
}
