// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A program that a test starts, and that ends with it.
package final class TestProgram: @unchecked Sendable {
    // Sendable because Process is only used by the test's own calls, one after the other.
    private let process = Process()

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

    package var isRunning: Bool { process.isRunning }
    package var identifier: Int32 { process.processIdentifier }

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
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks it to end, and waits 10 seconds at most.
    ///
    /// - Returns: its exit status.
    @discardableResult
    package func terminate() -> Int32 {
        if process.isRunning { process.terminate() }
        for _ in 0..<1000 where process.isRunning { usleep(10_000) }
        if process.isRunning { kill() }
        return process.terminationStatus
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

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

    /// Runs a program to its end, on a thread that no task needs, so that nodes in the test's process go on.
    package static func runAside(_ path: String, _ arguments: [String]) async throws -> (
        status: Int32, output: String
    ) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(path, arguments) }) }
        }
    }

    /// Runs a program to its end.
    ///
    /// - Returns: its exit status and what it printed.
    package static func run(_ path: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
