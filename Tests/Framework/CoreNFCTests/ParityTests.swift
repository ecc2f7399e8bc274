// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Compares CoreNFC's declarations with Apple's. `Parity/apple.tsv` has one row per symbol of Apple, and
/// `Parity/exceptions.tsv` our other public symbols, with the reason. The table is made from the headers, API notes and Swift
/// interface of the iOS 27.0 SDK (Core NFC 370.42.1).
@Suite(.ownThreads, .timeLimit(.minutes(2))) struct `The surface of CoreNFC` {
    struct Row {
        var symbol: String
        var status: String
        var reason: String
    }

    struct Graph: Decodable {
        struct Symbol: Decodable {
            var pathComponents: [String]
            var docComment: DocComment?
            var kind: Kind
        }

        struct DocComment: Decodable {}

        struct Kind: Decodable {
            var identifier: String
        }

        var symbols: [Symbol]
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Parity")

    static func table(_ name: String) throws -> [[String]] {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            .split(separator: "\n").dropFirst()
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }

    static func apple() throws -> [Row] {
        try table("apple.tsv").map { Row(symbol: $0[0], status: $0[2], reason: $0[3]) }
    }

    /// The public symbols of the module, from the compiler.
    static func graph() throws -> Graph {
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("parity-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // The tool may leave its own temporary folder behind.
        process.arguments =
            [
                "TMPDIR=\(output.path)", "swift", "symbolgraph-extract", "-module-name", "CoreNFC", "-target", target,
                "-output-dir", output.path, "-minimum-access-level", "public", "-skip-synthesized-members",
            ] + BuiltModules.arguments
        try process.run()
        process.waitUntilExit()
        let data = try Data(contentsOf: output.appendingPathComponent("CoreNFC.symbols.json"))
        return try JSONDecoder().decode(Graph.self, from: data)
    }

    static var target: String {
        #if arch(arm64)
            "aarch64-unknown-linux-gnu"
        #else
            "x86_64-unknown-linux-gnu"
        #endif
    }

    /// A method with a completion handler and its asynchronous form are one symbol of Apple's.
    static func form(_ symbol: String) -> String {
        symbol.replacingOccurrences(of: "completionHandler:", with: "")
    }

    @Test func `Every symbol of Apple's has an answer, and at the most one in twenty is unavailable`() throws {
        let rows = try Self.apple()
        #expect(rows.count > 400)
        for row in rows {
            #expect(["implemented", "synthesised", "unavailable"].contains(row.status), "\(row.symbol)")
            #expect(row.status == "implemented" || !row.reason.isEmpty, "\(row.symbol) needs a reason")
        }
        #expect(rows.filter { $0.status == "unavailable" }.count * 20 <= rows.count)
    }

    @Test(.enabled(if: BuiltModules.areThere))
    func `What is said to be implemented is there, and nothing else is public`() throws {
        let symbols = try Self.graph().symbols
        let declared = Set(symbols.map { $0.pathComponents.joined(separator: ".") })
        let rows = try Self.apple()
        for row in rows where row.status == "implemented" {
            #expect(declared.contains(row.symbol), "\(row.symbol) is not there")
        }
        for row in rows where row.status == "unavailable" {
            #expect(!declared.contains(row.symbol), "\(row.symbol) is there after all")
        }
        let known = Set(rows.map { Self.form($0.symbol) })
        let exceptions = try Set(Self.table("exceptions.tsv").map { $0[0] })
        for symbol in declared.sorted() where !known.contains(Self.form(symbol)) {
            #expect(exceptions.contains(symbol), "\(symbol) is public and not Apple's")
        }
        for exception in exceptions.sorted() {
            #expect(declared.contains(exception), "\(exception) is no longer there")
        }
    }

    @Test(.enabled(if: BuiltModules.areThere)) func `Both call forms of a method are there`() throws {
        let declared = Set(try Self.graph().symbols.map { $0.pathComponents.joined(separator: ".") })
        // A command of a tag that the table lists in one form has the other as well.
        let tags = ["NFCNDEFTag", "NFCISO7816Tag", "NFCISO15693Tag", "NFCFeliCaTag", "NFCMiFareTag"]
        for symbol in declared where symbol.hasSuffix("completionHandler:)") && tags.contains(where: symbol.hasPrefix) {
            let asynchronous = Self.form(symbol)
            #expect(declared.contains(asynchronous), "\(asynchronous) is missing")
        }
    }

    @Test(.enabled(if: BuiltModules.areThere)) func `Every public symbol is documented`() throws {
        // Requirements of a protocol are documented in the protocol.
        let inherited = [
            "rawValue", "init(rawValue:)", "copy(with:)", "encode(with:)", "init(coder:)", "supportsSecureCoding",
            "description", "debugDescription", "==(_:_:)", "alertMessage", "begin()", "invalidate()",
            "invalidate(errorMessage:)", "isReady", "init(from:)", "encode(to:)", "Element", "AsyncIterator",
            "makeAsyncIterator()", "errorDomain", "errorCode", "errorUserInfo",
        ]
        for symbol in try Self.graph().symbols where symbol.docComment == nil {
            guard let name = symbol.pathComponents.last, !inherited.contains(name) else { continue }
            Issue.record("\(symbol.pathComponents.joined(separator: ".")) is not documented")
        }
    }
}
