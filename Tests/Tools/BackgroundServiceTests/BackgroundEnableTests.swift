// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// nfc background enable where systemd does as it is told, and there is a bus.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
struct `A service that systemd has started` {
    private let folder: ScratchFolder
    private let bus: Bus
    private let user: User

    init() throws {
        folder = try ScratchFolder()
        bus = try Bus(folder.path(""))
        user = try User(environment: [
            "HOME": folder.path("home"), "DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": "/nowhere",
        ])
        try user.write("bin/systemctl", "#!/bin/sh\necho \"$@\" >> '\(folder.path("asked"))'\n", mode: 0o755)
    }

    private func asked() throws -> [String] {
        try String(contentsOfFile: folder.path("asked"), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: user.scratch.path(name)) }

    private static let unit = "config/systemd/user/nfcd.service"

    @Test func `is enabled when it answers, also in place of one that ran before`() throws {
        let service = try BusPeer(folder.path("bus"), geteuid(), "empty", "org.opencorenfc.Background")
        #expect(service.firstLine == "ready")
        let outcome = try user.nfc.run("background", "enable", "--allow-custom-schemes", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        let object = try #require(try outcome.objects().first)
        #expect(object["ok"] as? Bool == true && (object["files"] as? [String])?.count == 4)
        let unit = try String(contentsOfFile: user.scratch.path(Self.unit), encoding: .utf8)
        #expect(unit.contains("/nfcd --allow-custom-schemes\n"))
        let commands = [
            "show-environment", "is-active --quiet nfcd.service", "daemon-reload", "enable nfcd.service",
            "restart nfcd.service",
        ]
        #expect(try asked() == commands.map { "--user " + $0 })
        withExtendedLifetime(service) {}
    }

    @Test func `is taken back when it is gone at once`() throws {
        let outcome = try user.nfc.run("background", "enable", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "ended", "\(outcome)")
        #expect(!has("config"))
        let commands = [
            "show-environment", "daemon-reload", "enable nfcd.service", "restart nfcd.service",
            "disable --now nfcd.service", "daemon-reload", "reset-failed nfcd.service",
        ]
        #expect(try asked() == commands.map { "--user " + $0 })
    }

    @Test func `is the earlier one again when the new one is gone at once`() throws {
        try user.write(Self.unit, "mine")
        let outcome = try user.nfc.run("background", "enable")
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.error.hasPrefix("Error: The service ended at once, and all changes were undone."), "\(outcome)")
        #expect(try String(contentsOfFile: user.scratch.path(Self.unit), encoding: .utf8) == "mine")
        #expect(!has("data/dbus-1"))
        let commands = [
            "show-environment", "daemon-reload", "enable nfcd.service", "restart nfcd.service", "daemon-reload",
            "reset-failed nfcd.service", "restart nfcd.service",
        ]
        #expect(try asked() == commands.map { "--user " + $0 })
    }
}
