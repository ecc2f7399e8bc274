// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import NDEF
import ProgramTesting
import TestThreads
import Testing
import UserBus

/// A user with folders, an app and an inbox of a test's own.
struct User {
    let folder: TestFolder
    let nfc: TestProgram

    init(_ environment: [String: String] = [:]) throws {
        folder = try TestFolder()
        var variables = [
            "HOME": "home", "XDG_DATA_HOME": "data", "XDG_DATA_DIRS": "none", "XDG_STATE_HOME": "state",
            "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "XDG_CONFIG_DIRS": "none",
        ].mapValues(folder.path)
        variables["PATH"] = folder.path("bin") + ":/usr/bin:/bin"
        nfc = TestProgram("nfc", variables.merging(environment) { $1 })
        try folder.makeFolder("home")
        try installApp(domains: ["good.site.example"])
    }

    /// Installs the app `Reader`, to which the links of some domains belong.
    func installApp(domains: [String]) throws {
        let names = domains.map { "\"applinks:\($0)\"" }.joined(separator: ",")
        let text = #"{"app_id":"TEAM.org.example.reader","associated_domains":[\#(names)]}"#
        try folder.write("data/nfc/apps/org.example.Reader.json", text)
        try entry("org.example.Reader", "Name=Reader", "DBusActivatable=true", "MimeType=x-scheme-handler/reader;")
    }

    func entry(_ name: String, _ lines: String...) throws {
        let text = (["[Desktop Entry]", "Type=Application"] + lines).joined(separator: "\n")
        try folder.write("data/applications/\(name).desktop", text + "\n")
    }

    /// Installs a program that appends how many arguments it has, and each of them, to the file `opened`.
    func program(_ name: String, _ rest: String = "exit 0") throws {
        let script = "#!/bin/sh\nprintf '%s\\n' $# \"$@\" >> '\(folder.path("opened"))'\n\(rest)\n"
        try folder.write("bin/\(name)", script, mode: 0o755)
    }

    /// Installs the browser Fox, which appends each link and the permission to come to the front to the file `opened`.
    func installBrowser() throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$1\" \"${XDG_ACTIVATION_TOKEN-none}\" >> '\(folder.path("opened"))'\n"
        try folder.write("bin/fox", script, mode: 0o755)
        try entry("fox", "Name=Fox", "Exec=\(folder.path("bin/fox")) %u")
        try folder.write("config/mimeapps.list", "[Default Applications]\nx-scheme-handler/https=fox.desktop\n")
    }

    /// What the programs wrote.
    var opened: [String] { folder.lines("opened") }

    /// Puts an association file into the cache, as if its site had served it now.
    func cache(_ file: String, of domain: String) throws {
        let now = Int64(Date().timeIntervalSince1970)
        try folder.write("cache/nfc/links/\(domain).links", "nfc-links 1 \(now) \(now) \(file.utf8.count) \n\(file)")
    }

    /// Adds an entry to the inbox.
    ///
    /// - Returns: its identifier.
    @discardableResult func add(_ uri: String = "https://b.example/1", number: UInt32 = 1) throws -> String {
        let id = InboxEntry.ID(received: UInt64(Date().timeIntervalSince1970 * 1000), number: number)
        let message = try NDEFMessage([.uri(uri), .text("more", language: "en")]).encoded()
        try Inbox(PrivateFolder(store: folder.path("state/nfc/inbox"))).add(InboxEntry(id: id, message: message))
        return id.description
    }

    /// The names of the files in the inbox.
    var inbox: [String] { folder.names(in: "state/nfc/inbox") }
    /// What is stored about the entries: which ones were dismissed or are wanted.
    var marks: String { folder.text("state/nfc/background/marks") }
}

/// The service as it runs for a user on a bus of its own, and the tags near its reader. It is killed with its owner.
final class Daemon {
    static let object = BusCall.Object(
        "org.opencorenfc.Background",
        "/org/opencorenfc/Background",
        "org.opencorenfc.Background1"
    )

    struct Missing: Error, CustomStringConvertible { let description: String }

    let user: User
    let bus: SessionBus
    /// The folder of the tags near the reader, its own variables, and what it prints.
    let folder: TestFolder
    /// Its process.
    let identifier: pid_t
    /// Its exit status, or the number of the signal that killed it; nil while it runs.
    private var status: Int32?
    private var seen = 0

