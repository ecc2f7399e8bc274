// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import LinuxSupport

/// A program that runs as a child of this process.
final class ChildProgram: StartedProgram, Sendable {
    /// The process.
    let process: pid_t
    private let end: End

    /// How the program ended.
    private final class End: @unchecked Sendable {
        // Sendable because the status is written once, before the signal, and only read after it.
        private let signal = DispatchSemaphore(value: 0)
        private var status: Int32?

        func note(_ status: Int32) {
            self.status = status
            signal.signal()
        }

        func wait(_ limit: Duration) -> Int32? {
            let nanoseconds = ChildProgram.nanoseconds(limit)
            guard signal.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return nil }
            // For the next call of this function.
            signal.signal()
            return status
        }
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its arguments, starting with its name.
    ///   - folder: its working directory.
    ///   - environment: its variables.
    init(_ path: String, _ arguments: [String], folder: String, environment: [String: String]) throws(DeliveryError) {
        var launch = ProgramLaunch(path, arguments)
        launch.environment = environment
        launch.folder = folder
        // The program is independent of this process's terminal. Its output may contain text of a tag, which must not
        // get into a log.
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

    func wait(_ limit: Duration) -> Int32? { end.wait(limit) }

    /// A time in the unit of Dispatch.
    static func nanoseconds(_ time: Duration) -> Int {
        let (seconds, attoseconds) = time.components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
