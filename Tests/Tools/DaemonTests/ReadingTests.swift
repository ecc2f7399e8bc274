// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import NDEF
import ProgramTesting
import TestThreads
import Testing
import UserBus

/// When the service reads tags, and what it reads of them.
@Suite(.ownThreads, .enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct ReadingTests {
    // MARK: Tags

    @Test func `nfcd: the first URI record of a tag decides what is offered`() throws {
        let rows: [(name: String, records: [NDEFRecord], result: String)] = [
            ("link", [try .uri("https://example.com/1")], "Open “example.com” in the browser"),
            (
                "text first", [try .text("x", language: "en"), try .uri("mailto:a@b.example")],
                "Write an email to “a@b.example”"
            ), ("two", [try .uri("tel:+123"), try .uri("https://example.com")], "Call “+123”"),
            ("app", [try .uri("https://good.site.example/x/1")], "Open “good.site.example” in Reader"),
            ("no app", [try .uri("https://good.site.example/y")], "Open “good.site.example” in the browser"),
            ("scheme", [try .uri("reader:x")], "refused"), ("text", [try .text("x", language: "en")], "no-link"),
        ]
        let daemon = try Daemon(["--log-content"]) { user, _ in
            for name in ["xdg-open", "gio"] { try user.program(name) }
            try user.entry("phone", "Name=Phone", "Exec=gio %u")
            let types = ["mailto", "tel"].map { "x-scheme-handler/\($0)=phone.desktop\n" }
            try user.folder.write("config/mimeapps.list", "[Default Applications]\n" + types.joined())
            let details = #"{"appIDs":["TEAM.org.example.reader"],"components":[{"/":"/x/*"}]}"#
            try user.cache(#"{"applinks":{"details":[\#(details)]}}"#, of: "good.site.example")
        }
        try daemon.waits(for: "reading")
        for row in rows {
            try daemon.bring(row.records, named: row.name)
            let isOffered = row.result.contains(" ")
            let line = try daemon.waits(for: isOffered ? "arrived" : row.result)
            if isOffered { #expect(line["message"]?.hasSuffix(row.result) == true, "\(row.name): \(line)") }
            try daemon.folder.remove("tags/\(row.name).json")
        }
        let messages: [(event: String, message: [UInt8])] = [
            // A smart poster (NFC Forum RTD SP 1.1), and a URI record without the code of its prefix (RTD URI 1.0, 3.2.1).
            ("no-link", [0xD1, 2, 9, 0x53, 0x70, 0xD1, 1, 5, 0x55, 4, 0x61, 0x2E, 0x62, 0x63]),
            ("unusable-link", [0xD1, 1, 0, 0x55]), ("no-message", []), ("bad-message", [0xD1]),
        ]
        for (event, message) in messages {
            try daemon.bring(message: message, named: event)
            try daemon.waits(for: event)
        }
        #expect(daemon.user.inbox.count == 5)
        #expect(daemon.end() == 0)
    }

    @Test func `nfcd --allow-custom-schemes: a link with an app's own scheme is offered`() throws {
        let start = Int(Date().timeIntervalSince1970 * 1000)
        let daemon = try Daemon(["--log-content", "--allow-custom-schemes"])
        try daemon.waits(for: "reading")
        try daemon.bring([try .uri("reader:x")])
        let arrived = try daemon.waits(for: "arrived")
        let time = "\(arrived["ms"] ?? "-") ms. The airtime is \(arrived["air_ms"] ?? "-") ms."
        #expect(arrived["message"] == "A tag was read in \(time) Open “reader:” in Reader")
        let entry = try daemon.user.nfc.run("inbox", "list", "--json")
        #expect(entry["id"] == arrived["id"])
        let received = try #require(entry["received_ms"].flatMap { Int($0) })
        #expect((start...Int(Date().timeIntervalSince1970 * 1000)).contains(received))
        #expect(daemon.end(by: SIGINT) == 0)
        #expect(daemon.events.first == "started" && daemon.events.last == "ended")
    }

    // MARK: Conditions

    /// A machine in which the service looks for displays, cameras and radios.
    private func machine() throws -> TestFolder {
        let machine = try TestFolder()
        try machine.makeFolder("dev")
        return machine
    }

    private func open(_ path: String) throws -> FileHandle {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private func setDisplay(_ name: String, _ status: String, _ power: String, in machine: TestFolder) throws {
        try machine.write("sys/class/drm/\(name)/status", "\(status)\n")
        try machine.write("sys/class/drm/\(name)/dpms", "\(power)\n")
    }

    @Test func `nfcd while a camera is open, also a new one: tags wait until it is closed`() throws {
        let machine = try machine()
        let daemon = try Daemon(environment: ["NFC_SYSTEM_ROOT": machine.path])
        try daemon.waits(for: "reading")
        for name in ["video0", "video12"] {
            let camera = try open(machine.path("dev/\(name)"))
            try daemon.waits(for: "not-reading camera")
            try daemon.bring([try .uri("https://example.com/\(name)")], named: name)
            // Another device is no camera.
            try machine.write("dev/videox", "")
            try camera.close()
            try daemon.waits(for: "reading")
            try daemon.waits(for: "arrived")
        }
        // A reader that goes meanwhile is not taken to be there.
        let camera = try open(machine.path("dev/video0"))
        try daemon.waits(for: "not-reading camera")
        try daemon.folder.remove("tags")
        try camera.close()
        try daemon.waits(for: "not-reading unsupported")
        #expect(daemon.end() == 0)
        // A tag that comes before the reader has stopped may be read, ignored, and read again.
        #expect(daemon.events.filter { $0 == "reading" }.count == 3)
    }

    @Test func `nfcd in airplane mode: tags are read again when a radio goes on or the radios' device ends`() throws {
        let machine = try machine()
        try #require(unsafe mkfifo(machine.path("dev/rfkill"), 0o600) == 0)
        let radios = try open(machine.path("dev/rfkill"))
        func say(_ events: [UInt8]...) { for event in events { radios.write(Data(event)) } }
        // Of rfkill(4): index, type, operation (0 added, 2 changed), blocked by software, by hardware.
        say([0, 0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 2, 0, 1, 0])
        let daemon = try Daemon(environment: ["NFC_SYSTEM_ROOT": machine.path])
        try daemon.waits(for: "reading")
        say([1, 0, 0, 0, 2, 2, 0, 1], [0, 0, 0, 0, 1, 2, 0, 1])
        try daemon.waits(for: "not-reading airplane-mode")
        say([1, 0, 0, 0, 2, 2, 0, 0])
        try daemon.waits(for: "reading")
        say([0, 0, 0, 0, 1, 2, 0, 1], [1, 0, 0, 0, 2, 2, 1, 0])
        try daemon.waits(for: "not-reading airplane-mode")
        try radios.close()
        try daemon.waits(for: "reading")
        #expect(daemon.end() == 0)
        let states = daemon.events.filter { $0.contains("reading") }
        #expect(states == ["reading", "not-reading airplane-mode", "reading", "not-reading airplane-mode", "reading"])
    }

    @Test func `nfcd, the display went off without a report: a tag is not eligible`() throws {
        let machine = try machine()
        // One of two connected displays is on. Those that are not connected do not count.
        try setDisplay("card0-DP-1", "connected", "On", in: machine)
        try setDisplay("card0-DP-2", "connected", "Standby", in: machine)
        try setDisplay("card0-HDMI-1", "disconnected", "On", in: machine)
        let daemon = try Daemon(environment: ["NFC_SYSTEM_ROOT": machine.path])
        try daemon.waits(for: "reading")
        try setDisplay("card0-DP-1", "connected", "Off", in: machine)
        try daemon.bring([try .uri("https://example.com")])
        try daemon.waits(for: "not-eligible")
        // Another obstacle is a condition of the status, and no line of the log.
        let camera = try open(machine.path("dev/video0"))
        try waitWhile(daemon.status("conditions")?.contains(#"{"condition":"camera","met":false"#) != true)
        try camera.close()
        #expect(daemon.end() == 0)
        #expect(daemon.events.filter { $0.hasPrefix("not-reading") } == ["not-reading display-off"])
        #expect(!daemon.events.contains("arrived"))
    }

    // MARK: Apps

    /// An app that asks for the reader, by the service's socket.
    private final class App {
        private let descriptor: Int32

        init(_ daemon: Daemon) throws {
            descriptor = try #require(PrivateSocket.connect(daemon.folder.path("run/nfc/background")))
        }

        func say(_ bytes: [UInt8]) {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            #expect(count == bytes.count)
        }

        /// The next byte of the service, which comes within half a minute.
        func hears() -> UInt8? {
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 30_000)
            var byte: UInt8 = 0
            return unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 1 ? byte : nil
        }

        func leave() { close(descriptor) }
    }

    @Test(arguments: [(0x52, "reader-session"), (0x43, "wallet")] as [(UInt8, String)])
    func `nfcd, apps that claim the reader: no tags are read until the last app leaves`(
        purpose: UInt8,
        obstacle: String
    )
        throws
    {
        let daemon = try Daemon()
        try daemon.waits(for: "reading")
        let apps = [try App(daemon), try App(daemon)]
        for app in apps {
            app.say([purpose])
            #expect(app.hears() == 0x59)
        }
        try daemon.waits(for: "not-reading \(obstacle)")
        for app in apps { app.leave() }
        try daemon.waits(for: "reading")
        #expect(daemon.end() == 0)
        #expect(daemon.events.filter { $0.hasPrefix("not-reading") } == ["not-reading \(obstacle)"])
    }

    // MARK: The reader

    @Test func `nfcd, folder of tags missing: the status says so until it is back`() throws {
        let place = try TestFolder()
        let daemon = try Daemon(
            reader: ["--tags", place.path("above/tags")],
            environment: ["NFC_SHEET": "bogus", "NFC_READER": "bogus"]
        )
        try daemon.waits(for: "not-reading unsupported")
        let missing = "--tags: The folder of tags \(place.path("above/tags")) is missing. Create it, or name another."
        let json = try daemon.user.nfc.run("background", "status", "--json")
        #expect(json.status == 3 && json["reading"] == "false" && json["reader"] == missing)
        let words = try daemon.user.nfc.run("background", "status")
        #expect(words.lines.first == "Tags are not read.")
        #expect(words.lines.contains("  no    reader          \(missing)"), "\(words)")
        try place.makeFolder("above/tags")
        try daemon.waits(for: "reading")
        try place.write("above/tags/bad.json", "{")
        try daemon.waits(for: "notice")
        try place.move("above", to: "aside")
        try daemon.waits(for: "not-reading unsupported")
        try place.makeFolder("above/tags")
        try daemon.waits(for: "reading")
        #expect(try daemon.user.nfc.run("background", "status").status == 0)
        #expect(daemon.end() == 0 && daemon.folder.text("errors") == "")
    }

    @Test func `nfcd without a reader: each new reason is logged once`() throws {
        let place = try TestFolder()
        let daemon = try Daemon(reader: ["--reader", "pn532:\(place.path("line"))"])
        let first = try daemon.waits(for: "not-reading unsupported")
        // A file takes the place of the serial line.
        try place.write("line", "")
        let second = try daemon.waits(for: "not-reading unsupported")
        #expect(first["message"] != second["message"])
        #expect(daemon.end() == 0)
        let none = try Daemon(reader: ["--reader", "none"])
        let line = try none.waits(for: "not-reading unsupported")
        #expect(line["message"] == "Tags are not read. --reader is \"none\", so no reader is used.")
        #expect(none.end() == 0)
    }
}
