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

    /// The failure when standard output can't be written. ``CommandProcess/end(_:)`` reports the reason for all commands.
    static let noOutput = CommandFailure(.refused, "no-output", "Standard output can't be written.")

    /// Fails when the person or the system has ended the demonstration, and with ``noOutput`` when its output can't be
    /// written.
    func check() throws(CommandFailure) {
        guard came.isSet.load(ordering: .relaxed) else {
            if StandardOutput.isBroken { throw Self.noOutput }
            return
        }
        throw CommandFailure(
            .cancelled,
            "cancelled",
            "The demonstration was stopped, and everything is removed again."
        )
    }
}
