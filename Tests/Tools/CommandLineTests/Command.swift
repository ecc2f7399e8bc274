// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A built program, run as a person or a script runs it.
struct Command {
    /// What a run printed, and how it ended.
    struct Outcome {
        var status: Int32
        var output: String
        var error: String

        /// The lines of standard output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Where the programs are: beside the tests.
    private static let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    var name: String
    var environment: [String: String] = [:]

    /// Where the program is: beside the tests, or the system's.
    var path: String {
        if name.hasPrefix("/") { return name }
        let own = Self.folder.appendingPathComponent(name).path
        return FileManager.default.isExecutableFile(atPath: own) ? own : "/usr/bin/\(name)"
    }

    /// All its variables.
    var variables: [String: String] {
        var variables = ProcessInfo.processInfo.environment
        for key in variables.keys where key.hasPrefix("NFC_") || key.hasPrefix("TAGREADER_") { variables[key] = nil }
        // Tests use no reader, desktop or bus of this machine unless they set one.
        variables["PCSCLITE_CSOCK_NAME"] = "/nonexistent/pcscd.comm"
        variables["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
        for name in ["DISPLAY", "WAYLAND_DISPLAY"] { variables[name] = nil }
        return variables.merging(environment) { $1 }
    }

    /// Runs the program without a terminal.
    func run(_ arguments: String..., input: String = "") throws -> Outcome {
        try run(arguments, input: Data(input.utf8))
    }

    /// Runs the program without a terminal.
    func run(_ arguments: [String], input: Data = Data()) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = variables
        // Files in place of pipes: nothing can fill up and wait.
        let scratch = try ScratchFolder()
        let files = ["in", "out", "err"].map { scratch.path($0) }
        try input.write(to: URL(fileURLWithPath: files[0]))
        for file in files.dropFirst() { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        process.standardInput = FileHandle(forReadingAtPath: files[0])
        process.standardOutput = FileHandle(forWritingAtPath: files[1])
        process.standardError = FileHandle(forWritingAtPath: files[2])
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: try String(contentsOfFile: files[1], encoding: .utf8),
            error: try String(contentsOfFile: files[2], encoding: .utf8)
        )
    }
}

/// A folder for one test. It is deleted with this object.
final class ScratchFolder {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

extension Command {
    /// Runs the program with `--json`, and reads the one object that it prints.
    func object(_ arguments: String...) throws -> [String: Any] {
        let outcome = try run(arguments + ["--json"])
        #expect(outcome.lines.count == 1, "\(outcome.error)")
        return try #require(try outcome.objects().first)
    }
}

extension Command.Outcome {
    /// The JSON objects of standard output, one a line.
    func objects() throws -> [[String: Any]] {
        try lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }
}
