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

    /// It has not ended for minutes.
    struct Endless: Error {
        var arguments: [String]
    }

    private static let limit = Duration.seconds(120)

    /// - Parameter output: a file that takes the output in the place of the answer.
    /// - Throws: ``Endless`` when it does not end.
    static func run(_ arguments: [String], in folder: URL? = nil, output: String? = nil) throws -> Answer {
        let start = try #require(Bundle.allBundles.map(\.bundleURL).first { $0.path.contains(".build") } ?? built)
        let process = Process()
        process.executableURL = program(from: start)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        // Files in place of pipes: programs that other tests start at the same moment may have a copy of a pipe.
        let scratch = FileManager.default.temporaryDirectory
        let files = ["output", "errors"].map { scratch.appendingPathComponent("\($0)-\(UUID().uuidString)") }
        for file in files { try Data().write(to: file) }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        process.standardOutput = try FileHandle(forWritingTo: output.map { URL(fileURLWithPath: $0) } ?? files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        let end = ContinuousClock.now + limit
        var status = process.end
        while status == nil {
            guard ContinuousClock.now < end else {
                kill(process.processIdentifier, SIGKILL)
                throw Endless(arguments: arguments)
            }
            usleep(2000)
            status = process.end
        }
        return Answer(
            status: try #require(status),
            output: String(decoding: try Data(contentsOf: files[0]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
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
