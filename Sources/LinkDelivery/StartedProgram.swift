// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import SystemLibrary

/// A program that was started with words of its own: no shell sees them, and nothing of this process goes along but its
/// environment without what is meant for services.
final class StartedProgram: Sendable {
    /// The process.
    let process: pid_t
    private let end: End

    /// How the program ended, once it did.
    private final class End: @unchecked Sendable {
        // Sendable because the status is written once, before the signal, and read after it.
        private let signal = DispatchSemaphore(value: 0)
        private var status: Int32?

        func note(_ status: Int32) {
            self.status = status
            signal.signal()
        }

        func wait(_ limit: Duration) -> Int32? {
            let (seconds, attoseconds) = limit.components
            let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
            guard signal.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return nil }
            // It may be asked again.
            signal.signal()
            return status
        }
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its words, its name first.
    ///   - folder: where it runs; nil is the user's own folder.
    ///   - environment: its variables.
    init(_ path: String, _ arguments: [String], folder: String?, environment: [String: String]) throws(DeliveryError) {
        var launch = ProgramLaunch(path, arguments)
        launch.environment = environment.filter { name, _ in !Self.ofServices.contains(name) }
        launch.folder = folder ?? environment["HOME"] ?? "/"
        launch.closesOthers = true
        // What happens to this process's terminal is nothing to the program. What that prints may be what a tag says, which
        // is in no log.
        launch.separation = .session
        let process: pid_t
        do throws(ProgramLaunch.Failure) {
            process = try launch.start()
        } catch {
            throw DeliveryError(.notStarted, "\(path) can't be started: \(error.reason).")
        }
        self.process = process
        let end = End()
        self.end = end
        let thread = Thread { [process] in
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            end.note(status)
        }
        thread.stackSize = 64 << 10
        thread.start()
    }

    /// Waits for the program to end.
    ///
    /// - Returns: the status that `waitpid` gives; nil when it still runs.
    func wait(_ limit: Duration) -> Int32? { end.wait(limit) }

    /// What a status says, for people.
    static func text(_ status: Int32) -> String {
        status & 0x7F == 0 ? "with status \(status >> 8 & 0xFF)" : "by signal \(status & 0x7F)"
    }

    /// Variables that the system gives a service for itself alone.
    private static let ofServices: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]
}
