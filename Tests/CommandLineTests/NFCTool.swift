// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs the `nfc` that was built with the tests.
struct NFCTool {
    /// What a run left.
    struct Output {
        var status: Int32
        var text: String
        var errorText: String

        /// The lines of standard output, empty ones included.
        var lines: [String] {
            var lines = text.components(separatedBy: "\n")
            if lines.last == "" { lines.removeLast() }
            return lines
        }
    }

    /// The directory that the products are in.
    static var products: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Runs `nfc` to its end.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - input: its standard input.
    /// - Returns: what it printed, and its exit status.
    static func run(_ arguments: [String], input: Data = Data()) throws -> Output {
        let directory = FileManager.default.temporaryDirectory.appending(path: "nfc-test-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        // Files, so that no pipe fills up.
        let files = try ["in", "out", "err"].map { name in
            let file = directory.appending(path: name)
            try (name == "in" ? input : Data()).write(to: file)
            return file
        }
        let process = Process()
        process.executableURL = products.appending(path: "nfc")
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        return Output(
            status: process.terminationStatus,
            text: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            errorText: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
        )
    }

    /// Runs `nfc` with lines on standard input.
    static func run(_ arguments: String..., lines: [String]) throws -> Output {
        try run(arguments, input: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}
