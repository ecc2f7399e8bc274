// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension BackgroundService {
    @Suite struct `Who does not answer` {
        @Test func `A screen saver that is silent at the start counts as locked until it answers`() async throws {
            let desk = try await Desk(login: false)
            try desk.installBrowser()
            try await desk.ask("saver_on_bus")
            try await desk.ask("saver", true)
            try await desk.ask("pause", "saver")
            try await desk.start()
            let silent = try #require(try await desk.ask("status") as? [String: Any])
            #expect(silent["locked"] as? Bool == true)
            #expect(silent["silent_savers"] as? [String] == ["org.gnome.ScreenSaver"])
            let status = try await desk.nfc("background", "status")
            let text =
                "The screen counts as locked, because org.gnome.ScreenSaver does not answer. Links open when it answers."
            #expect(status.lines.contains(text), "\(status.lines)")
            let doctor = try await desk.nfc("background", "doctor")
            #expect(
                doctor.lines.contains { $0.contains("lock: org.gnome.ScreenSaver does not answer") },
                "\(doctor.lines)"
            )
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("act", 1, "default")
            try await desk.event("waits")
            // Its late answer says that the screen is locked.
            try await desk.ask("go_on", "saver")
            for _ in 0..<2000 {
                let status = try await desk.ask("status") as? [String: Any]
                if (status?["silent_savers"] as? [String])?.isEmpty == true { break }
            }
            let late = try #require(try await desk.ask("status") as? [String: Any])
            #expect(late["silent_savers"] as? [String] == [])
            #expect(late["locked"] as? Bool == true)
            #expect(desk.lines(of: "opened").isEmpty)
            try await desk.ask("saver", false)
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
        }

        @Test func `Nothing is opened from the inbox while a screen saver is silent`() async throws {
            let desk = try await Desk(login: false)
            try desk.installBrowser()
            try await desk.ask("saver_on_bus")
            try await desk.ask("saver", false)
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.kill()
            try await desk.ask("pause", "saver")
            let refused = try await desk.nfc("inbox", "open", "--json")
            #expect(refused.status == 1)
            #expect(refused.lines.contains { $0.contains("org.gnome.ScreenSaver does not answer") }, "\(refused.lines)")
            #expect(desk.lines(of: "opened").isEmpty)
            try await desk.ask("go_on", "saver")
            #expect(try await desk.nfc("inbox", "open").status == 0)
        }

        @Test func `A logind that hangs when a link is clicked counts as locked until it answers`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("pause", "login")
            let refused = try await desk.nfc("inbox", "open", "--json")
            #expect(refused.status == 1)
            #expect(refused.lines.contains { $0.contains("logind does not answer") }, "\(refused.lines)")
            try await desk.ask("act", 1, "default")
            try await desk.event("waits")
            let silent = try #require(try await desk.ask("status") as? [String: Any])
            #expect(silent["locked"] as? Bool == true && silent["silent_login"] as? Bool == true)
            let status = try await desk.nfc("background", "status")
            let text = "The screen counts as locked, because logind does not answer. Links open when it answers."
            #expect(status.lines.contains(text), "\(status.lines)")
            let doctor = try await desk.nfc("background", "doctor")
            #expect(doctor.lines.contains { $0.contains("lock: logind does not answer") }, "\(doctor.lines)")
            #expect(desk.lines(of: "opened").isEmpty)
            try await desk.ask("go_on", "login")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
        }

        @Test(arguments: ["hangs", "refuses"])
        func `logind silent at the start, then ended: locked until logind answers`(way: String) async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.ask(way == "hangs" ? "pause" : "login_refuses", way == "hangs" ? "login" : "busy")
            try await desk.start(waitsFor: nil)
            let lock = try await desk.event("lock")
            #expect(lock["message"] == "The screen counts as locked: logind does not answer.")
            try await desk.ask("login_off")
            let refused = try #require(try await desk.ask("status") as? [String: Any])
            #expect(refused["locked"] as? Bool == true && refused["reading"] as? Bool == false)
            // Its next one answers.
            try await desk.ask("login_on", getuid())
            #expect(try await desk.event("lock")["message"] == "The screen is unlocked.")
            try await desk.event("reading")
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
        }

        @Test func `Link that arrives while the session bus hangs: shown when the bus answers again`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try await desk.ask("pause", "session")
            try desk.bring("https://b.example/1")
            let failure = try await desk.event("not-shown")
            #expect(failure["message"]?.contains("The session bus does not answer.") == true, "\(failure)")
            try await desk.ask("go_on", "session")
            try await desk.event("shown")
            #expect(try await desk.notifications().last?.body == "Open “b.example” in Browser")
        }

        @Test func `A notification that was refused once is tried again`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try await desk.ask("notify_refuses", "busy")
            try desk.bring("https://b.example/1")
            try await desk.event("not-shown")
            try await desk.ask("notify_refuses", NSNull())
            try await desk.event("shown")
        }

        @Test func `Notification program that does not start: the service still answers`() async throws {
            let desk = try await Desk(notifications: false)
            try desk.installBrowser()
            try desk.write(
                "services/org.freedesktop.Notifications.service",
                "[D-BUS Service]\nName=org.freedesktop.Notifications\nExec=/bin/sleep 1000\n"
            )
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("arrived")
            // A call of the command waits at most two seconds.
            #expect(try await desk.nfc("background", "status").status == 0)
            // The program appears in another way.
            try await desk.ask("notify_on")
            try await desk.event("shown")
        }

        @Test func `D-Bus call with 4,000,000 values: refused, with less than 64 MB of memory`() async throws {
            let desk = try await Desk()
            try await desk.start()
            let before = try #require(try await desk.ask("memory", "org.opencorenfc.Background") as? Int)
            let error = try await desk.ask("flood", 4000) as? String
            #expect(error == "org.freedesktop.DBus.Error.InvalidArgs")
            let after = try #require(try await desk.ask("memory", "org.opencorenfc.Background") as? Int)
            // The message has 8 MB, which are in memory twice for a moment. It would have 4,000,000 values.
            #expect(after - before < 64, "\(before) MB, then \(after) MB")
        }
    }
}
