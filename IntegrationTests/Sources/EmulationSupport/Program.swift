// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A program of somebody else, run to its end.
public struct Program: Sendable {
    /// What it wrote, and how it ended.
    public struct Result: Sendable {
        /// Standard output and standard error, as they came.
        public var output: String
        /// The exit status; the signal's number, negated, when one ended it.
        public var status: Int32
    }

    /// Where it is.
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

    /// Whether all of these programs are there.
    public static func areInstalled(_ names: String...) -> Bool {
        names.allSatisfy { Program($0) != nil }
    }

    /// Runs the program, and ends it by its own number when it takes too long.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - environment: variables beside those of the tests.
    ///   - input: what it reads from standard input.
    ///   - folder: the folder in which it runs; one that is taken away afterwards when nil.
    ///   - limit: how many seconds it may take.
    public func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = "",
        folder place: URL? = nil,
        limit: Double = 30
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ocn-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let inputFile = folder.appending(path: "input")
        let outputFile = folder.appending(path: "output")
        try Data(input.utf8).write(to: inputFile)
        try Data().write(to: outputFile)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = place ?? folder
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        let output = try FileHandle(forWritingTo: outputFile)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let deadline = ContinuousClock.now + .seconds(limit)
        while process.isRunning {
            if ContinuousClock.now > deadline { process.terminate() }
            if ContinuousClock.now > deadline + .seconds(2) { kill(process.processIdentifier, SIGKILL) }
            try await Task.sleep(for: .milliseconds(5))
        }
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return Result(output: String(decoding: try Data(contentsOf: outputFile), as: UTF8.self), status: status)
    }
}
