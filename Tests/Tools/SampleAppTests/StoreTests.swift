// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import TestThreads
import Testing

/// The messages that the sample app keeps, through damage and full disks.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct StoreTests {
    private let app: SampleApp
    private var store: String { app.folder.path("messages.json") }

    init() throws { app = try SampleApp(["NFC_SHEET": "text"]) }

    @Test func `store: a file that is damaged or of a newer app is named in the error and left as it is`() throws {
        let files = [
            #"{"version":1,"mess"#, "[]", #"{"version":0,"last":0,"messages":[]}"#,
            #"{"version":2,"messages":{"kept":"otherwise"}}"#,
        ]
        for file in files {
            try app.folder.write("messages.json", file)
            let outcome = try app.run("list", "scan")
            let note = "The saved messages in \(store) can't be read. Move the file away, and try again.\n"
            #expect(outcome.status == 1 && outcome.error.hasPrefix(note), "\(file): \(outcome)")
            #expect(outcome.lines == ["No messages."] && app.folder.text("messages.json") == file)
        }
    }

    // MARK: Saving

    @Test func `store of messages: in its folder with mode 0600, and numbers are not used twice`() throws {
        #expect(try app.run("scan").status == 0 && app.folder.mode("messages.json") == 0o600)
        try app.folder.setMode(0o644, of: "messages.json")
        #expect(try app.run("scan", "scan", "delete 3", "scan").status == 0)
        #expect(app.folder.mode("messages.json") == 0o600)
        // No message gets the number of another.
        #expect(try app.run("list").lines.compactMap(\.first) == ["1", "2", "4"])
        #expect(try app.run("show 3").error == "Message 3 does not exist. Type list to see the messages.\n")
        var other = app
        other.program.environment["TAGREADER_STORE"] = nil
        other.program.environment["HOME"] = app.folder.path("home")
        for (data, place) in [("", "home/.local/share"), (app.folder.path("data"), "data")] {
            other.program.environment["XDG_DATA_HOME"] = data
            #expect(try other.run("scan").status == 0)
            #expect(app.folder.has("\(place)/tagreader/messages.json"))
        }
    }

    @Test(arguments: ["/dev/null/data/messages.json", "/sys/messages.json"])
    func `store in a folder that can't be written: sheet and command report it`(path: String) throws {
        var app = app
        app.program.environment["TAGREADER_STORE"] = path
        let outcome = try app.run("scan", "scan", "scan --many 2", "list")
        #expect(outcome.error.contains("[Failed] The message was read, but couldn't be saved.\n"))
        #expect(
            outcome.error.contains("The messages can't be saved in \(path). Check the folder and its free space.\n")
        )
        // The user tries the same card again, so the second sheet does not ask for another one.
        let request = "[Ready to Scan] Hold the card near the reader to see its messages.\n"
        #expect(outcome.error.ranges(of: request).count == 2 && !outcome.error.contains("Hold another card"))
        #expect(!outcome.error.contains("in your list") && !outcome.error.contains("is saved"))
        #expect(outcome.lines == ["No messages."] && outcome.status == 1)
    }

    @Test func `store of messages on a full disk: the old messages stay`() throws {
        let payload = Data(repeating: 0x20, count: 9000).base64EncodedString()
        let record = #"{"format":5,"type":"","identifier":"","payload":"\#(payload)"}"#
        let text = #"{"version":1,"last":1,"messages":[{"number":1,"records":[\#(record)]}]}"#
        try app.folder.write("messages.json", text)
        // Room for the output, but not for the file.
        let script = "trap '' XFSZ; ulimit -f 8; printf 'scan\\nlist\\n' | '\(app.program.path)'"
        let outcome = try TestProgram("bash", app.program.environment).run("-c", script)
        #expect(outcome.error.contains("The messages can't be saved in \(store).") && outcome.status == 1)
        #expect(app.folder.text("messages.json") == text)
        #expect(app.files == ["messages.json", "messages.json.lock"])
    }
}
