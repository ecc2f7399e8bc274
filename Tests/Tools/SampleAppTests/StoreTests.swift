// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import ProgramTesting
import Synchronization
import TestThreads
import Testing

/// The messages that the sample app keeps, through damage, full disks and other instances.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct StoreTests {
    private let app: SampleApp
    private var store: String { app.folder.path("messages.json") }

    init() throws { app = try SampleApp(["NFC_SHEET": "text"]) }

    // MARK: Files that it did not write

    @Test func `store: a damaged file, kept aside, and the list begins anew`() throws {
        func message(_ number: String) -> String { #"{"number":\#(number),"records":[]}"# }
        let largest = "9223372036854775807"
        // Half a file, no file of messages, and numbers that leave no room for others.
        let files = [
            #"{"version":1,"mess"#, "[]", #"{"version":0,"messages":[]}"#,
            #"{"version":1,"last":\#(largest),"messages":[]}"#, #"{"version":1,"messages":[\#(message(largest))]}"#,
            #"{"version":1,"messages":[\#(message("9007199254740993"))]}"#,
            #"{"version":1,"messages":[\#(message("9007199254740992")),{"records":[]}]}"#,
        ]
        for (index, file) in files.enumerated() {
            try app.folder.write("messages.json", file)
            let outcome = try app.run("list", "scan")
            let aside = "\(store).damaged-\(index + 1)"
            let note = "The saved messages were damaged. They are kept in \(aside), and the list begins with nothing.\n"
            #expect(outcome.status == 0 && outcome.error.hasPrefix(note), "\(file): \(outcome)")
            #expect(outcome.lines.first == "No messages." && outcome.lines.last?.hasPrefix("1  2 records") == true)
            #expect(app.folder.text("messages.json.damaged-\(index + 1)") == file)
        }
    }

    @Test func `store: the last number, given once, and then nothing is lost`() throws {
        try app.folder.write("messages.json", #"{"version":1,"last":9007199254740991,"messages":[]}"#)
        #expect(try app.run("scan").lines.first?.hasPrefix("9007199254740992  2 records") == true)
        let before = app.folder.text("messages.json")
        let outcome = try app.run("scan")
        #expect(outcome.status == 1 && outcome.error.contains("leave no number for another one."))
        #expect(app.folder.text("messages.json") == before)
    }

    @Test func `store: a file of a newer app or over 64 MiB, not read and left as it is`() throws {
        let newer = #"{"version":2,"messages":{"kept":"otherwise"}}"#
        try app.folder.write("messages.json", newer)
        let outcome = try app.run("list", "scan")
        #expect(outcome.status == 1 && outcome.error.hasPrefix("The saved messages in \(store) are those of a newer"))
        #expect(app.folder.text("messages.json") == newer)
        try #require(unsafe truncate(store, 64 << 20 + 1) == 0)
        let large = try app.run("list", "scan")
        #expect(large.status == 1 && large.error.hasPrefix("The saved messages in \(store) are larger than 64 MiB"))
        #expect(app.files == ["messages.json", "messages.json.lock"])
        let size = try FileManager.default.attributesOfItem(atPath: store)[.size] as? Int
        #expect(size == 64 << 20 + 1)
    }

    @Test func `store: a pipe, a device or a folder in its place, refused at once`() throws {
        try #require(unsafe mkfifo(app.folder.path("pipe"), 0o600) == 0)
        for path in [app.folder.path("pipe"), "/dev/zero", app.folder.path] {
            var app = app
            app.program.environment["TAGREADER_STORE"] = path
            let text = "\(path) is no file for messages. Name another one in TAGREADER_STORE.\n"
            #expect(try app.run("list").error == text)
        }
    }

    @Test func `store: messages of an app without numbers, counted`() throws {
        let record = #"{"format":1,"type":"VQ==","identifier":"","payload":"BGEuYg=="}"#
        try app.folder.write("messages.json", #"{"version":1,"messages":[{"records":[\#(record)]},{"records":[]}]}"#)
        #expect(try app.run("list").lines == ["1  1 record  Link: https://a.b", "2  0 records  no record"])
    }

    // MARK: Saving

    @Test func `store: its place and mode, for the owner alone`() throws {
        #expect(try app.run("scan").status == 0 && app.folder.mode("messages.json") == 0o600)
        try app.folder.setMode(0o644, of: "messages.json")
        #expect(try app.run("scan", "scan", "delete 3", "scan").status == 0)
        #expect(app.folder.mode("messages.json") == 0o600)
        // No message gets the number of another.
        #expect(try app.run("list").lines.compactMap(\.first) == ["1", "2", "4"])
        #expect(try app.run("show 3").error == "There is no message 3. The command list shows them.\n")
        var other = app
        other.program.environment["TAGREADER_STORE"] = nil
        other.program.environment["HOME"] = app.folder.path("home")
        for (data, place) in [("", "home/.local/share"), (app.folder.path("data"), "data")] {
            other.program.environment["XDG_DATA_HOME"] = data
            #expect(try other.run("scan").status == 0)
            #expect(app.folder.has("\(place)/tagreader/messages.json"))
        }
    }

    @Test func `store: a folder that takes nothing, the sheet and the command say why, and the list has it`() throws {
        let rows = [
            ("/dev/null/data/messages.json", "Not a directory", "the folder of the messages is missing"),
            ("/sys/messages.json", "Permission denied", "the folder of the messages can't be changed"),
        ]
        for (path, error, cause) in rows {
            var app = app
            app.program.environment["TAGREADER_STORE"] = path
            let outcome = try app.run("scan", "scan --many 2", "delete 1", "list", "scan", "list", "show 2")
            #expect(outcome.error.contains("[Failed] The message was read, but couldn't be saved: \(cause).\n"))
            #expect(outcome.error.contains("The messages can't be saved in \(path): \(error). Check the folder"))
            #expect(!outcome.error.contains("in your list") && !outcome.error.contains("is saved"))
            // Messages keep their numbers while others come and go.
            let rows = outcome.lines.filter { $0.contains("  not saved  2 records  Link:") }
            #expect(rows.compactMap(\.first) == ["1", "2", "2", "3", "2", "3"], "\(outcome.lines)")
            #expect(outcome.lines.contains { $0.hasPrefix("Message 2: 2 records") } && outcome.status == 1)
        }
    }

    @Test func `store: a full disk, what was saved stays`() throws {
        let payload = Data(repeating: 0x20, count: 9000).base64EncodedString()
        let record = #"{"format":5,"type":"","identifier":"","payload":"\#(payload)"}"#
        let text = #"{"version":1,"messages":[{"records":[\#(record)]}]}"#
        try app.folder.write("messages.json", text)
        // Room for the output, but not for the file.
        let script = "trap '' XFSZ; ulimit -f 8; printf 'scan\\nlist\\n' | '\(app.program.path)'"
        let outcome = try TestProgram("bash", app.program.environment).run("-c", script)
        #expect(outcome.error.contains("couldn't be saved: there is no room on the disk."))
        #expect(outcome.lines.last?.hasPrefix("2  not saved  2 records") == true && outcome.status == 1)
        #expect(app.folder.text("messages.json") == text)
        #expect(app.files == ["messages.json", "messages.json.lock"])
    }

    @Test func `store: instances that scan at a time and are killed at any moment, nothing is lost`() throws {
        let app = app
        let shown = Mutex<[Int]>([])
        let kills = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 3) { instance in
            var random = UInt64(instance + 1)
            for _ in 0..<5 {
                // Killed some time after its first message, so that each run brings the test forward.
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                guard let run = try? Self.run(app, killedAfter: UInt32(random >> 33 % 40)) else { continue }
                shown.withLock { $0 += run.numbers }
                kills.withLock { $0 += run.isKilled ? 1 : 0 }
            }
        }
        let numbers = shown.withLock { $0 }
        #expect(numbers.count >= 15 && Set(numbers).count == numbers.count)
        let killed = kills.withLock { $0 }
        #expect(killed > 0)
        // A message may also have been saved by an instance that was killed before it could show it.
        let kept = try app.run("list").lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        #expect(Set(numbers).subtracting(kept).isEmpty && kept == kept.sorted() && kept.count <= numbers.count + killed)
    }

    /// Runs the app until it has shown five messages, or some milliseconds after the first.
    private static func run(_ app: SampleApp, killedAfter delay: UInt32) throws -> (numbers: [Int], isKilled: Bool) {
        let scratch = try TestFolder()
        try scratch.write("in", String(repeating: "scan\n", count: 5))
        try scratch.write("out", "")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: app.program.path)
        process.environment = app.program.variables.merging(["NFC_SHEET": "none"]) { $1 }
        process.standardInput = FileHandle(forReadingAtPath: scratch.path("in"))
        process.standardOutput = FileHandle(forWritingAtPath: scratch.path("out"))
        process.standardError = FileHandle.nullDevice
        try process.run()
        while process.isRunning, scratch.text("out").isEmpty { usleep(1000) }
        for _ in 0..<delay where process.isRunning { usleep(1000) }
        let isKilled = process.isRunning
        if isKilled { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        // A line that was cut off does not count.
        let lines = scratch.text("out").split(separator: "\n").filter { $0.contains("records") }
        return (lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }, isKilled)
    }
}
