// SPDX-License-Identifier: Apache-2.0
public import Foundation
import PeerSupport

/// A foreign program that runs to its end.
public struct Program: Sendable {
    /// Its output, and how it ended.
    public struct Result: Sendable {
        /// Standard output and standard error, in order.
        public var output: String
        /// The exit status; the signal's number, negated, when one ended it.
        public var status: Int32
    }

    /// Its path.
    public let path: String

    /// Finds a program.
    ///
    /// - Parameter name: its name in one of the usual folders, or its path.
    /// - Returns: nil when it is not installed.
    public init?(_ name: String) {
        let places = name.contains("/") ? [name] : ["/usr/bin/", "/usr/sbin/", "/usr/local/bin/"].map { $0 + name }
        guard let path = places.first(where: FileManager.default.isExecutableFile) else { return nil }
        self.path = path
    }

    /// Whether all of these programs are installed.
    public static func areInstalled(_ names: String...) -> Bool {
        names.allSatisfy { Program($0) != nil }
    }

    /// Runs the program, and ends it by its process identifier if it takes too long.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - environment: variables in addition to those of the tests.
    ///   - input: its standard input.
    ///   - folder: the folder in which it runs; nil for a temporary folder.
    ///   - limit: the time limit in seconds.
    public func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = "",
        folder: URL? = nil,
        limit: Double = 30
    ) async throws -> Result {
        let temporary = FileManager.default.temporaryDirectory.appending(path: "ocn-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: temporary) }
        let inputFile = temporary.appending(path: "input")
        let outputFile = temporary.appending(path: "output")
        try Data(input.utf8).write(to: inputFile)
        try Data().write(to: outputFile)
        let reading = try FileHandle(forReadingFrom: inputFile)
        let output = try FileHandle(forWritingTo: outputFile)
        let program = try SpawnedProgram(
            path,
            arguments,
            environment: environment,
            folder: (folder ?? temporary).path,
            descriptors: [0: reading.fileDescriptor, 1: output.fileDescriptor, 2: output.fileDescriptor]
        )
        var status = await program.end(within: .seconds(limit))
        for signal in [SIGTERM, SIGKILL] where status == nil {
            program.send(signal: signal)
            status = await program.end(within: .seconds(2))
        }
        return Result(
            output: String(decoding: try Data(contentsOf: outputFile), as: UTF8.self),
            status: status ?? -SIGKILL
        )
    }
}
