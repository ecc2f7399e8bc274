// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import TestThreads
import Testing
import UserBus

@testable import nfc  // the program has no public interface

/// The words of a command in files for systemd, the bus and the desktop.
struct ServiceFileTests {
    @Test func `service files: words with special characters are quoted for systemd, D-Bus and the desktop`() {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+,-./:=@_")
        for byte in UInt8(0x20)...0x7F {
            let character = Character(UnicodeScalar(byte))
            let program = "/a\(character)z"
            for file in [ServiceFiles.busFile(program: program), ServiceFiles.desktopEntry(program: program)] {
                #expect(file.contains("\nExec=\(program)\n") == plain.contains(character), "\(character)")
            }
            let isBare = ServiceFiles.unit(program: "/p", arguments: [program]).contains("\nExecStart=/p \(program)\n")
            #expect(isBare == plain.contains(character), "\(character)")
        }
        // Of systemd.syntax(7) and systemd.service(5): quotes and backslashes, specifiers, variables.
        let unit = ServiceFiles.unit(program: "/p", arguments: ["", "a\nb", #"$HOME ${B} 'c' "d" \e %h;#"#])
        #expect(unit.contains("\nExecStart=/p \"\" \"a\\nb\" " + #""$$HOME $${B} 'c' \"d\" \\e %%h;#""# + "\n"))
        // The bus reads a word as a shell does, the desktop by its own rules, each in a file that escapes backslashes.
        let program = "/it's 50% $HOME\\`\n/nfcd"
        #expect(ServiceFiles.busFile(program: program).contains(#"Exec='/it'\\''s 50% $HOME\\`\n/nfcd'"# + "\n"))
        let desktop = #"Exec="/it's 50%% \\$HOME\\\\\\`\n/nfcd""#
        #expect(ServiceFiles.desktopEntry(program: program).contains(desktop + "\n"))
    }

    @Test func `service installation: a program in a build or temporary folder is noted`() {
        let rows = [
            "/srv/a/.build/debug/nfcd": true, "/tmp/nfcd": true, "/var/tmp/nfcd": true, "/usr/bin/nfcd": false,
            "/srv/a/x.build/nfcd": false, "/opt/tmp/nfcd": false, "/tmpfiles/nfcd": false, "/var/tmpfiles/nfcd": false,
        ]
        for (path, isTemporary) in rows { #expect(ServiceInstallation.isTemporary(path) == isTemporary, "\(path)") }
    }

    @Test func `service files: those in Resources are the same as nfc writes`() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../../Resources").standardizedFileURL
        let rows = [
            ("systemd/user/nfcd.service", ServiceFiles.unit(program: "/usr/bin/nfcd")),
            ("dbus-1/services/org.opencorenfc.Background.service", ServiceFiles.busFile(program: "/usr/bin/nfcd")),
            ("applications/org.opencorenfc.Background.desktop", ServiceFiles.desktopEntry(program: "/usr/bin/nfcd")),
            ("icons/hicolor/scalable/apps/org.opencorenfc.Background.svg", ServiceFiles.icon),
        ]
        for (name, text) in rows {
            #expect(try String(contentsOf: root.appending(path: name), encoding: .utf8) == text, "\(name)")
        }
    }
}

/// The unit as systemd reads it.
@Suite(.ownThreads) struct ServiceUnitTests {
    private static let analyzer = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].first(
        where: FileManager.default.isExecutableFile(atPath:)
    )

    private let folder: TestFolder
    private let unit = ServiceFiles.unit(program: TestProgram("nfcd").path)

    init() throws {
        folder = try TestFolder()
        try folder.write("nfcd.service", unit)
    }

    private func values(_ setting: String) -> [String] {
        unit.split(separator: "\n").filter { $0.hasPrefix("\(setting)=") }.map {
            String($0.dropFirst(setting.count + 1))
        }
    }

    @Test(.enabled(if: analyzer != nil, "systemd-analyze is not installed; .ci/run installs it"))
    func `service unit: systemd-analyze finds no fault, and an exposure of at most 6.4`() throws {
        let analyzer = TestProgram(try #require(Self.analyzer), ["XDG_RUNTIME_DIR": folder.path])
        let verdict = try analyzer.run("verify", "--user", "--man=no", folder.path("nfcd.service"))
        #expect(verdict.status == 0 && verdict.output + verdict.error == "", "\(verdict)")
        // Without confinement it is above 9.
        let words = ["security", "--user", "--offline=true", "--no-pager", "--threshold=64"]
        let exposure = try analyzer.run(words + [folder.path("nfcd.service")])
        #expect(exposure.status == 0, "\(exposure)")
    }

    @Test func `service unit: four socket families, no new privileges, umask 0077 and 256 MB`() throws {
        let families = try #require(values("RestrictAddressFamilies").first).split(separator: " ")
        #expect(Set(families) == ["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"])
        for (setting, value) in [("NoNewPrivileges", "yes"), ("UMask", "0077"), ("MemoryMax", "256M")] {
            #expect(values(setting) == [value], "\(setting)")
        }
    }

    @Test(.enabled(if: analyzer != nil, "systemd-analyze is not installed; .ci/run installs it"))
    func `service unit: allows the system calls that nfcd needs, and not ptrace, mount, setuid, chroot or bpf`() throws
    {
        var sets: [String: [String]] = [:]
        var name = ""
        let list = try TestProgram(try #require(Self.analyzer)).run("syscall-filter", "--no-pager")
        for line in list.lines {
            let word = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("@") { name = word } else if !word.hasPrefix("#") { sets[name, default: []].append(word) }
        }
        func calls(_ word: String) -> Set<String> {
            word.hasPrefix("@") ? Set((sets[word] ?? []).flatMap(calls)) : [word]
        }
        var allowed: Set<String> = []
        for value in values("SystemCallFilter") {
            let named = Set(value.drop { $0 == "~" }.split(separator: " ").flatMap { calls(String($0)) })
            allowed = value.hasPrefix("~") ? allowed.subtracting(named) : allowed.union(named)
        }
        let needed = """
            inotify_init1 inotify_add_watch inotify_rm_watch socket bind connect accept4 sendto sendmsg recvfrom recvmsg \
            getsockopt setsockopt poll ppoll epoll_wait eventfd2 timerfd_create signalfd4 ioctl fcntl flock openat \
            renameat unlinkat fsync clone3 execve wait4 waitid pipe2 kill
            """
        #expect(Set(needed.split(separator: " ").map(String.init)).subtracting(allowed).isEmpty)
        #expect(allowed.isDisjoint(with: ["ptrace", "mount", "setuid", "chroot", "bpf"]))
    }
}

/// `nfc background enable` and `disable`, with a systemctl that only writes what it was asked.
@Suite(.ownThreads) struct EnableTests {
    private static let files = [
        "config/systemd/user/nfcd.service", "data/dbus-1/services/org.opencorenfc.Background.service",
        "data/applications/org.opencorenfc.Background.desktop",
        "data/icons/hicolor/scalable/apps/org.opencorenfc.Background.svg",
    ]

    /// - Parameters:
    ///   - failing: the command of systemctl that fails; `--user` for each.
    ///   - bus: the user's bus; nil for none.
    private func user(failing: String = "-", bus: SessionBus? = nil) throws -> User {
        let address = bus?.address ?? "unix:path=/nowhere"
        let user = try User(["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": "/nowhere"])
        let script = """
            #!/bin/sh
            echo "$@" >> '\(user.folder.path("asked"))'
            for word; do [ "$word" = '\(failing)' ] && { echo "It can't." >&2; exit 1; }; done
            exit 0
            """
        try user.folder.write("bin/systemctl", script, mode: 0o755)
        return user
    }

    /// What systemctl was asked since the last time.
    private func asked(_ user: User) -> [String] {
        defer { try? user.folder.remove("asked") }
        return user.folder.lines("asked").map { String($0.dropFirst("--user ".count)) }
    }

    @Test func `nfc background enable and disable: write and remove the four files, and enable and disable the unit`()
        throws
    {
        let user = try user()
        try user.folder.write("data/icons/other", "x")
        let options = ["--reader", "pn532:/dev/ttyNOPE", "--log-content", "--allow-custom-schemes"]
        let enabled = try user.nfc.run(["background", "enable", "--json"] + options)
        #expect(enabled.status == 0 && enabled["ok"] == "true", "\(enabled)")
        let paths = Self.files.map(user.folder.path)
        #expect(enabled["files"] == "[" + paths.map { "\"\($0)\"" }.joined(separator: ",") + "]")
        // A program of a build, and a line that is not there.
        #expect(enabled["notes"]?.contains("/.build/") == true)
        #expect(enabled["notes"]?.contains("/dev/ttyNOPE does not exist now.") == true)
        let words = "--reader pn532:/dev/ttyNOPE --allow-custom-schemes --log-content"
        #expect(user.folder.text(Self.files[0]).contains("\nExecStart=\(TestProgram("nfcd").path) \(words)\n"))
        #expect(asked(user) == ["show-environment", "daemon-reload", "enable nfcd.service", "restart nfcd.service"])
        let text = try user.nfc.run("background", "enable")
        let end = "The service is running, and will start in every session. See: nfc background status"
        #expect(text.lines == paths.map { "Wrote \($0)" } + [end] && text.error.hasPrefix("Note: The service runs /"))
        _ = asked(user)
        let trial = try user.nfc.run("background", "disable", "--dry-run")
        #expect(trial.lines == paths.map { "Would remove \($0)" } && asked(user) == [])
        #expect(try user.nfc.run("background", "disable").status == 0)
        #expect(asked(user) == ["show-environment", "disable --now nfcd.service", "daemon-reload"])
        #expect(Self.files.filter(user.folder.has) == [] && user.folder.has("data/icons/other"))
        let nothing = "The service was not enabled, and there was nothing to remove.\n"
        #expect(try user.nfc.run("background", "disable", "--dry-run").output == nothing)
    }

    @Test func `nfc background enable, a step of systemctl fails: status 1, and all files are as before`() throws {
        let steps = ["daemon-reload", "enable nfcd.service", "restart nfcd.service"]
        for step in steps {
            let user = try user(failing: String(step.prefix { $0 != " " }))
            let outcome = try user.nfc.run("background", "enable", "--json")
            #expect(outcome.status == 1 && outcome["message"] == "systemctl --user \(step): It can't.\n")
            #expect(!user.folder.has("config") && !user.folder.has("data/dbus-1"), "\(step)")
            #expect(asked(user).contains("disable --now nfcd.service"))
            // A service that was enabled before runs again, with its own file.
            try user.folder.write(Self.files[0], "mine")
            #expect(try user.nfc.run("background", "enable").status == 1)
            #expect(user.folder.text(Self.files[0]) == "mine" && !user.folder.has("data/dbus-1"))
            #expect(asked(user).last == "restart nfcd.service")
        }
    }

    @Test func `nfc background enable: refused for an impossible reader, file or system, and nothing is written`()
        throws
    {
        let user = try user()
        for reader in ["bogus", "virtual", "none", "replay:x", "pcsc:", "pn532", "pn532:ttyUSB0"] {
            let outcome = try user.nfc.run("background", "enable", "--reader", reader, "--json")
            #expect(outcome.status == 2 && outcome["error"] == "usage", "\(reader)")
        }
        #expect(!user.folder.has("config") && asked(user) == [])
        let unit = String(repeating: "x", count: 1 << 20)
        try user.folder.write(Self.files[0], unit)
        #expect(try user.nfc.run("background", "enable").status == 0)
        // A larger file could not be put back.
        try user.folder.write(Self.files[0], unit + "x")
        let outcome = try user.nfc.run("background", "enable", "--json")
        #expect(outcome.status == 1 && outcome["error"] == "not-written")
        #expect(user.folder.text(Self.files[0]) == unit + "x")
        let without = try self.user(failing: "--user")
        for command in ["enable", "disable"] {
            let outcome = try without.nfc.run("background", command, "--json")
            #expect(outcome.status == 1 && outcome["error"] == "no-systemd")
        }
        // A file in the place of a folder.
        let blocked = try self.user()
        try blocked.folder.write("config", "x")
        #expect(try blocked.nfc.run("background", "enable", "--json")["error"] == "not-written")
    }

    @Test(.enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"))
    func `nfc background enable: undone unless the service that systemd starts answers`() throws {
        let bus = try SessionBus()
        let user = try user(bus: bus)
        let gone = try user.nfc.run("background", "enable", "--json")
        #expect(gone.status == 1 && gone["error"] == "ended" && !user.folder.has("config"))
        #expect(asked(user).suffix(3) == ["disable --now nfcd.service", "daemon-reload", "reset-failed nfcd.service"])
        let service = try BusProgram(bus.address, "org.opencorenfc.Background") { message, _ in
            try message.answer([.string("{}")])
        }
        #expect(try user.nfc.run("background", "enable").status == 0)
        // A status that can't be read is a failure of its own.
        let status = try user.nfc.run("background", "status", "--json")
        #expect(status.status == 1 && status["error"] == "bad-answer")
        withExtendedLifetime(service) {}
    }

    @Test(.enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"))
    func `nfc background: a service that systemd did not start is neither replaced nor purged`() throws {
        let bus = try SessionBus()
        let service = try BusProgram(bus.address, "org.opencorenfc.Background") { _, _ in }
        let user = try user(failing: "is-active", bus: bus)
        try user.add()
        for words in [["enable"], ["disable", "--purge"]] {
            let outcome = try user.nfc.run(["background"] + words + ["--json"])
            #expect(outcome.status == 1 && outcome["error"] == "still-running", "\(words)")
        }
        #expect(!user.folder.has("config/systemd") && user.inbox.count == 1)
        withExtendedLifetime(service) {}
    }

    @Test func `nfc background disable --purge: all that was kept goes, and nothing else`() throws {
        let user = try user()
        try user.add()
        try user.cache("{}", of: "good.site.example")
        try user.folder.write("config/nfc/browser-domains", "a.example browser\n")
        try user.folder.write("config/nfc/links/a.example.links", "x")
        // A link in the place of a folder goes, and not its target.
        try user.folder.write("precious/file", "x")
        let link = user.folder.path("state/nfc/background")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: user.folder.path("precious"))
        try user.folder.write("state/other", "x")
        let item = "\(user.folder.path("state/nfc/inbox")): the inbox, 1 file"
        let trial = try user.nfc.run("background", "disable", "--purge", "--dry-run")
        #expect(trial.lines.contains("Would remove \(item)") && user.inbox.count == 1)
        let json = try user.nfc.run("background", "disable", "--purge", "--dry-run", "--json")
        #expect(json["dry_run"] == "true" && json["removed"]?.contains(#""content":"the inbox""#) == true)
        let outcome = try user.nfc.run("background", "disable", "--purge")
        #expect(outcome.status == 0 && outcome.error.contains("Will remove \(item)\n"))
        #expect(outcome.lines.contains("Removed \(item)"))
        #expect(outcome.lines.last == "The service has stopped, and will not start again.")
        for name in ["state/nfc", "cache/nfc", "config/nfc"] { #expect(!user.folder.has(name), "\(name)") }
        #expect(user.folder.has("state/other") && user.folder.has("precious/file"))
        let again = try user.nfc.run("background", "disable", "--purge", "--json")
        #expect(again.output == #"{"ok":true,"dry_run":false,"files":[],"removed":[]}"# + "\n")
    }
}
