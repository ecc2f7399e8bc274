// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TestThreads
import Testing

/// Compares CoreNFC's declarations with Apple's. `Parity/apple.tsv` has one row per symbol of Apple, and
/// `Parity/exceptions.tsv` our other public symbols, with the reason. The table is made from the headers, API notes and Swift
/// interface of the iOS 27.0 SDK (Core NFC 370.42.1).
@Suite(.ownThreads, .timeLimit(.minutes(2))) struct ParityTests {
    struct Graph: Decodable {
        struct Symbol: Decodable {
            var pathComponents: [String]
            var name: String { pathComponents.joined(separator: ".") }
        }

        var symbols: [Symbol]
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private static func table(_ name: String) throws -> [[String]] {
        try String(contentsOf: folder.appendingPathComponent("Parity/\(name).tsv"), encoding: .utf8)
            .split(separator: "\n").dropFirst()
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }

    /// The public symbols of the module, from the compiler.
    private static func symbols() throws -> [Graph.Symbol] {
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("parity-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        #if arch(arm64)
            let target = "aarch64-unknown-linux-gnu"
        #else
            let target = "x86_64-unknown-linux-gnu"
        #endif
        let arguments = [
            "symbolgraph-extract", "-module-name", "CoreNFC", "-target", target, "-output-dir", output.path,
            "-minimum-access-level", "public", "-skip-synthesized-members",
        ]
        _ = try BuiltModules.run("swift", arguments, in: output)
        let data = try Data(contentsOf: output.appendingPathComponent("CoreNFC.symbols.json"))
        return try JSONDecoder().decode(Graph.self, from: data).symbols
    }

    /// A method with a completion handler and its asynchronous form are one symbol of Apple's.
    private static func form(_ symbol: String) -> String {
        symbol.replacingOccurrences(of: "completionHandler:", with: "")
    }

    @Test(.enabled(if: BuiltModules.exist))
    func `Apple's symbols: each is declared or has a reason, and nothing else is public`() throws {
        let declared = Set(try Self.symbols().map(\.name))
        let rows = try Self.table("apple")
        #expect(rows.count > 400)
        for row in rows {
            let (symbol, status, reason) = (row[0], row[2], row[3])
            switch status {
            case "implemented": #expect(declared.contains(symbol), "\(symbol) is missing")
            case "synthesised": #expect(!reason.isEmpty, "\(symbol) needs a reason")
            case "unavailable": #expect(!reason.isEmpty && !declared.contains(symbol), "\(symbol) is declared")
            default: Issue.record("\(symbol) has no status")
            }
        }
        let known = Set(rows.map { Self.form($0[0]) })
        let exceptions = try Set(Self.table("exceptions").map { $0[0] })
        for symbol in declared.sorted() where !known.contains(Self.form(symbol)) {
            #expect(exceptions.contains(symbol), "\(symbol) is public and not Apple's")
        }
        for exception in exceptions.sorted() { #expect(declared.contains(exception), "\(exception) is gone") }
        // A command of a tag that the table lists in one form has the other as well.
        let tags = ["NFCNDEFTag", "NFCISO7816Tag", "NFCISO15693Tag", "NFCFeliCaTag", "NFCMiFareTag"]
        for symbol in declared where symbol.hasSuffix("completionHandler:)") && tags.contains(where: symbol.hasPrefix) {
            #expect(declared.contains(Self.form(symbol)), "\(Self.form(symbol)) is missing")
        }
    }
}

/// Compiles the files in `SourceCompatibilityTests/Forms`, as a client's package would: what compiles
/// with Apple's SDK without a diagnostic does so here.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .serialized, .enabled(if: BuiltModules.exist)) struct ClientFormTests {
    /// How a client is built.
    enum Setup: String, CaseIterable, Sendable {
        case mode5, mode5Preconcurrency, mode6, mode6Preconcurrency

        var mode: String { self == .mode5 || self == .mode5Preconcurrency ? "5" : "6" }

        /// The line that imports the framework.
        var importLine: String {
            self == .mode5 || self == .mode6 ? "import CoreNFC" : "@preconcurrency import CoreNFC"
        }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("SourceCompatibilityTests/Forms")

    /// The compiler's diagnostics for some forms, as the files of one client.
    private static func diagnostics(of forms: [String], in setup: Setup) throws -> String {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("form-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let files = try forms.map { form in
            let source = try String(contentsOf: folder.appendingPathComponent("\(form).swift"), encoding: .utf8)
            let lines = source.replacingOccurrences(of: "\nimport CoreNFC\n", with: "\n\(setup.importLine)\n")
            #expect(lines.contains("\n\(setup.importLine)\n"))
            let file = scratch.appendingPathComponent("\(form).swift")
            try lines.write(to: file, atomically: true, encoding: .utf8)
            return file.path
        }
        return try BuiltModules.run("swiftc", ["-typecheck", "-swift-version", setup.mode] + files, in: scratch)
    }

    @Test(arguments: Setup.allCases)
    func `Client's own tags, sessions and conformances, and tasks that capture tags: compile without diagnostics`(
        setup: Setup
    ) throws {
        let captures = setup == .mode6 ? [] : ["Captures"]
        // The conformances of the first one would count for the others too.
        for forms in [["OwnTypes"], ["UnsafeLet"] + captures] {
            #expect(try Self.diagnostics(of: forms, in: setup) == "", "\(forms)")
        }
    }

    @Test func `Swift 6 mode, tags captured by tasks: the compiler suggests @preconcurrency`() throws {
        #expect(try Self.diagnostics(of: ["Captures"], in: .mode6).contains("add '@preconcurrency'"))
    }
}

/// The modules that the tests were built with, for tests that run the compiler.
private enum BuiltModules {
    private static let products = URL(fileURLWithPath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    private static let folder = products.appendingPathComponent("Modules").path

    /// Whether they are where the package manager puts them.
    static var exist: Bool { FileManager.default.fileExists(atPath: "\(folder)/CoreNFC.swiftmodule") }

    /// Runs a tool of the compiler that finds the modules in Swift, and the maps of those in C.
    ///
    /// - Returns: what the tool prints.
    static func run(_ tool: String, _ arguments: [String], in scratch: URL) throws -> String {
        let files = try? FileManager.default.contentsOfDirectory(at: products, includingPropertiesForKeys: nil)
        let maps = (files ?? []).filter { $0.pathExtension == "build" }
            .map { $0.appendingPathComponent("module.modulemap").path }
            .filter { FileManager.default.fileExists(atPath: $0) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // The tools leave their own temporary folders behind.
        process.arguments =
            ["TMPDIR=\(scratch.path)", tool] + arguments + ["-I", folder]
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        let output = Pipe()
        process.standardError = output
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text : "failed: \(text)"
    }
}
