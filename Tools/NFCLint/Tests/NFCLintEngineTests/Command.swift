// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Runs `nfc-lint` as it was built.
enum Command {
    struct Answer {
        var status: Int32
        var output: String
        var errors: String
    }

    /// - Parameter output: a file that takes the output in the place of the answer.
    static func run(_ arguments: [String], in folder: URL? = nil, output: String? = nil) throws -> Answer {
        let start = try #require(Bundle.allBundles.map(\.bundleURL).first { $0.path.contains(".build") } ?? built)
        let process = Process()
        process.executableURL = program(from: start)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        let errors = FileManager.default.temporaryDirectory.appendingPathComponent("errors-\(UUID().uuidString)")
        try Data().write(to: errors)
        defer { try? FileManager.default.removeItem(at: errors) }
        process.standardOutput = try output.map { try FileHandle(forWritingTo: URL(fileURLWithPath: $0)) } ?? pipe
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        if output != nil { try pipe.fileHandleForWriting.close() }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Answer(
            status: process.terminationStatus,
            output: String(decoding: data, as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        )
    }

    private static var built: URL? { CommandLine.arguments.first.map { URL(fileURLWithPath: $0) } }

    /// The program in the folder of the build, above the bundle of the tests.
    private static func program(from url: URL) -> URL {
        var folder = url
        while folder.path.count > 1 {
            let program = folder.appendingPathComponent("nfc-lint")
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
            folder = folder.deletingLastPathComponent()
        }
        return url.deletingLastPathComponent().appendingPathComponent("nfc-lint")
    }
}
