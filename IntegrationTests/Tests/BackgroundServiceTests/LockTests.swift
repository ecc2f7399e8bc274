// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension BackgroundService {
    @Suite struct `A locked screen` {
        /// A desk with a browser and a locked screen, on which a link is offered.
        private func lockedDesk() async throws -> Desk {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try await desk.ask("login", ["LockedHint": true])
            try await desk.event("lock")
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            return desk
        }

        @Test func `Click on a locked screen: a prompt is shown, and the link opens after the unlock`() async throws {
            let desk = try await lockedDesk()
            try await desk.ask("act", 1, "default")
            try await desk.event("waits")
            try await desk.event("shown")
            let shown = try await desk.notifications()
            #expect(shown.map(\.body) == ["Open “b.example” in Browser", "Unlock to open “b.example”"])
            #expect(shown.last?.replaces == 1)
            #expect(shown.last?.actions == ["default", "Unlock"])
            #expect(desk.lines(of: "opened").isEmpty)
            #expect(try await desk.inbox().count == 1)
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
            #expect(try await desk.inbox().isEmpty)
        }

        @Test func `Click on a locked screen: the desktop's screen saver is asked to prompt, each time`() async throws {
            let desk = try await Desk(login: false)
            try desk.installBrowser()
            try await desk.ask("saver_on_bus")
            try await desk.ask("saver", false)
            try await desk.start()
            try await desk.ask("saver", true)
            try await desk.event("lock")
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            #expect(try await desk.ask("prompts") as? Int == 0)
            for clicks in 1...2 {
                try await desk.ask("act", 1, "default")
                #expect(try await desk.event("waits")["asked"] == "org.gnome.ScreenSaver")
                try await desk.event("shown")
                #expect(try await desk.ask("prompts") as? Int == clicks)
            }
            #expect(desk.lines(of: "opened").isEmpty)
            try await desk.ask("saver", false)
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
        }

        @Test(arguments: ["marked-wanted", "announcing", nil])
        func `Link clicked while locked, service killed: opens once after the unlock`(step: String?) async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("login", ["LockedHint": true])
            try await desk.event("lock")
            if let step {
                // The service that dies at the step starts only now, and takes over the notification.
                try await desk.kill()
                try await desk.start(dyingAt: step)
                try await desk.ask("act", 1, "default")
                #expect(try await desk.death() == -SIGKILL)
            } else {
                try await desk.ask("act", 1, "default")
                try await desk.event("waits")
                try await desk.kill()
            }
            try await desk.start()
            #expect(desk.lines(of: "opened").isEmpty)
            #expect(try await desk.inbox().count == 1)
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
            #expect(try await desk.inbox().isEmpty)
            // Neither locking nor a restart opens it again.
            try await desk.kill()
            try await desk.start()
            try await desk.ask("login", ["LockedHint": true])
            try await desk.event("lock")
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("lock")
            #expect(desk.lines(of: "opened").count == 2)
        }

        @Test func `Link clicked while locked, unlocked without a service: opens when it starts`() async throws {
            let desk = try await lockedDesk()
            try await desk.ask("act", 1, "default")
            try await desk.event("waits")
            try await desk.kill()
            try await desk.ask("login", ["LockedHint": false])
            try await desk.start(waitsFor: "delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
        }

        @Test func `Link clicked while locked, system restarted: offered again, not opened`() async throws {
            let desk = try await lockedDesk()
            try await desk.ask("act", 1, "default")
            try await desk.event("waits")
            try await desk.event("shown")
            try await desk.kill()
            try await desk.ask("notify_off")
            try desk.takeAway()
            try desk.write("machine/proc/sys/kernel/random/boot_id", "boot-2\n")
            try await desk.ask("login", ["LockedHint": false])
            try await desk.ask("notify_on")
            try await desk.start(waitsFor: "shown")
            #expect(try await desk.notifications().map(\.body) == ["Open “b.example” in Browser"])
            #expect(desk.lines(of: "opened").isEmpty)
        }

        @Test func `logind that ends while the screen is locked: no link opens until logind reports the unlock`()
            async throws
        {
            let desk = try await lockedDesk()
            try await desk.ask("act", 1, "default")
            try await desk.event("waits")
            try await desk.ask("login_off")
            // The conditions were checked again: without logind the display counts as on, and tags are read.
            for _ in 0..<400 {
                let status = try #require(try await desk.ask("status") as? [String: Any])
                let conditions = try #require(status["conditions"] as? [[String: Any]])
                if conditions.contains(where: { ($0["source"] as? String)?.contains("no session") == true }) { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            let status = try #require(try await desk.ask("status") as? [String: Any])
            #expect(status["locked"] as? Bool == true)
            #expect(desk.lines(of: "opened").isEmpty)
            try await desk.ask("login_on", getuid())
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
        }

        @Test func `nfc inbox open while locked: refused, and the link opens after the unlock`() async throws {
            let desk = try await lockedDesk()
            let id = try #require(try await desk.inbox().first?["id"] as? String)
            let refused = try await desk.nfc("inbox", "open", id, "--json")
            #expect(refused.status == 1)
            #expect(refused.lines.joined().contains(#""error":"locked""#))
            #expect(refused.lines.joined().contains("opens when the screen is unlocked"))
            try await desk.event("waits")
            #expect(desk.lines(of: "opened").isEmpty)
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
            // Without a service the message says what to do.
            try desk.takeAway()
            try await Task.sleep(for: .milliseconds(1500))
            try desk.bring("https://b.example/2")
            try await desk.event("shown")
            try await desk.kill()
            try await desk.ask("login", ["LockedHint": true])
            let alone = try await desk.nfc("inbox", "open")
            #expect(alone.status == 1)
            #expect(alone.lines.joined().contains("The screen is locked. Unlock it, then open the entry."))
            #expect(try await desk.inbox().count == 1)
            try await desk.ask("login", ["LockedHint": false])
            #expect(try await desk.nfc("inbox", "open").status == 0)
            #expect(desk.lines(of: "opened").last == "https://b.example/2")
        }
    }
}
