// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc background` {
    /// A user whose systemctl logs its arguments, and exits with a status.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - failing: the command that fails.
    ///   - bus: the address of the user's bus.
    private func user(status: Int = 0, failing: String = "-", bus: String = "unix:path=/nowhere") throws -> User {
        let scratch = try ScratchFolder()
        let user = try User(environment: [
            "HOME": scratch.path(""), "DBUS_SESSION_BUS_ADDRESS": bus, "XDG_RUNTIME_DIR": "/nowhere",
        ])
        let script = """
            #!/bin/sh
            echo "$@" >> '\(user.scratch.path("asked"))'
            [ "$2" = '\(failing)' ] && { echo "It can't." >&2; exit 1; }
            exit \(status)

            """
        try user.write("bin/systemctl", script, mode: 0o755)
        return user
    }

    @Test func `Folders of the user that are relative or empty do not count`() throws {
        let user = try user()
        let home = user.scratch.path("home")
        let folders = ["HOME": home, "XDG_CONFIG_HOME": "relative", "XDG_DATA_HOME": ""]
        let nfc = Command(name: "nfc", environment: user.nfc.environment.merging(folders) { $1 })
        let outcome = try nfc.run("background", "enable", "--json")
        let files = try #require(try outcome.objects().first?["files"] as? [String])
        #expect(files[0] == home + "/.config/systemd/user/nfcd.service")
        #expect(files[1] == home + "/.local/share/dbus-1/services/org.opencorenfc.Background.service")
    }

    @Test func `A file that is too large to be put back is not replaced`() throws {
        let user = try user()
        let unit = "config/systemd/user/nfcd.service"
        try user.write(unit, String(repeating: "#", count: 1 << 20 + 1))
        let outcome = try user.nfc.run("background", "enable", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "not-written")
        #expect(try text(user.scratch.path(unit)).hasPrefix("###"))
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), arguments: [false, true])
    func `A status that can't be read is a failure with a sentence`(json: Bool) throws {
        let scratch = try ScratchFolder()
        let bus = try Bus(scratch.path(""))
        let service = try BusPeer(scratch.path("bus"), geteuid(), "empty", "org.opencorenfc.Background")
        #expect(service.firstLine == "ready")
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        let outcome = try user.nfc.run(["background", "status"] + (json ? ["--json"] : []))
        #expect(outcome.status == 1)
        if json {
            #expect(try outcome.objects().first?["error"] as? String == "bad-answer")
        } else {
            #expect(outcome.error.hasPrefix("Error: The program with nfcd's name"))
        }
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `A service that a person has started is not replaced by another, and keeps its files`() throws {
        let scratch = try ScratchFolder()
        let bus = try Bus(scratch.path(""))
        let service = try BusPeer(scratch.path("bus"), geteuid(), "empty", "org.opencorenfc.Background")
        #expect(service.firstLine == "ready")
        let user = try user(failing: "is-active", bus: bus.address)
        _ = try user.add("https://b.example/1")
        for arguments in [["enable"], ["disable", "--purge"]] {
            let outcome = try user.nfc.run(["background"] + arguments + ["--json"])
            #expect(outcome.status == 1)
            #expect(try outcome.objects().first?["error"] as? String == "still-running", "\(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("config/systemd")))
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        withExtendedLifetime((bus, service)) {}
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `A service that runs and does not answer keeps its files`() throws {
        let scratch = try ScratchFolder()
        let bus = try Bus(scratch.path(""))
        let service = try BusPeer(scratch.path("bus"), geteuid(), "silent", "org.opencorenfc.Background")
        #expect(service.firstLine == "ready")
        let user = try user(bus: bus.address)
        _ = try user.add("https://b.example/1")
        let outcome = try user.nfc.run("background", "disable", "--purge", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "still-running", "\(outcome)")
        #expect(FileManager.default.fileExists(atPath: user.scratch.path("state/nfc/inbox")))
        withExtendedLifetime((bus, service)) {}
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `It is enabled for systemd and the bus, with the service's own path, and disabled again`() throws {
        let user = try user()
        let outcome = try user.nfc.run("background", "enable", "--reader", "pcsc:A B%", "--log-content", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        let unit = user.scratch.path("config/systemd/user/nfcd.service")
        let busFile = user.scratch.path("data/dbus-1/services/org.opencorenfc.Background.service")
        let files = try #require(try outcome.objects().first?["files"] as? [String])
        #expect(files.count == 4 && Array(files.prefix(2)) == [unit, busFile])
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

    @Test func `What systemd would expand or split in a reader's name reaches the service as it is`() throws {
        let user = try user()
        let reader = #"pcsc:A $HOME ${B} 'c' "d" \e %h;#"#
        #expect(try user.nfc.run("background", "enable", "--reader", reader).status == 0)
        // Of systemd.syntax(7) and systemd.service(5): quotes and backslashes, specifiers, variables.
        let quoted = #""pcsc:A $$HOME $${B} 'c' \"d\" \\e %%h;#""#
        #expect(
            try text(user.scratch.path("config/systemd/user/nfcd.service")).contains(" --reader \(quoted)\n")
        )
    }

    @Test func `The bus and a desktop find a service whose path means something to them`() throws {
        let user = try user()
        let folder = user.scratch.path(#"it's 50% $HOME\n"#)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for program in ["nfc", "nfcd"] {
            try FileManager.default.copyItem(atPath: Command(name: program).path, toPath: "\(folder)/\(program)")
        }
        let nfc = Command(name: "\(folder)/nfc", environment: user.nfc.environment)
        #expect(try nfc.run("background", "enable").status == 0)
        let parent = user.scratch.path("x").dropLast()
        // A word of a shell, and one of a desktop, each as the text of a file in which a backslash is written twice.
        let bus = #"Exec='\#(parent)it'\\''s 50% $HOME\\n/nfcd'"#
        let desktop = #"Exec="\#(parent)it's 50%% \\$HOME\\\\n/nfcd""#
        let busFile = try text(user.scratch.path("data/dbus-1/services/org.opencorenfc.Background.service"))
        #expect(busFile.split(separator: "\n").contains(Substring(bus)), "\(busFile)")
        let entry = try text(user.scratch.path("data/applications/org.opencorenfc.Background.desktop"))
        #expect(entry.split(separator: "\n").contains(Substring(desktop)), "\(entry)")
    }

    @Test func `The files in the repository are those that are written, for a service in its usual place`() throws {
        let user = try user()
        #expect(try user.nfc.run("background", "enable").status == 0)
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Resources").path
        for (shipped, written) in [
            ("systemd/user/nfcd.service", "config/systemd/user/nfcd.service"),
            (
                "applications/org.opencorenfc.Background.desktop",
                "data/applications/org.opencorenfc.Background.desktop"
            ),
            (
                "icons/hicolor/scalable/apps/org.opencorenfc.Background.svg",
                "data/icons/hicolor/scalable/apps/org.opencorenfc.Background.svg"
            ),
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

    @Test func `Without systemd a message explains what to do, and nothing is written`() throws {
        let user = try user(status: 1)
        let outcome = try user.nfc.run("background", "enable", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "no-systemd")
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("config/systemd")))
        #expect(try user.nfc.run("background", "disable").status == 1)
    }

    @Test(arguments: [
        "bogus", "virtual", "none", "replay:x", "pcsc:", "pn532", "pn532:ttyUSB0",
    ])
    func `A reader that can't exist is refused, and nothing is written`(reader: String) throws {
        let user = try user()
        let outcome = try user.nfc.run("background", "enable", "--reader", reader, "--json")
        #expect(outcome.status == 2)
        #expect(try outcome.objects().first?["error"] as? String == "usage")
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("config")))
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("asked")))
    }

    @Test(arguments: ["daemon-reload", "enable", "restart"])
    func `When a step of enable fails everything is as before`(step: String) throws {
        let user = try user(failing: step)
        let outcome = try user.nfc.run("background", "enable", "--json")
        #expect(outcome.status == 1)
        #expect(
            try outcome.objects().first?["message"] as? String
                == "systemctl --user \(Self.words[step] ?? ""): It can't.\n"
        )
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("config")))
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("data/dbus-1")))
        #expect(try text(user.scratch.path("asked")).contains("--user disable --now nfcd.service\n"))
        // The earlier files are restored.
        try user.write("config/systemd/user/nfcd.service", "mine")
        #expect(try user.nfc.run("background", "enable").status == 1)
        #expect(try text(user.scratch.path("config/systemd/user/nfcd.service")) == "mine")
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("data/dbus-1")))
        #expect(try text(user.scratch.path("asked")).hasSuffix("--user restart nfcd.service\n"))
    }

    private static let words = [
        "daemon-reload": "daemon-reload", "enable": "enable nfcd.service", "restart": "restart nfcd.service",
    ]

    @Test func `A service of a build, and a line that is not there, are noted`() throws {
        let user = try user()
        let outcome = try user.nfc.run("background", "enable", "--reader", "pn532:/dev/ttyNOPE", "--json")
        let notes = try #require(try outcome.objects().first?["notes"] as? [String])
        #expect(notes.count == 2 && notes[0].contains("/.build/"))
        #expect(notes.last?.hasPrefix("/dev/ttyNOPE does not exist now.") == true)
        #expect(outcome.output.hasPrefix(#"{"ok":true,"files":["/"#), "\(outcome)")
        #expect(outcome.output.contains(#".svg"],"notes":["The service runs /"#), "\(outcome)")
        let text = try user.nfc.run("background", "enable")
        #expect(text.error.hasPrefix("Note: The service runs /"))
        #expect(text.lines.count == 5 && text.lines.prefix(4).allSatisfy { $0.hasPrefix("Wrote /") }, "\(text)")
        let end = "The service runs now, and in every session. See: nfc background status"
        #expect(text.lines.last == end)
    }

    @Test func `With --purge all that was kept goes, is announced and listed, and nothing else goes`() throws {
        let user = try user()
        #expect(try user.nfc.run("background", "enable").status == 0)
        _ = try user.add("https://b.example/1")
        try user.cache(User.association)
        try user.write("config/nfc/browser-domains", "a.example browser\n")
        try user.write("config/nfc/links/a.example.links", "x")
        try user.write("state/nfc/background/unlocked", "x")
        try user.write("state/other", "x")
        let inbox = user.scratch.path("state/nfc/inbox")
        let trial = try user.nfc.run("background", "disable", "--purge", "--dry-run")
        #expect(trial.status == 0 && trial.output.contains("Would remove \(inbox): the inbox, 1 file\n"))
        #expect(FileManager.default.fileExists(atPath: inbox))
        let files = try user.nfc.run("background", "disable", "--dry-run")
        #expect(files.lines.count == 4 && files.lines.allSatisfy { $0.hasPrefix("Would remove /") }, "\(files)")
        let object = try user.nfc.object("background", "disable", "--purge", "--dry-run")
        #expect(object["dry_run"] as? Bool == true && (object["files"] as? [String])?.count == 4)
        let items = try #require(object["removed"] as? [[String: Any]])
        let kept = try #require(items.first { $0["path"] as? String == inbox })
        #expect(kept["content"] as? String == "the inbox" && kept["count"] as? Int == 1)
        let line = try user.nfc.run("background", "disable", "--purge", "--dry-run", "--json").output
        let unit = user.scratch.path("config/systemd/user/nfcd.service")
        #expect(line.hasPrefix(#"{"ok":true,"dry_run":true,"files":["\#(unit)","/"#), "\(line)")
        let first = #"{"path":"\#(inbox)","content":"the inbox","count":1}"#
        #expect(line.contains(#".svg"],"removed":[\#(first),{"path":"/"#) && line.hasSuffix("}]}\n"), "\(line)")
        #expect(FileManager.default.fileExists(atPath: user.scratch.path("config/systemd/user/nfcd.service")))
        let outcome = try user.nfc.run("background", "disable", "--purge")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.error.contains("Will remove \(inbox): the inbox, 1 file\n"))
        #expect(outcome.output.contains("Removed \(inbox): the inbox, 1 file\n"))
        #expect(outcome.lines.count == 10)
        #expect(outcome.lines.last == "The service has stopped, and will not start again.")
        for name in ["state/nfc", "cache/nfc", "config/nfc", "config/systemd/user/nfcd.service"] {
            #expect(!FileManager.default.fileExists(atPath: user.scratch.path(name)), "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: user.scratch.path("state/other")))
        let again = try user.nfc.run("background", "disable", "--purge", "--json")
        #expect(again.output == #"{"ok":true,"dry_run":false,"files":[],"removed":[]}"# + "\n")
        let nothing = "The service was not enabled, and there was nothing to remove.\n"
        #expect(try user.nfc.run("background", "disable", "--dry-run").output == nothing)
    }

    @Test func `A link in place of what was kept goes, and not what it leads to`() throws {
        let user = try user()
        try user.write("precious/file", "x")
        try user.write("state/nfc/background/unlocked", "x")
        let link = user.scratch.path("state/nfc/inbox")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: user.scratch.path("precious"))
        #expect(try user.nfc.run("background", "disable", "--purge").status == 0)
        #expect(!FileManager.default.fileExists(atPath: user.scratch.path("state/nfc")))
        #expect(FileManager.default.fileExists(atPath: user.scratch.path("precious/file")))
    }

    @Test(.enabled(if: Self.analyzer != nil, "systemd-analyze is not installed; .ci/run installs it"))
    func `systemd finds nothing wrong with the unit, and it is confined`() throws {
        let user = try user()
        #expect(try user.nfc.run("background", "enable").status == 0)
        let unit = user.scratch.path("config/systemd/user/nfcd.service")
        try FileManager.default.createDirectory(atPath: user.scratch.path("run"), withIntermediateDirectories: true)
        let analyzer = Command(
            name: try #require(Self.analyzer),
            environment: ["XDG_RUNTIME_DIR": user.scratch.path("run")]
        )
        let verdict = try analyzer.run("verify", "--user", "--man=no", unit)
        #expect(verdict.status == 0 && verdict.output + verdict.error == "", "\(verdict)")
        // The exposure is at most 6.4 of 10; without confinement it is above 9.
        let exposure = try analyzer.run("security", "--user", "--offline=true", "--no-pager", "--threshold=64", unit)
        #expect(exposure.status == 0, "\(exposure)")
        for setting in ["NoNewPrivileges", "SystemCallFilter", "RestrictAddressFamilies", "UMask", "MemoryMax"] {
            #expect(try text(unit).contains("\n\(setting)="))
        }
    }

    @Test func `The unit lets the service watch the network, ask sites, and talk to buses and pcscd`() throws {
        let user = try user()
        #expect(try user.nfc.run("background", "enable").status == 0)
        let unit = try text(user.scratch.path("config/systemd/user/nfcd.service"))
        let families = unit.split(separator: "\n").first { $0.hasPrefix("RestrictAddressFamilies=") }
        let words = try #require(families?.split(separator: "=").last).split(separator: " ")
        #expect(Set(words) == ["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"])
    }

    @Test(.enabled(if: Self.analyzer != nil, "systemd-analyze is not installed; .ci/run installs it"))
    func `The unit lets the calls through that files, netlink, pcscd and serial lines take`() throws {
        let user = try user()
        #expect(try user.nfc.run("background", "enable").status == 0)
        let unit = try text(user.scratch.path("config/systemd/user/nfcd.service"))
        var sets: [String: [String]] = [:]
        var name = ""
        let list = try Command(name: try #require(Self.analyzer)).run("syscall-filter", "--no-pager")
        for line in list.output.split(separator: "\n") {
            let word = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("@") { name = word } else if !word.hasPrefix("#") { sets[name, default: []].append(word) }
        }
        func calls(_ word: String) -> Set<String> {
            word.hasPrefix("@") ? Set((sets[word] ?? []).flatMap(calls)) : [word]
        }
        var allowed: Set<String> = []
        for line in unit.split(separator: "\n") where line.hasPrefix("SystemCallFilter=") {
            let value = line.dropFirst("SystemCallFilter=".count)
            let named = Set(value.drop { $0 == "~" }.split(separator: " ").flatMap { calls(String($0)) })
            allowed = value.hasPrefix("~") ? allowed.subtracting(named) : allowed.union(named)
        }
        let needed: Set = [
            "inotify_init1", "inotify_add_watch", "inotify_rm_watch", "socket", "bind", "connect", "accept4", "sendto",
            "sendmsg", "recvfrom", "recvmsg", "getsockopt", "setsockopt", "poll", "ppoll", "epoll_wait", "eventfd2",
            "timerfd_create", "signalfd4", "ioctl", "fcntl", "flock", "openat", "renameat", "unlinkat", "fsync",
            "clone3", "execve", "wait4", "waitid", "pipe2", "kill",
        ]
        #expect(needed.subtracting(allowed).isEmpty)
        #expect(allowed.isDisjoint(with: ["ptrace", "mount", "setuid", "chroot", "bpf"]))
    }

    private static let analyzer = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"]
        .first(where: FileManager.default.isExecutableFile(atPath:))

    @Test func `Without a bus its status is reported as unknown, and wrong usage is reported`() throws {
        let user = try user()
        let status = try user.nfc.run("background", "status", "--json")
        #expect(status.status == 1)
        #expect(try status.objects().first?["error"] as? String == "no-bus")
        #expect(try user.nfc.run("background", "run", "--help").output.hasPrefix("Usage: nfcd "))
        #expect(try user.nfc.run("background", "run", "--nonsense").status == 2)
        #expect(try Command(name: "nfcd").run("--reader").status == 2)
    }

    @Test(arguments: [["--json", "--bogus"], ["--bogus", "--json"], ["--json", "--reader"], ["--json"]])
    func `With --json the service prints nothing but JSON, of its failures too`(arguments: [String]) throws {
        let user = try user()
        let outcome = try Command(name: "nfcd", environment: user.nfc.environment).run(arguments)
        #expect(outcome.error == "")
        let objects = try outcome.objects()
        #expect(objects.count == 1 && objects[0]["event"] as? String == "failed", "\(objects)")
        let message = try #require(objects[0]["message"] as? String)
        #expect(objects[0]["ok"] as? Bool == false)
        #expect(objects[0]["error"] as? String == (arguments.count == 1 ? "no-bus" : "usage"))
        #expect(outcome.status == (arguments.count == 1 ? 1 : 2))
        #expect(message.contains(arguments.count == 1 ? "dbus-run-session" : "--"), "\(message)")
    }
}
