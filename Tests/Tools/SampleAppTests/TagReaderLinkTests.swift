// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import TestThreads
import Testing
import UserBus

@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
struct `Links of cards that come to TagReader` {
    private let folder: ScratchFolder
    private let bus: Bus
    private let user: User
    private let app: Command

    init() throws {
        folder = try ScratchFolder()
        bus = try Bus(folder.path(""))
        let programs = (Command(name: "TagReader").path as NSString).deletingLastPathComponent
        user = try User(environment: [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "TAGREADER_STORE": folder.path("messages.json"),
            "PATH": folder.path("bin") + ":" + programs + ":/usr/bin:/bin", "TERMINAL": "", "XDG_CURRENT_DESKTOP": "",
            "TERM": "xterm", "NFC_READER": "virtual", "NFC_SHEET": "", "DISPLAY": "",
        ])
        try user.installTagReader()
        app = Command(name: "TagReader", environment: user.nfc.environment)
    }

    /// Opens a link, as a click on its notification does.
    private func open(_ number: UInt32) throws {
        _ = try user.add("https://tagreader.example/x/\(number)", number: number)
        let outcome = try user.nfc.run("inbox", "open", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try outcome.objects().first?["with_message"] as? Bool == true)
    }

    private func list() throws -> [String] { try app.run(input: "list\n").lines }

    @Test func `One that comes at the question whether to delete is shown, and the answer deletes nothing`() throws {
        #expect(try app.run(input: "scan\n").status == 0)
        let terminal = try TerminalSession(app)
        try terminal.type("d", at: "> 1  2 records")
        try terminal.wait(for: "Delete message 1? Press y to delete it.")
        try open(1)
        try terminal.wait(for: "This message came from a card that was held near the reader.")
        #expect(terminal.screen.contains("  Payload     Link: https://tagreader.example/x/1"))
        // The app asks the terminal to show its window, and rings the bell in case the terminal can't.
        #expect(terminal.output.contains("\u{1B}[1t\u{1B}[5t\u{07}"))
        try terminal.type("y")
        try terminal.type("q")
        try terminal.wait { $0.contains { $0.hasPrefix("> 2") } && $0.contains { $0.hasPrefix("  1") } }
        try terminal.type("q")
        #expect(try terminal.end() == 0)
        #expect(try list().count == 2)
    }

    @Test func `A second window says that another one takes the links, shows them, and takes its place`() throws {
        let first = try TerminalSession(app)
        try first.wait(for: "No messages yet.")
        let second = try TerminalSession(app)
        try second.wait(for: "Another window takes the links of cards. This one shows them too.")
        try open(1)
        try first.wait(for: "This message came from a card")
        try second.wait(for: "Another window added message 1.")
        try first.type("q")
        try first.wait { $0.contains { $0.hasPrefix("> 1") } }
        try first.type("q")
        #expect(try first.end() == 0)
        try second.wait(for: "This window takes the links of cards now.")
        try open(2)
        try second.wait(for: "This message came from a card")
        #expect(second.screen.contains("  Payload     Link: https://tagreader.example/x/2"))
    }