    /// Starts it.
    ///
    /// - Parameters:
    ///   - options: its options, apart from `--json`.
    ///   - reader: the options that name its reader; nil for the tags of the folder.
    ///   - environment: variables in addition to the user's.
    ///   - wrapper: a program with its arguments that starts it.
    ///   - preparing: called first, to prepare the user's files, and programs on the bus.
    init(
        _ options: [String] = [],
        reader: [String]? = nil,
        environment: [String: String] = [:],
        under wrapper: [String] = [],
        preparing: (User, SessionBus) throws -> Void = { _, _ in }
    ) throws {
        folder = try TestFolder()
        try folder.makeFolder("tags")
        bus = try SessionBus()
        let places = ["DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": folder.path("run")]
        user = try User(places.merging(environment) { $1 })
        try preparing(user, bus)
        let nfcd = TestProgram("nfcd", user.nfc.environment)
        let words = wrapper + [nfcd.path, "--json"] + options + (reader ?? ["--tags", folder.path("tags")])
        var launch = ProgramLaunch(words[0], words)
        launch.environment = nfcd.variables
        for (number, name) in [(Int32(1), "log"), (2, "errors")] {
            try folder.write(name, "")
            launch.descriptors[number] = unsafe open(folder.path(name), O_WRONLY | O_CLOEXEC)
        }
        defer { for descriptor in launch.descriptors.values { close(descriptor) } }
        identifier = try launch.start()
    }

    private var isRunning: Bool {
        var raw: Int32 = 0
        if status == nil, unsafe waitpid(identifier, &raw, WNOHANG) == identifier {
            status = raw & 0x7F != 0 ? raw & 0x7F : raw >> 8 & 0xFF
        }
        return status == nil
    }

    /// The lines that it has printed.
    var log: [JSONLine] { folder.lines("log").map(JSONLine.init) }

    /// The events that it has printed, see ``event(_:)``.
    var events: [String] { log.map(Self.event) }

    /// An event, with its obstacles or its error: `reading`, `not-reading camera`.
    private static func event(_ line: JSONLine) -> String {
        [line["event"], line["obstacles"] ?? line["error"]].compactMap(\.self).joined(separator: " ")
    }

    /// Waits for an event that comes after the last one that was waited for.
    @discardableResult func waits(for event: String) throws -> JSONLine {
        for _ in 0..<12_000 {
            let isRunning = isRunning
            let lines = log
            for (index, line) in lines.enumerated().dropFirst(seen) where Self.event(line) == event {
                seen = index + 1
                return line
            }
            guard isRunning else { break }
            usleep(5_000)
        }
        let lines = log.map(\.description).joined(separator: "\n") + folder.text("errors")
        throw Missing(description: "“\(event)” did not come:\n\(lines)")
    }

    /// Calls one of its methods, and returns the text that it answers.
    @discardableResult func ask(_ method: String, _ values: String...) throws -> String? {
        let bus = try BusConnection(.user, address: bus.address)
        return try bus.ask(BusCall(Self.object, method, values.map { .string($0) }), within: .seconds(30)).first?.text
    }

    /// A member of its status.
    func status(_ name: String) throws -> String? { JSONLine(try ask("Status") ?? "")[name] }

    /// Holds a tag with a message near its reader.
    func bring(_ records: [NDEFRecord], named name: String = "tag") throws {
        try bring(message: try NDEFMessage(records).encoded(), named: name)
    }

    /// Holds an NTAG215 with the bytes of a message near its reader.
    func bring(message: [UInt8], named name: String = "tag") throws {
        let last = UInt8(truncatingIfNeeded: name.utf8.reduce(0) { $0 &* 31 &+ Int($1) })
        let identifier: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last]
        var memory = identifier[..<3] + [UInt8(0x88 ^ 0x04 ^ 0xA1 ^ 0xB2)] + identifier[3...]
        memory += [0xC3 ^ 0xD4 ^ 0xE5 ^ last, 0x48, 0, 0, 0xE1, 0x10, 0x3E, 0, 0x03, UInt8(message.count)] + message
        memory += [0xFE] + [UInt8](repeating: 0, count: 519 - memory.count)
        memory += [0, 0, 0, 0xBD, 0x04, 0, 0, 0xFF, 0, 5, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        let text =
            #"{"type":"T2T","product":"NTAG215","uid":"\#(hex(identifier))","memory_hex":"\#(hex(Array(memory)))"}"#
        try folder.write("new.json", text)
        try folder.move("new.json", to: "tags/\(name).json")
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit status, or the number of the signal that killed it; -1 if it still runs after a minute.
    func ended() -> Int32 {
        waitWhile(isRunning)
        return isRunning ? -1 : status ?? -1
    }

    /// Asks it to end.
    ///
    /// - Returns: its exit status.
    func end(by signal: Int32 = SIGTERM) -> Int32 {
        kill(identifier, signal)
        return ended()
    }

    deinit {
        guard isRunning else { return }
        kill(identifier, SIGKILL)
        waitpid(identifier, nil, 0)
    }
}
