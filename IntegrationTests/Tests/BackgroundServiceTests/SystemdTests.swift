// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PeerSupport
import Testing

extension BackgroundService {
    /// Tests with a real user systemd, which runs the service from the unit that `nfc background enable` writes.
    @Suite(
        .serialized,
        .enabled(
            if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/lib/systemd/systemd"),
            "systemd is not installed, or there is no right to make a namespace for it"
        )
    )
    struct `A systemd of the user` {
        /// A field of the status of a process.
        private func status(_ process: String, _ key: String) -> String? {
            let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").first { $0.hasPrefix(key + ":") }
                .map { $0.dropFirst(key.count + 1).trimmingCharacters(in: .whitespaces) }
        }

        /// Installs a browser that writes its arguments and its confinement, and then runs for a while.
        private func installBrowser(_ desk: Desk, _ rest: String = "exec sleep 1000") throws {
            try desk.installBrowser()
            let script = """
                #!/bin/sh
                { echo $$; umask; ulimit -c; cat /proc/self/cgroup; } > '\(desk.folder.path)/confinement'
                printf '%s\\n' "$#" "$@" > '\(desk.folder.path)/opened.new'
                mv '\(desk.folder.path)/opened.new' '\(desk.folder.path)/opened'
                \(rest)

                """
            try desk.write("bin/browser", script, mode: 0o755)
        }

        private func waitForNotification(_ count: Int, _ desk: Desk) async throws {
            for _ in 0..<2000 {
                if try await desk.notifications().count >= count { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            throw PeerError("There is no notification.")
        }

        @Test func `Enabled service: runs confined; the apps that it opens run unconfined, and outlive the service`()
            async throws
        {
            let desk = try await Desk(systemd: true)
            try installBrowser(desk)
            let enabled = try await desk.nfc("background", "enable", "--json")
            #expect(enabled.status == 0, "\(enabled.lines)")
            let process = try #require(try await desk.ask("process", "org.opencorenfc.Background") as? Int)
            #expect(status("\(process)", "NoNewPrivs") == "1")
            #expect(status("\(process)", "Seccomp") == "2")
            #expect(status("\(process)", "Umask") == "0077")
            try desk.bring("https://b.example/1")
            try await waitForNotification(1, desk)
            try await desk.ask("act", 1, "default")
            try await desk.wait("The browser opens it") { !desk.lines(of: "opened").isEmpty }
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
            let confinement = desk.lines(of: "confinement")
            let browser = try #require(confinement.first)
            #expect(status(browser, "NoNewPrivs") == "0")
            #expect(status(browser, "Seccomp") == "0")
            #expect(confinement[1] == "0022")
            #expect(confinement.contains { $0.contains("/app-nfc-browser-") })
            // The link leaves the inbox when the browser has run for a moment.
            try await desk.wait("The link leaves the inbox") {
                let files = try? FileManager.default.contentsOfDirectory(atPath: desk.folder.path + "/state/nfc/inbox")
                return files?.isEmpty == true
            }
            #expect(try await desk.nfc("background", "disable").status == 0)
            #expect(status("\(process)", "State") == nil)
            #expect(status(browser, "State") != nil)
        }

        @Test func `Link with dollar and percent signs: one argument of the app, nothing is expanded`() async throws {
            let desk = try await Desk(systemd: true, variables: ["SECRET": "hidden"])
            try installBrowser(desk, "exit 0")
            let enabled = try await desk.nfc("background", "enable")
            #expect(enabled.status == 0, "\(enabled.lines)")
            let link = "https://b.example/$SECRET/${SECRET}/$$/%25h;x"
            try desk.bring(link)
            try await waitForNotification(1, desk)
            #expect(try await desk.nfc("inbox", "open").status == 0)
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/$SECRET/$%7BSECRET%7D/$$/%25h;x"])
        }

        @Test(arguments: [("exit 3", "Browser ended at once, with status 3."), ("kill -SEGV $$", "by signal 11")])
        func `An app that fails at once is reported, and the link stays`(script: String, reason: String) async throws {
            let desk = try await Desk(systemd: true)
            try installBrowser(desk, script)
            let enabled = try await desk.nfc("background", "enable")
            #expect(enabled.status == 0, "\(enabled.lines)")
            try desk.bring("https://b.example/1")
            try await waitForNotification(1, desk)
            let opened = try await desk.nfc("inbox", "open")
            #expect(opened.status == 1)
            #expect(opened.lines.joined().contains(reason), "\(opened.lines)")
            #expect(try await desk.inbox().count == 1)
            // A file that is not a program is not started.
            try desk.write("bin/browser", "no program", mode: 0o755)
            for name in ["gio", "xdg-open"] { try desk.write("bin/\(name)", "#!/bin/sh\nexit 1\n", mode: 0o755) }
            let refused = try await desk.nfc("inbox", "open", "--json")
            #expect(refused.lines.joined().contains(#""error":"not-started""#), "\(refused.lines)")
        }

        @Test func `nfc background enable when the service can't start: fails, and leaves no file`() async throws {
            let desk = try await Desk(systemd: true)
            // The service can't create its inbox.
            try desk.write("state/nfc/inbox", "a file")
            let refused = try await desk.nfc("background", "enable", "--json")
            #expect(refused.status == 1)
            #expect(refused.lines.joined().contains(#""ok":false"#), "\(refused.lines)")
            #expect(!FileManager.default.fileExists(atPath: desk.folder.path + "/config"))
            #expect(!FileManager.default.fileExists(atPath: desk.folder.path + "/data/dbus-1"))
            try FileManager.default.removeItem(atPath: desk.folder.path + "/state/nfc/inbox")
            let enabled = try await desk.nfc("background", "enable", "--json")
            #expect(enabled.status == 0, "\(enabled.lines)")
        }

        @Test func `nfc background enable and purge while a service runs that was started by hand: refused`()
            async throws
        {
            let desk = try await Desk(systemd: true)
            try await desk.start()
            for arguments in [["enable"], ["disable", "--purge"]] {
                let refused = try await desk.nfc(["background"] + arguments + ["--json"])
                #expect(refused.status == 1)
                #expect(refused.lines.joined().contains(#""error":"still-running""#), "\(refused.lines)")
            }
            #expect(!FileManager.default.fileExists(atPath: desk.folder.path + "/config"))
            #expect(FileManager.default.fileExists(atPath: desk.folder.path + "/state/nfc/inbox"))
        }
    }
}
