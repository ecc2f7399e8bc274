// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport

/// A program started by the demo and stopped with it, even if the demo is killed.
final class DemoProcess {
    private let process = Process()
    private let log: String
    private var lifeline: Lifeline?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the program's path.
    ///   - arguments: its arguments.
    ///   - log: the file for the program's output.
    init(_ path: String, _ arguments: [String], log: String) throws(FleetFailure) {
        self.log = log
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = FileHandle(forWritingAtPath: log)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        do {
            try Self.withoutBlockedSignals { try process.run() }
        } catch {
            throw FleetFailure(.refused, "not-started", "\(path) can't be started: \(error.localizedDescription)")
        }
        lifeline = Lifeline(ending: process.processIdentifier)
    }

    /// Runs a function with no signals blocked on this thread. Child processes inherit blocked signals, and pool
    /// threads block the signals that end a program.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// Throws if the program has exited on its own.
    func check() throws(FleetFailure) {
        guard !process.isRunning else { return }
        let text = (try? String(contentsOfFile: log, encoding: .utf8))?.suffix(400) ?? ""
        throw FleetFailure(
            .refused,
            "ended",
            "\(process.executableURL?.lastPathComponent ?? "A program") has ended: \(text)"
        )
    }

    /// Stops the program. Kills it if it does not exit in time.
    func stop() {
        defer {
            lifeline?.cut()
            lifeline = nil
        }
        guard process.isRunning else { return }
        process.terminate()
        for _ in 0..<100 where process.isRunning { usleep(50_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Finds a program in this program's folder, in PATH, or in the folders for system services.
    static func find(_ name: String) -> String? {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folders =
            [(own as NSString).deletingLastPathComponent]
            + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map(String.init)
            + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
