// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// A disk, or a folder, that does not take what TagReader reads.
@Suite(.ownThreads) struct `Messages that TagReader can't save` {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func app(_ store: String, sheet: String = "text") -> Command {
        Command(
            name: "TagReader",
            environment: ["TAGREADER_STORE": store, "NFC_READER": "virtual", "NFC_SHEET": sheet, "TERM": "xterm"]
        )
    }

    private func run(_ commands: String..., in store: String) throws -> Command.Outcome {
        try app(store).run(input: commands.joined(separator: "\n") + "\n")
    }

    /// A path in an impossible folder, and one in a folder where even root can't create files.
    private static let places = [
        ("/dev/null/data/messages.json", "Not a directory", "the folder of the messages is missing"),
        ("/sys/messages.json", "Permission denied", "the folder of the messages can't be changed"),
    ]

    @Test(arguments: places, ["scan", "scan --many 2"])
    func `The sheet and the command say that it is not saved and why, and the list has it`(
        place: (path: String, error: String, cause: String),
        command: String
    ) throws {
        let outcome = try run(command, "list", in: place.path)
        #expect(outcome.error.contains("[Failed] The message was read, but couldn't be saved: \(place.cause).\n"))
        #expect(
            outcome.error.contains("The messages can't be saved in \(place.path): \(place.error). Check the folder")
        )
        for claim in ["in your list", "is saved"] { #expect(!outcome.error.contains(claim), "\(outcome.error)") }
        #expect(outcome.lines.count == 2)
        #expect(outcome.lines.allSatisfy { $0.hasPrefix("1  not saved  2 records  Link:") }, "\(outcome.lines)")
        #expect(outcome.status == 1)
    }

    @Test func `A full disk leaves what was saved as it is`() throws {
        let store = scratch.path("messages.json")
        let payload = Data(repeating: 0x20, count: 9000).base64EncodedString()
        let record = #"{"format":5,"type":"","identifier":"","payload":"\#(payload)"}"#
        let text = #"{"version":1,"messages":[{"records":[\#(record)]}]}"#
        try Data(text.utf8).write(to: URL(fileURLWithPath: store))
        // Room for the output, but not for the file.
        let script = "trap '' XFSZ; ulimit -f 8; printf 'scan\\nlist\\n' | '\(app(store).path)'"
        var shell = Command(name: "bash")
        shell.environment = app(store).environment
        let outcome = try shell.run("-c", script)
        #expect(
            outcome.error.contains(
                "[Failed] The message was read, but couldn't be saved: there is no room on the disk."
            )
        )
        #expect(outcome.lines.last?.hasPrefix("2  not saved  2 records") == true, "\(outcome)")
        #expect(outcome.status == 1)
        #expect(try String(contentsOfFile: store, encoding: .utf8) == text)
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path(""))
        #expect(files.sorted() == ["messages.json", "messages.json.lock"])
    }

    @Test func `It can be shown and deleted without being saved`() throws {
        let outcome = try run("scan", "show 1", "delete 1", "list", in: Self.places[0].0)
        #expect(outcome.lines.contains { $0.hasPrefix("Message 1: 2 records") })
        #expect(outcome.lines.suffix(2) == ["Deleted message 1.", "No messages."])
    }

    @Test func `It keeps its number while others that are not saved come and go`() throws {
        let outcome = try run("scan", "scan", "delete 1", "list", "scan", "list", "show 2", in: Self.places[0].0)
        let numbers = outcome.lines.filter { $0.contains("  not saved  ") }.compactMap { $0.first.map(String.init) }
        #expect(numbers == ["1", "2", "2", "3", "2", "3"], "\(outcome.lines)")
        #expect(outcome.lines.contains { $0.hasPrefix("Message 2: 2 records") })
    }

    @Test func `On the full screen an alert says why, and it is saved with the next one that can be`() throws {
        // A file where the folder should be.
        try Data().write(to: URL(fileURLWithPath: scratch.path("data")))
        let store = scratch.path("data/messages.json")
        let terminal = try TerminalSession(app(store, sheet: ""))
        try terminal.type(" ", at: "Saved Messages")
        try terminal.type("s", at: "No messages yet.")
        try terminal.wait(for: "The message was read, but couldn't be saved")
        try terminal.type(" ", at: "Not Saved")
        try terminal.wait { $0.contains { $0.hasPrefix("> 1  not saved  2 records") } }
        try FileManager.default.removeItem(atPath: scratch.path("data"))
        try terminal.type("s")
        try terminal.wait {
            $0.contains { $0.hasPrefix("> 2  2 records") } && $0.contains { $0.hasPrefix("  1  2 records") }
        }
        try terminal.type("q")
        #expect(try terminal.end() == 0)
        let lines = try run("list", in: store).lines
        #expect(lines.compactMap(\.first) == ["1", "2"])
    }
}