    @Test func `A window takes the place of an instance without one, and is given what comes from then on`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: app.path)
        process.arguments = ["--background"]
        process.environment = app.variables
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let watch = try UserBus(address: bus.address)
        try waitWhile(!watch.isRunning("org.opencorenfc.TagReader"))
        try open(1)
        let terminal = try TerminalSession(app)
        try terminal.wait(for: "A message came from a card while this app was closed.")
        try open(2)
        try terminal.wait(for: "This message came from a card that was held near the reader.")
        #expect(terminal.screen.contains("  Payload     Link: https://tagreader.example/x/2"))
        // The other one is of no use any more.
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let text = String(decoding: try #require(try output.fileHandleForReading.readToEnd()), as: UTF8.self)
        #expect(text.contains("https://tagreader.example/x/1") && !text.contains("https://tagreader.example/x/2"))
        // A script is no window, and takes no place.
        #expect(try list().count == 2)
        try open(3)
        try terminal.wait { $0.contains("  Payload     Link: https://tagreader.example/x/3") }
    }

    @Test func `A second window says that another one takes the links, also when it has more to say`() throws {
        try open(1)
        let first = try TerminalSession(app)
        try first.wait(for: "A message came from a card while this app was closed.")
        let second = try TerminalSession(app)
        try second.wait(for: "A message came from a card while this app was closed.")
        try second.type("k")
        try second.wait(for: "Another window takes the links of cards. This one shows them too.")
        try open(2)
        try first.wait(for: "This message came from a card")
        try second.wait(for: "Another window added message 2.")
    }

    @Test func `Without a desktop it is kept as new, which the app says at its next start`() throws {
        try open(1)
        #expect(try app.run(input: "list\n").lines == ["1  new  2 records  Link: https://tagreader.example/x/1"])
        let terminal = try TerminalSession(app)
        try terminal.wait(for: "A message came from a card while this app was closed.")
        try terminal.type("\r")
        try terminal.wait(for: "Record 1")
        try waitWhile(list().first?.contains("new") != false)
        #expect(try list() == ["1  2 records  Link: https://tagreader.example/x/1"])
    }

    @Test func `One that can't be saved is shown with the reason, and stays in the inbox`() throws {
        // A file where the folder of the messages should be.
        try Data().write(to: URL(fileURLWithPath: folder.path("data")))
        var app = app
        app.environment["TAGREADER_STORE"] = folder.path("data/messages.json")
        let terminal = try TerminalSession(app)
        try terminal.type(" ", at: "Saved Messages")
        try terminal.wait(for: "No messages yet.")
        _ = try user.add("https://tagreader.example/x/1", number: 1)
        for _ in 0..<2 {
            #expect(try user.nfc.run("inbox", "open", "--json").status == 1)
            try terminal.wait(for: "Not Saved")
            try terminal.type(" ", at: "The messages can't be saved")
            try terminal.wait(for: "https://tagreader.example/x/1")
        }
        #expect(try user.nfc.run("inbox", "list").output.contains("tagreader.example"))
        try terminal.type("q")
        try terminal.wait { $0.count { $0.contains("not saved") } == 1 }
        // When there is a folder again, it is saved.
        try FileManager.default.removeItem(atPath: folder.path("data"))
        #expect(try user.nfc.run("inbox", "open", "--json").status == 0)
        try terminal.wait { $0.contains("  Payload     Link: https://tagreader.example/x/1") }
        #expect(try app.run(input: "list\n").lines.count == 1)
    }

    /// What a terminal on the desktop is started with to run the app.
    private static let terminals: [(name: String, words: String, variables: [String: String])] = [
        ("xdg-terminal-exec", "", ["TERMINAL": "other"]), ("mine", "-e", ["TERMINAL": "mine"]),
        ("konsole", "-e", ["XDG_CURRENT_DESKTOP": "KDE"]), ("gnome-terminal", "--", ["XDG_CURRENT_DESKTOP": "x:GNOME"]),
    ]

    @Test(arguments: terminals.indices)
    func `On a desktop it opens a window of the person's terminal, which is given the message`(index: Int) throws {
        let (name, words, variables) = Self.terminals[index]
        // A terminal with a higher priority fails to open a window. The expected one runs the app, with a pipe for its
        // keys.
        let script = """
            #!/bin/sh
            grep SigBlk /proc/self/status >'\(folder.path("blocked"))'
            echo "$0 $1" >>'\(folder.path("started"))'

            """
        let keys = folder.path("keys")
        let made = unsafe mkfifo(keys, 0o600)
        #expect(made == 0)
        let descriptor = unsafe Glibc.open(keys, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try install(
            name,
            script + "\(words.isEmpty ? "" : "shift")\n\"$@\" <'\(keys)' >'\(folder.path("window"))' 2>&1 &\n"
        )
        if index > 0 { try install("xdg-terminal-exec", script + "exit 1\n") }
        var nfc = user.nfc
        nfc.environment.merge(variables.merging(["DISPLAY": ":99"]) { $1 }) { $1 }
        _ = try user.add("https://tagreader.example/x/1")
        let outcome = try nfc.run("inbox", "open", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        // A terminal counts as opened when it still runs after a while, so on a busy machine these come later.
        let started = text("started") { $0.split(separator: "\n").count == (index > 0 ? 2 : 1) }
        #expect(started.contains("/\(name) \(words.isEmpty ? app.path : words)"))
        _ = text("window") { $0.contains("Payload     Link: https://tagreader.example/x/1") }
        // Ctrl-C in the window reaches what it runs.
        let blocked = text("blocked") { $0.hasSuffix("\n") }
        #expect(blocked == "SigBlk:\t0000000000000000\n")
        _ = unsafe write(descriptor, "quit\n", 5)
    }

    /// Waits until a file of the folder has what it is to have.
    private func text(_ name: String, until isWhole: (String) -> Bool) -> String {
        var text = ""
        for _ in 0..<6000 {
            text = (try? String(contentsOfFile: folder.path(name), encoding: .utf8)) ?? ""
            if isWhole(text) { return text }
            usleep(10_000)
        }
        Issue.record("\(name): \(text)")
        return text
    }

    private func install(_ name: String, _ script: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path("bin"), withIntermediateDirectories: true)
        try ProgramFile.write(script, to: folder.path("bin/\(name)"))
    }
}
