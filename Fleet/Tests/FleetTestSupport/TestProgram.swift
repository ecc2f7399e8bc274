// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A program that a test starts, and that ends with it.
package final class TestProgram: @unchecked Sendable {
    // Sendable because Process is only used by the test's own calls, one after the other.
    private let process = Process()
    /// How it ended; nil until a call has seen that.
    private var end: Int32?

    /// Starts a program.
    ///
    /// - Parameter output: the file for what it prints; nil for nothing.
    package init(_ path: String, _ arguments: [String], output: String? = nil) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        var handle = FileHandle.nullDevice
        if let output {
            if !FileManager.default.fileExists(atPath: output) {
                _ = FileManager.default.createFile(atPath: output, contents: nil)
            }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
            try file.seekToEnd()
            handle = file
        }
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    package var isRunning: Bool { status == nil }
    package var identifier: Int32 { process.processIdentifier }

    /// Its exit status, or the number of the signal that ended it; nil while it runs.
    ///
    /// The system is asked. `Process` itself knows it when no process has a copy of its socket any more, and programs that were
    /// started at the same moment or by the program may have one for long.
    private var status: Int32? {
        if let end { return end }
        var info = unsafe siginfo_t()
        // First, because the number may be another program's once Process has ended this one for the system.
        if !process.isRunning {
            end = process.terminationStatus
        } else if unsafe waitid(P_PID, id_t(identifier), &info, WEXITED | WNOHANG | WNOWAIT) == 0 {
            // It stays there for Process.
            let child = unsafe info._sifields._sigchld
            end = child.si_pid == 0 ? nil : child.si_status
        }
        return end
    }

    /// The time that it has used of a processor, in seconds.
    package var processorSeconds: Double {
        get throws {
            let text = try String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
            // The name is in brackets; user and system time are 12 and 13 fields behind it.
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
                throw TestProblem("The kernel does not say what \(identifier) has used.")
            }
            return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    /// Ends it at once, as a power cut would.
    package func kill() {
        if isRunning { Foundation.kill(identifier, SIGKILL) }
        // It ends in a moment. There is a limit all the same, because all tests share two threads.
        for _ in 0..<10_000 {
            if !isRunning { break }
            usleep(1000)
        }
    }

    /// Asks it to end, and waits 10 seconds at most. No thread waits for it.
    ///
    /// - Returns: its exit status.
    package func terminate() async -> Int32 {
        if isRunning { Foundation.kill(identifier, SIGTERM) }
        try? await waitWhile(isRunning, for: .seconds(10))
        kill()
        return status ?? -1
    }

    deinit { if identifier > 0 { kill() } }

    /// Finds a program in PATH or where systems keep services; nil when it is not installed.
    package static func find(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The path of a program of this package, which is built with the tests.
    package static func built(_ name: String) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        // The tests run inside a bundle in the folder of products, or in a helper of the toolchain.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? own
        return (bundle as NSString).deletingLastPathComponent + "/" + name
    }

    /// Runs a program to its end. No thread waits for it, so that nodes in the test's process go on.
    ///
    /// - Returns: its exit status and what it printed. A program that runs for three minutes is ended, with `SIGKILL`.
    package static func run(_ path: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        // A file in place of a pipe: other programs may have a copy of a pipe, and its end would come with theirs.
        let folder = try TestFolder()
        let output = folder.path + "/output"
        let program = try TestProgram(path, arguments, output: output)
        try await waitWhile(program.isRunning, for: .seconds(180))
        program.kill()
        return (
            program.status ?? -1, String(decoding: try Data(contentsOf: URL(fileURLWithPath: output)), as: UTF8.self)
        )
    }
}
