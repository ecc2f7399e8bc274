// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct `nfc background` {
    /// A user whose systemctl writes down what it is asked, and answers with a status.
    private func user(status: Int = 0) throws -> User {
        let scratch = try ScratchFolder()
        let user = try User(environment: [
            "HOME": scratch.path(""), "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "XDG_RUNTIME_DIR": "/nowhere",
        ])
        let script = "#!/bin/sh\necho \"$@\" >> '\(user.scratch.path("asked"))'\nexit \(status)\n"
        try user.write("bin/systemctl", script, mode: 0o755)
        return user
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `It is enabled for systemd and the bus, with the service's own path, and disabled again`() throws {
        let user = try user()
        let outcome = try user.nfc.run("background", "enable", "--reader", "pcsc:A B%", "--log-content", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        let unit = user.scratch.path("config/systemd/user/nfcd.service")
        let busFile = user.scratch.path("data/dbus-1/services/org.opencorenfc.Background.service")
        #expect(try outcome.objects().first?["files"] as? [String] == [unit, busFile])
        let program = Command(name: "nfcd").path
        #expect(try text(unit).contains("\nExecStart=\(program) --reader \"pcsc:A B%%\" --log-content\n"))
        #expect(
            try text(user.scratch.path("asked")) == """
                --user show-environment
                --user daemon-reload
                --user enable nfcd.service
                --user restart nfcd.service

                """
        )
        #expect(try user.nfc.run("background", "disable").status == 0)
        #expect(!FileManager.default.fileExists(atPath: unit) && !FileManager.default.fileExists(atPath: busFile))
        #expect(try text(user.scratch.path("asked")).contains("--user disable --now nfcd.service\n"))
    }

    @Test func `The files in the repository are those that are written, for a service in its usual place`() throws {
        let user = try user()
        #expect(try user.nfc.run("background", "enable").status == 0)
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Resources").path
        for (shipped, written) in [
            ("systemd/user/nfcd.service", "config/systemd/user/nfcd.service"),
            (
                "dbus-1/services/org.opencorenfc.Background.service",
                "data/dbus-1/services/org.opencorenfc.Background.service"
            ),
        ] {
            let own = try text(user.scratch.path(written))
            #expect(
                own.replacing(Command(name: "nfcd").path, with: "/usr/bin/nfcd") == (try text("\(root)/\(shipped)"))
            )
        }
    }

    @Test func `Where systemd does not run it is told what to do, and nothing is written`() throws {
        let user = try user(status: 1)
        let outcome = try user.nfc.run("background", "enable", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "no-systemd")
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("config/systemd")))
        #expect(try user.nfc.run("background", "disable").status == 1)
    }

    @Test func `Without a bus its status is told to be unknown, and its wrong usage is told`() throws {
        let user = try user()
        let status = try user.nfc.run("background", "status", "--json")
        #expect(status.status == 1)
        #expect(try status.objects().first?["error"] as? String == "no-bus")
        #expect(try user.nfc.run("background", "run", "--help").output.hasPrefix("Usage: nfcd "))
        #expect(try user.nfc.run("background", "run", "--nonsense").status == 2)
        #expect(try Command(name: "nfcd").run("--reader").status == 2)
    }
}
