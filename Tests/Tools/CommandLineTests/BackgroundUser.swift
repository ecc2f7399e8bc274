// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import NDEF
import PrivateStorage
import ProgramTesting
import TestThreads

/// A user with folders, apps and an inbox of a test's own.
struct User {
    let scratch: ScratchFolder
    let nfc: Command

    init(environment: [String: String] = [:]) throws {
        scratch = try ScratchFolder()
        var variables = [
            "XDG_DATA_HOME": scratch.path("data"), "XDG_DATA_DIRS": scratch.path("none"),
            "XDG_STATE_HOME": scratch.path("state"), "XDG_CACHE_HOME": scratch.path("cache"),
            "XDG_CONFIG_HOME": scratch.path("config"), "XDG_CONFIG_DIRS": scratch.path("none"),
            "PATH": scratch.path("bin") + ":/usr/bin:/bin",
            // The tests must not depend on the lock screen of the person who runs them.
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere",
        ]
        variables.merge(environment) { $1 }
        nfc = Command(name: "nfc", environment: variables)
        try write("data/nfc/apps/org.example.Reader.json", Self.description)
        try write(
            "data/applications/org.example.Reader.desktop",
            "[Desktop Entry]\nType=Application\nName=Reader\nDBusActivatable=true\nMimeType=x-scheme-handler/reader;\n"
        )
    }

    private static let description = """
        {"app_id":"TEAM.org.example.reader","associated_domains":["applinks:good.site.example"]}
        """

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let path = scratch.path(name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try ProgramFile.write(text, to: path, mode: mode)
    }

    /// Puts an association file into the cache, as if its site had served it.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - domain: the domain of the site.
    ///   - asked: how many seconds ago the site was asked.
    ///   - served: how many seconds ago it served the file; nil if that was when it was asked.
    ///   - failure: why the last try failed.
    func cache(
        _ file: String,
        of domain: String = "good.site.example",
        asked: Int64 = 0,
        served: Int64? = nil,
        failure: String = ""
    ) throws {
        let now = Int64(Date().timeIntervalSince1970)
        let times = "\(now - asked) \(now - (served ?? asked))"
        let head = "nfc-links 1 \(times) \(file.utf8.count) \(failure)"
        try write("cache/nfc/links/\(domain).links", "\(head)\n\(file)")
    }

    static let association =
        #"{"applinks":{"details":[{"appIDs":["TEAM.org.example.reader"],"components":[{"/":"/x/*"}]}]}}"#

    /// The folder of the files that come with the sample app.
    static let tagReaderFiles = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Examples/TagReader/Installation").standardizedFileURL

    /// Installs the sample app with the files that come with it.
    func installTagReader() throws {
        let association =
            #"{"applinks":{"details":[{"appIDs":["OPENCORENFC.org.opencorenfc.TagReader"],"components":[{"/":"/x/*"}]}]}}"#
        for (file, folder) in [("json", "nfc/apps"), ("desktop", "applications")] {
            let name = "org.opencorenfc.TagReader.\(file)"
            let text = try String(contentsOf: Self.tagReaderFiles.appendingPathComponent(name), encoding: .utf8)
            try write("data/\(folder)/\(name)", text)
        }
        try cache(association, of: "tagreader.example")
    }

    /// Adds an entry to the inbox.
    func add(_ uri: String, number: UInt32 = 1) throws -> String {
        let id = InboxEntry.ID(received: UInt64(Date().timeIntervalSince1970 * 1000), number: number)
        let message = try NDEFMessage([.uri(uri), .text("more", language: "en")]).encoded()
        try Inbox(DirectoryStore(scratch.path("state/nfc/inbox"))).add(InboxEntry(id: id, message: message))
        return id.description
    }

    /// Installs an opener that logs the opened link.
    func opener(status: Int = 0) throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" \"$2\" >> '\(scratch.path("opened"))'\nexit \(status)\n"
        for name in ["gio", "xdg-open"] { try write("bin/\(name)", script, mode: 0o755) }
    }

    var opened: [String] {
        let text = (try? String(contentsOfFile: scratch.path("opened"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}

/// A bus for one test. It ends with this object, and so does everything that it started.
final class Bus {
    /// Whether there is the program for it.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")
    /// Whether dbus-broker can run here, in its own mount namespace.
    static let isBrokerInstalled =
        isInstalled && geteuid() == 0
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-broker-launch")

    private let process = Process()
    /// The bus in the role of the systemd manager's bus.
    private let other: Bus?
    /// Stays open for programs that the bus starts.
    private let output = Pipe()
    let address: String

    /// dbus-broker, at a socket in a folder.
    init(brokerIn folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder + "/other", withIntermediateDirectories: true)
        let other = try Bus(folder + "/other")
        self.other = other
        try Self.writeConfiguration(folder)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "broker_bus.py")
        process.arguments = [
            "unshare", "-m", "python3", script.path, folder + "/bus", folder + "/bus.conf", other.address,
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        address = "unix:path=\(folder)/bus"
        try process.run()
        // Connections wait at the socket until it is taken over.
        waitWhile(!FileManager.default.fileExists(atPath: folder + "/bus"))
    }

    /// dbus-daemon, at a socket in a folder.
    init(_ folder: String) throws {
        other = nil
        try Self.writeConfiguration(folder)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = ["--nofork", "--config-file=\(folder)/bus.conf", "--print-address"]
        process.standardOutput = output
        try process.run()
        address = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func writeConfiguration(_ folder: String) throws {
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>unix:path=\(folder)/bus</listen>
            <servicedir>\(folder)/services</servicedir>
            <auth>EXTERNAL</auth><policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>\
            <allow own="*"/></policy></busconfig>
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/bus.conf"))
    }

    /// Stops dbus-daemon, so that it does not answer.
    func stop() { kill(process.processIdentifier, SIGSTOP) }

    /// Ends dbus-daemon before this object does.
    func end() { kill(process.processIdentifier, SIGKILL) }

    /// Continues dbus-daemon.
    func goOn() { kill(process.processIdentifier, SIGCONT) }

    deinit {
        // What a thread of the tests starts has its signals blocked, so that it can't be asked to end.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
