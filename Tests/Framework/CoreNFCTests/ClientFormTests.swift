// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Compiles the files in `SourceCompatibilityTests/Forms`, each for itself, as a client's package would: what compiles
/// with Apple's SDK without a diagnostic does so here.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .serialized) struct `Forms of client code` {
    /// How a client is built.
    enum Setup: String, CaseIterable, Sendable {
        case mode5, mode5Preconcurrency, mode6, mode6Preconcurrency

        var mode: String { self == .mode5 || self == .mode5Preconcurrency ? "5" : "6" }

        /// The line that imports the framework.
        var importLine: String {
            self == .mode5 || self == .mode6 ? "import CoreNFC" : "@preconcurrency import CoreNFC"
        }
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("SourceCompatibilityTests/Forms")

    /// The compiler's diagnostics for a form.
    static func diagnostics(of form: String, in setup: Setup) throws -> String {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("form-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let source = try String(contentsOf: folder.appendingPathComponent("\(form).swift"), encoding: .utf8)
        let lines = source.replacingOccurrences(of: "\nimport CoreNFC\n", with: "\n\(setup.importLine)\n")
        #expect(lines.contains("\n\(setup.importLine)\n"))
        let file = scratch.appendingPathComponent("\(form).swift")
        try lines.write(to: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // The compiler leaves its own temporary folder behind.
        process.arguments =
            ["TMPDIR=\(scratch.path)", "swiftc", "-typecheck", "-swift-version", setup.mode, file.path]
            + BuiltModules.arguments
        let output = Pipe()
        process.standardError = output
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let said = String(decoding: data, as: UTF8.self)
        return process.terminationStatus == 0 ? said : "failed: \(said)"
    }

    @Test(.enabled(if: BuiltModules.areThere), arguments: Setup.allCases)
    func `A tag, a session and a conformance of a client's own compile without a diagnostic`(setup: Setup) throws {
        for form in ["TestDouble", "Subclasses", "SendableByClient", "UnsafeLet"] {
            #expect(try Self.diagnostics(of: form, in: setup).isEmpty)
        }
    }

    @Test(.enabled(if: BuiltModules.areThere), arguments: [Setup.mode5, .mode5Preconcurrency, .mode6Preconcurrency])
    func `Closures and tasks capture tags without a diagnostic`(setup: Setup) throws {
        for form in ["Captures", "Tasks"] {
            #expect(try Self.diagnostics(of: form, in: setup).isEmpty)
        }
    }

    @Test(.enabled(if: BuiltModules.areThere)) func `Mode 6 asks for @preconcurrency where tags go to other threads`()
        throws
    {
        #expect(try Self.diagnostics(of: "Captures", in: .mode6).contains("add '@preconcurrency'"))
    }
}
