// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import Glibc
import LinkDelivery
import NDEF
import ProgramTesting
import TestThreads
import Testing
import UserBus

/// Links of cards that were read in the background: the sample app gets them over the bus, as it is installed.
@Suite(.ownThreads, .enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct AppLinkTests {
    private static let desktopID = "org.opencorenfc.TagReader"

    private let bus: SessionBus
    private let app: SampleApp

    init() throws {
        bus = try SessionBus()
        var app = try SampleApp(["DBUS_SESSION_BUS_ADDRESS": bus.address, "TERMINAL": "", "XDG_CURRENT_DESKTOP": ""])
        let programs = (app.program.path as NSString).deletingLastPathComponent
        app.program.environment["PATH"] = app.folder.path("bin") + ":\(programs):/usr/bin:/bin"
        for (name, folder) in ["DATA": "data", "CONFIG": "config", "STATE": "state", "CACHE": "cache"] {
            app.program.environment["XDG_\(name)_HOME"] = app.folder.path(folder)
        }
        self.app = app
        let files = URL(filePath: #filePath).appending(path: "../../../../Examples/TagReader/Installation")
        let entry = files.appending(path: "\(Self.desktopID).desktop").standardizedFileURL.path
        try app.folder.makeFolder("data/applications")
        try app.folder.copy(entry, to: "data/applications/\(Self.desktopID).desktop")
    }

    /// Opens a link as the service does: with the app that its rules name.
    @discardableResult
    private func open(_ number: Int, _ variables: [String: String] = [:]) throws -> LinkDeliverer.Receipt {
        let link = "https://tagreader.example/x/\(number)"
        let message = try NDEFMessage([try .uri(link), try .text("more", language: "en")]).encoded()
        let type = UserActivityPayload.browsingWeb
        let payload = try UserActivityPayload(activityType: type, webpageURL: link, message: message)
        let installed = InstalledApp(
            id: "OPENCORENFC.\(Self.desktopID)",
            name: "Tag Reader",
            desktopID: Self.desktopID,
            associatedDomains: []
        )
        return try LinkDeliverer(environment: app.program.variables.merging(variables) { $1 })
            .deliver(.app(installed, payload))
    }

    private func list() throws -> [String] { try app.run("list").lines }

    @Test func `links without a window or desktop: the app is started to keep them, its next window announces them`()
        throws
    {
        #expect(try open(1).hasMessage)
        let watch = try BusConnection(.user, address: bus.address)
        let owner = try #require(try watch.userOwner(of: Self.desktopID))
        #expect(try list() == ["1  new  2 records  Link: https://tagreader.example/x/1"])
        // The same process gets the next ones. What it can't keep it does not take.
        try open(2)
        try app.folder.remove("messages.json.lock")
        try app.folder.makeFolder("messages.json.lock")
        let error = #expect(throws: DeliveryError.self) { try open(3) }
        #expect(error?.code == .refused)
        try app.folder.remove("messages.json.lock")
        #expect(try watch.userOwner(of: Self.desktopID) == owner && list().count == 2)
        // A window takes its place, and says what came meanwhile.
        let terminal = try app.terminal()
        try terminal.play("A message arrived from a card while this app was closed.\n[Enter]\nRecord 1")
        try waitWhile(list().last?.contains("new") != false)
        #expect(try list().last == "2  2 records  Link: https://tagreader.example/x/2")
        try open(4)
        try terminal.play("  Payload     Link: https://tagreader.example/x/4")
        #expect(try watch.userOwner(of: Self.desktopID) != owner)
    }

    @Test func `link during a delete confirmation: its message is shown, and a late yes deletes nothing`() throws {
        #expect(try app.run("scan").status == 0)
        let terminal = try app.terminal()
        try terminal.play("> Message 1\n[d]\nDelete This Message?")
        try open(1)
        try terminal.play(
            """
            This message came from a card that was held near the reader.
              Payload     Link: https://tagreader.example/x/1
            [y]
            Record 1
            [q]
            > Message 2, read in the background 2
              Message 1, scanned 2
            [q]
            """
        )
        #expect(try terminal.end() == 0)
        // It asks the terminal to show its window, and rings the bell in case the terminal can't.
        #expect(terminal.output.contains("\u{1B}[1t\u{1B}[5t\u{07}"))
        #expect(try list().count == 2)
    }

    @Test func `links on a desktop: a terminal window opens and gets the message`() throws {
        let rows: [(name: String, option: String, variables: [String: String])] = [
            ("xdg-terminal-exec", "", ["TERMINAL": "other"]), ("mine", "-e", ["TERMINAL": "mine"]),
            ("gnome-terminal", "--", ["XDG_CURRENT_DESKTOP": "x:GNOME"]),
        ]
        let keys = app.folder.path("keys")
        try #require(unsafe mkfifo(keys, 0o600) == 0)
        let descriptor = unsafe Glibc.open(keys, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let watch = try BusConnection(.user, address: bus.address)
        for (index, row) in rows.enumerated() {
            // The terminal runs the app, with a pipe for its keys. One with a higher priority opens no window.
            let start = "#!/bin/sh\ngrep SigBlk /proc/self/status >'\(app.folder.path("blocked"))'\n"
            let run = "\(row.option.isEmpty ? "" : "shift")\n\"$@\" <'\(keys)' >'\(app.folder.path("window"))' 2>&1 &\n"
            if index > 0 { try app.folder.write("bin/xdg-terminal-exec", "#!/bin/sh\nexit 1\n", mode: 0o755) }
            let note = "echo \"$1\" >'\(app.folder.path("option"))'\n"
            try app.folder.write("bin/\(row.name)", start + note + run, mode: 0o755)
            try open(index, row.variables.merging(["DISPLAY": ":99"]) { $1 })
            waitWhile(!app.folder.text("window").contains("Link: https://tagreader.example/x/\(index)"))
            #expect(app.folder.text("window").contains("Payload     Link: https://tagreader.example/x/\(index)"))
            #expect(app.folder.lines("option") == [row.option.isEmpty ? app.program.path : row.option], "\(row.name)")
            // Ctrl-C in the window reaches what it runs.
            #expect(app.folder.text("blocked") == "SigBlk:\t0000000000000000\n")
            _ = unsafe write(descriptor, "quit\n", 5)
            try waitWhile(watch.isRunning(Self.desktopID))
            try app.folder.remove("bin/\(row.name)")
        }
    }
}
