// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import PeerSupport
import TagImages
import VirtualTags

/// A test's own user environment: buses, notifications, a session, a reader, an inbox, and the service.
///
/// One task uses it at a time.
final class Desk: @unchecked Sendable {
    // Safe: a test is one task, and only that task uses the desk.

    /// The interpreter that has dbusmock; nil when it is not installed.
    static let python: String? = {
        let paths = ["/usr/lib/python3/dist-packages/dbusmock", "/usr/bin/dbus-daemon", "/usr/bin/python3"]
        return paths.allSatisfy(FileManager.default.fileExists(atPath:)) ? "/usr/bin/python3" : nil
    }()

    let folder: URL
    let environment: [String: String]
    private let peer: TalkingProgram
    /// The systemd of the user; nil when there is none.
    private let manager: TalkingProgram?
    private(set) var service: TalkingProgram?

    /// The folder of the built programs.
    static let programs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/debug")

    /// Creates a desk with an unlocked session and notifications.
    ///
    /// - Parameter systemd: whether the user has a systemd, whose bus is the session bus.
    init(
        notifications: Bool = true,
        login: Bool = true,
        systemd: Bool = false,
        variables: [String: String] = [:]
    ) async throws {
        // The path of a socket must be short.
        folder = URL(fileURLWithPath: "/tmp/nfcd-\(UUID().uuidString.prefix(8))")
        for name in ["tags", "run", "state", "data/applications", "data/nfc/apps", "cache", "machine/dev", "bin"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name),
                withIntermediateDirectories: true
            )
        }
        let own = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path + "/run", "XDG_STATE_HOME": folder.path + "/state",
            "XDG_DATA_HOME": folder.path + "/data", "XDG_DATA_DIRS": folder.path + "/none",
            "XDG_CACHE_HOME": folder.path + "/cache", "XDG_CONFIG_HOME": folder.path + "/config",
            "XDG_CONFIG_DIRS": folder.path + "/none", "XDG_SESSION_ID": "", "NFC_SYSTEM_ROOT": folder.path + "/machine",
            "PATH": folder.path + "/bin:/usr/bin:/bin", "NFC_READER": "", "XDG_CURRENT_DESKTOP": "",
            "PCSCLITE_CSOCK_NAME": "/nonexistent/pcscd.comm", "DISPLAY": "", "WAYLAND_DISPLAY": "",
        ].merging(variables) { $1 }
        let scripts = URL(filePath: #filePath).deletingLastPathComponent()
        manager = try systemd ? Self.manager(folder, scripts, own) : nil
        try await manager?.line(with: "ready")
        peer = try TalkingProgram(
            Self.python ?? "python3",
            [scripts.appending(path: "desktop_peer.py").path, folder.path],
            environment: systemd ? ["NFC_SESSION_BUS": "unix:path=\(folder.path)/run/bus"] : [:]
        )
        let addresses = try JSONDecoder().decode(
            [String: String].self,
            from: Data(try await peer.line(with: "DBUS_SYSTEM_BUS_ADDRESS").utf8)
        )
        environment = addresses.merging(own) { $1 }
        // Web links have a browser, but it can't be started.
        try write("bin/xdg-open", "#!/bin/sh\nexit 1\n", mode: 0o755)
        try write("machine/proc/sys/kernel/random/boot_id", "boot-1\n")
        if notifications { try await ask("notify_on") }
        if login { try await ask("login_on", getuid()) }
    }

    private static func manager(_ folder: URL, _ scripts: URL, _ own: [String: String]) throws -> TalkingProgram {
        var variables = own
        // The environment of the units: nfcd reads the desk's tags.
        variables["NFC_TAGS"] = folder.path + "/tags"
        variables["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(folder.path)/system"
        let script = scripts.appending(path: "systemd_peer.sh").path
        return try TalkingProgram("/usr/bin/unshare", ["-m", "bash", script, folder.path], environment: variables)
    }

    deinit {
        service?.send(signal: SIGKILL)
        peer.closeInput()
        manager?.closeInput()
        let (peer, manager, folder) = (peer, manager, folder)
        // deinit can't wait for the peer.
        try? FileManager.default.removeItem(at: folder)
        Task {
            _ = try? await peer.end(within: .seconds(20))
            _ = try? await manager?.end(within: .seconds(20))
            try? FileManager.default.removeItem(at: folder)
        }
    }

    // MARK: The desktop

    /// Runs a command of the desktop.
    @discardableResult
    func ask(_ name: String, _ arguments: Any...) async throws -> Any? { try await ask(name, list: arguments) }

    /// Runs a command of the desktop.
    @discardableResult
    func ask(_ name: String, list arguments: [Any]) async throws -> Any? {
        let line = try JSONSerialization.data(withJSONObject: [name] + arguments)
        peer.say(String(decoding: line, as: UTF8.self))
        let text = try await peer.line { $0.hasPrefix("{\"value\"") || $0.hasPrefix("{\"error\"") }
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        if let error = object?["error"] as? String { throw PeerError("\(name): \(error)") }
        return object?["value"]
    }

    /// The arguments of the notifications that were shown, in order.
    func notifications() async throws -> [Notification] {
        let calls = try await ask("calls", "Notify") as? [[Any]] ?? []
        return calls.compactMap { $0.last as? [Any] }.map(Notification.init)
    }

    // MARK: The service

    /// Starts the service, and waits until it owns its name.
    func start(_ arguments: String..., dyingAt step: String? = nil, waitsFor event: String? = "reading") async throws {
        var variables = environment
        variables["NFC_DIE_AT"] = step
        let service = try TalkingProgram(
            Self.programs.appending(path: "nfcd").path,
            ["--json", "--tags", folder.path + "/tags"] + arguments,
            environment: variables
        )
        self.service = service
        if let event { try await self.event(event) }
    }

    /// Waits for a line of the service's log.
    @discardableResult
    func event(_ name: String, within limit: Duration = .seconds(20)) async throws -> [String: String] {
        guard let service else { throw PeerError("The service does not run.") }
        let line = try await service.line(with: "{\"event\":\"\(name)\"", within: limit)
        return try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
    }

    /// Kills the service with SIGKILL.
    func kill() async throws {
        service?.send(signal: SIGKILL)
        _ = try await service?.end()
        service = nil
    }

    /// Waits for the end of a service that dies by itself.
    func death() async throws -> Int32? {
        defer { service = nil }
        return try await service?.end()
    }

    /// Runs `nfc`.
    func nfc(_ arguments: String...) async throws -> (status: Int32, lines: [String]) { try await nfc(arguments) }

    /// Runs `nfc`.
    func nfc(_ arguments: [String]) async throws -> (status: Int32, lines: [String]) {
        let path = Self.programs.appending(path: "nfc").path
        let program = try TalkingProgram(path, arguments, environment: environment)
        let status = try await program.end()
        // Its last line may not have arrived yet.
        _ = try? await program.line(within: .seconds(5)) { _ in false }
        return (status, program.output.split(separator: "\n").map(String.init))
    }

    /// The entries of the inbox, from `nfc inbox list --json`.
    func inbox() async throws -> [[String: Any]] {
        try await nfc("inbox", "list", "--json").lines.compactMap { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
    }

    // MARK: Files

    /// Writes a file of the desk.
    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let url = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: url, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    /// The lines of a file of the desk; empty when it does not exist.
    func lines(of name: String) -> [String] {
        let text = (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Waits until a condition holds.
    func wait(_ what: String, within limit: Duration = .seconds(20), _ isSo: () -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while !isSo() {
            guard ContinuousClock.now < end else { throw PeerError("\(what): not in \(limit).") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Brings a tag with a link near.
    func bring(_ uri: String, number: UInt8 = 1) throws {
        try bring(try NDEFMessage([.uri(uri), .text("more", language: "en")]).encoded(), number: number)
    }

    /// Brings a tag with a message near.
    func bring(_ message: [UInt8], number: UInt8 = 1) throws {
        let contents: TagContents
        if message.count < 400 {
            var type2 = Type2Contents(blank: .ntag215, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, number])
            let length = UInt8(clamping: message.count)
            let head: [UInt8] =
                message.count < 255
                ? [0x03, length] : [0x03, 0xFF, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
            let bytes = head + message + [0xFE]
            type2.memory.replaceSubrange(16..<16 + bytes.count, with: bytes)
            contents = .type2(type2)
        } else {
            // Mapping version 3, whose lengths have four bytes.
            let size = message.count + 4
            func bytes(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) } }
            let container: [UInt8] =
                [0, 17, 0x30, 0, 0xF0, 0, 0xF0, 6, 8, 0xE1, 0x04] + bytes(size) + [0, 0]
            let file = bytes(message.count) + message
            let uid: [UInt8] = [0x04, 0x10, 0x20, 0x30, 0x40, 0x50, number]
            let front = Type4FrontEnd.nfcA(uid: uid, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80])
            contents = .type4(
                Type4Contents(frontEnd: front, kind: .ndef(files: [0xE103: container, 0xE104: file]))
            )
        }
        let path = folder.appending(path: "tags/\(number).json")
        try Data(TagImage(contents).encoded()).write(to: path, options: .atomic)
    }

    /// Removes a tag.
    func takeAway(number: UInt8 = 1) throws {
        try FileManager.default.removeItem(at: folder.appending(path: "tags/\(number).json"))
    }
}

/// A notification that the desktop was asked to show.
struct Notification {
    var replaces: Int
    var icon: String
    var title: String
    var body: String
    var actions: [String]
    var hints: [String: Any]
    /// After how many milliseconds it expires; -1 leaves that to the desktop, and 0 is never.
    var timeout: Int

    init(_ arguments: [Any]) {
        replaces = arguments[1] as? Int ?? -1
        icon = arguments[2] as? String ?? ""
        title = arguments[3] as? String ?? ""
        body = arguments[4] as? String ?? ""
        actions = arguments[5] as? [String] ?? []
        hints = arguments[6] as? [String: Any] ?? [:]
        timeout = arguments[7] as? Int ?? -2
    }
}
