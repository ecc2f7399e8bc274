// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import TestThreads
import Testing

/// The messages that the sample app keeps, through damage, full disks and other instances.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct StoreTests {
    private let app: SampleApp
    private var store: String { app.folder.path("messages.json") }

    init() throws { app = try SampleApp(["NFC_SHEET": "text"]) }

    // MARK: Files that it did not write

    @Test func `store: a damaged file, kept aside, and the list begins anew`() throws {
        // Half a file, no file of messages, and a number that leaves no room for others.
        let files = [
            #"{"version":1,"mess"#, "[]", #"{"version":0,"messages":[]}"#,
            #"{"version":1,"messages":[{"number":9223372036854775807,"records":[]}]}"#,
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

    @Test func `store: a file of a newer app, not read and left as it is`() throws {
        let newer = #"{"version":2,"messages":{"kept":"otherwise"}}"#
        try app.folder.write("messages.json", newer)
        let outcome = try app.run("list", "scan")
        #expect(outcome.status == 1 && outcome.error.hasPrefix("The saved messages in \(store) are those of a newer"))
        #expect(app.folder.text("messages.json") == newer)
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
}
