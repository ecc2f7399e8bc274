// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import TestThreads
import Testing

@Suite(.ownThreads) struct `The messages that instances of TagReader share` {
    private let scratch: ScratchFolder
    private let store: String
    private let app: Command

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.path("data/messages.json")
        app = Command(
            name: "TagReader",
            environment: ["TAGREADER_STORE": store, "NFC_READER": "virtual", "NFC_SHEET": "none"]
        )
    }

    private func run(_ commands: String...) throws -> Command.Outcome {
        try app.run(input: commands.joined(separator: "\n") + "\n")
    }

    private func write(_ text: String) throws {
        let folder = (store as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: store))
    }

    /// The numbers of the messages that are kept.
    private func numbers() throws -> [Int] {
        let data = try Data(contentsOf: URL(fileURLWithPath: store))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try #require(object["messages"] as? [[String: Any]]).compactMap { $0["number"] as? Int }
    }

    private static func numbers(of lines: [String]) -> [Int] {
        lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    }

    @Test func `Only their owner can read them`() throws {
        func mode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: store)[.posixPermissions] as? Int
        }
        #expect(try run("scan").status == 0)
        #expect(try mode() == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: store)
        #expect(try run("scan").status == 0)
        #expect(try mode() == 0o600)
    }

    @Test func `A message keeps its number, and no other gets it`() throws {
        #expect(try run("scan", "scan", "scan", "delete 2").status == 0)
        #expect(try Self.numbers(of: run("list").lines) == [1, 3])
        #expect(try Self.numbers(of: run("delete 3", "scan", "list").lines.suffix(2)) == [1, 4])
        #expect(try run("show 3").error == "There is no message 3. The command list shows them.\n")
    }

    @Test func `Messages of an app that kept no numbers are counted`() throws {
        let record = #"{"format":1,"type":"VQ==","identifier":"","payload":"BGEuYg=="}"#
        try write(#"{"version":1,"messages":[{"records":[\#(record)]},{"records":[]}]}"#)
        #expect(try run("list").lines == ["1  1 record  Link: https://a.b", "2  0 records  no record"])
        #expect(try run("delete 1", "scan").status == 0)
        #expect(try numbers() == [2, 3])
    }

    @Test func `Those of a newer app stay as they are, and are not called damaged`() throws {
        let text = #"{"version":2,"messages":{"kept":"otherwise"}}"#
        try write(text)
        let outcome = try run("list", "scan")
        #expect(outcome.error.hasPrefix("The saved messages in \(store) are those of a newer Tag Reader."))
        #expect(!outcome.error.contains("damaged"))
        #expect(outcome.status == 1)
        #expect(try String(contentsOfFile: store, encoding: .utf8) == text)
        let files = try FileManager.default.contentsOfDirectory(atPath: (store as NSString).deletingLastPathComponent)
        #expect(files.sorted() == ["messages.json", "messages.json.lock"])
    }

    @Test func `An instance sees what another has added and removed`() throws {
        let terminal = try TerminalSession(
            Command(name: "TagReader", environment: app.environment.merging(["TERM": "xterm", "NFC_SHEET": ""]) { $1 })
        )
        try terminal.wait(for: "No messages yet.")
        #expect(try run("scan").status == 0)
        try terminal.wait { $0.contains { $0.hasPrefix("> 1  2 records") } }
        try terminal.type("\r", at: "Another window added message 1.")
        try terminal.wait(for: "Record 2")
        #expect(try run("delete 1").status == 0)
        try terminal.wait(for: "That message was deleted in another window.")
        #expect(try run("scan").status == 0)
        try terminal.wait { $0.contains { $0.hasPrefix("> 2  2 records") } }
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    /// How many scans each instance makes; `TAGREADER_SCANS=100` for more.
    private static let scans = ProcessInfo.processInfo.environment["TAGREADER_SCANS"].flatMap(Int.init) ?? 5

    /// What threads share.
    private final class Tally: @unchecked Sendable {
        // Sendable because the lock guards everything.
        private let lock = NSLock()
        private var shown: [Int] = []
        private var kills = 0

        func add(_ numbers: [Int], isKilled: Bool) {
            lock.withLock {
                shown += numbers
                kills += isKilled ? 1 : 0
            }
        }

        var sum: (shown: [Int], kills: Int) { lock.withLock { (shown, kills) } }
    }

    @Test func `Ten instances that scan at a time lose nothing, although they are killed at any moment`() throws {
        let tally = Tally()
        let (app, scans) = (app, Self.scans)
        DispatchQueue.concurrentPerform(iterations: 10) { instance in
            var random = Random(state: UInt64(instance + 1))
            var count = 0
            while count < scans {
                let input = String(repeating: "scan\n", count: scans - count)
                // Most are killed, and the next run finishes their work.
                let after = UInt32(random.next() % UInt64(10_000 * scans))
                guard let (numbers, isKilled) = try? Self.run(app, input, killedAfter: after) else { return }
                tally.add(numbers, isKilled: isKilled)
                count += numbers.count
            }
        }
        let (shown, kills) = tally.sum
        #expect(shown.count >= 10 * scans)
        #expect(kills > 0)
        #expect(Set(shown).count == shown.count)
        // A message may also have been saved by an instance that was killed before it could report it.
        let kept = try numbers()
        #expect(Set(shown).subtracting(kept).isEmpty)
        #expect(kept == kept.sorted() && kept.count <= shown.count + kills)
    }

    /// A sequence that is the same in each run.
    private struct Random {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }

    /// Runs the app, and kills it some time after it has shown its first message, so that each run brings the test forward.
    ///
    /// - Returns: the numbers of the messages that it has shown, and whether it was killed.
    private static func run(_ app: Command, _ input: String, killedAfter delay: UInt32) throws -> ([Int], Bool) {
        let scratch = try ScratchFolder()
        let output = scratch.path("out")
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        try Data(input.utf8).write(to: URL(fileURLWithPath: scratch.path("in")))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: app.path)
        process.environment = app.variables
        process.standardInput = FileHandle(forReadingAtPath: scratch.path("in"))
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        let file = try #require(FileHandle(forReadingAtPath: output))
        while process.isRunning, try file.seekToEnd() == 0 { usleep(1000) }
        for _ in 0..<delay / 1000 where process.isRunning { usleep(1000) }
        let isKilled = process.isRunning
        if isKilled { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        let text = try String(contentsOfFile: output, encoding: .utf8)
        // A line that was cut off says nothing.
        return (numbers(of: text.split(separator: "\n").map(String.init).filter { $0.contains("records") }), isKilled)
    }
}
