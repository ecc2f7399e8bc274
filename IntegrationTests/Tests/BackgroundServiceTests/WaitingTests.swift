// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension BackgroundService {
    @Suite struct `What waits` {
        /// Brings tags with links, each with its own notification.
        private func bring(_ numbers: ClosedRange<UInt8>, to desk: Desk) async throws {
            for number in numbers {
                try desk.bring("https://h\(number).example/", number: number)
                try await desk.event("shown")
            }
        }

        @Test func `Notification program that starts late: waiting links are shown`() async throws {
            let desk = try await Desk(notifications: false)
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("not-shown")
            #expect(try await desk.inbox().count == 1)
            try await desk.ask("notify_on", "body actions")
            try await desk.event("shown")
            let shown = try await desk.notifications()
            #expect(shown.count == 1)
            #expect(try await desk.inbox().compactMap { $0["announced"] as? Bool } == [true])
        }

        @Test func `Links that can't be shown: usable ones are in the inbox, others are not saved, as logged for each`()
            async throws
        {
            let desk = try await Desk(notifications: false)
            try await desk.start()
            for (number, link) in ["tel:+49123", "geo:1,2", "mailto:a@b.example"].enumerated() {
                try desk.bring(link, number: UInt8(number + 1))
                let line = try await desk.event("not-shown")
                #expect(line["message"]?.contains("The inbox has the link.") == true, "\(line)")
                #expect(try await desk.inbox().count == number + 1)
            }
            for (number, link) in ["tel:", "geo:x", "mailto:?attach=x"].enumerated() {
                try desk.bring(link, number: UInt8(number + 4))
                let line = try await desk.event("not-shown")
                #expect(line["message"]?.contains("nothing was saved") == true, "\(line)")
                #expect(try await desk.inbox().count == 3)
            }
        }

        @Test func `Restarted notification program: a waiting link is shown again and opens`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try await bring(1...1, to: desk)
            for _ in 0..<2 {
                try await desk.ask("notify_off")
                try await desk.ask("notify_on")
                try await desk.event("shown")
                #expect(try await desk.notifications().map(\.body) == ["Open “h1.example” in Browser"])
            }
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://h1.example/"])
            // Opened links are not shown again.
            try await desk.ask("notify_off")
            try await desk.ask("notify_on")
            try desk.takeAway(number: 1)
            try await bring(2...2, to: desk)
            #expect(try await desk.notifications().map(\.body) == ["Open “h2.example” in Browser"])
        }

        @Test(arguments: ["desktop", "login", "system"])
        func `Restart of the desktop, the login or the system: a summary counts the waiting links`(
            restart: String
        ) async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try await bring(1...3, to: desk)
            if restart != "desktop" { try await desk.kill() }
            try await desk.ask("notify_off")
            for number: UInt8 in 1...3 { try desk.takeAway(number: number) }
            if restart == "system" { try desk.write("machine/proc/sys/kernel/random/boot_id", "boot-2\n") }
            try await desk.ask("notify_on")
            if restart != "desktop" { try await desk.start(waitsFor: nil) }
            #expect(try await desk.event("summary")["count"] == "3")
            let summary = try await desk.notifications()
            #expect(summary.map(\.title) == ["3 links are waiting"])
            #expect(summary[0].body == "“h3.example”, “h2.example”, “h1.example”")
            #expect(summary[0].actions == ["default", "Show"])
            // After a kill now, the service does not show it again, and a click still works.
            try await desk.kill()
            try await desk.start()
            #expect(try await desk.notifications().count == 1)
            try await desk.ask("act", 1, "default")
            for _ in 1...3 { try await desk.event("shown") }
            let shown = try await desk.notifications().dropFirst()
            #expect(shown.map(\.body) == (1...3).map { "Open “h\($0).example” in Browser" })
            #expect((try await desk.ask("calls", "CloseNotification") as? [Any])?.count == 1)
            try await desk.ask("act", 3, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://h2.example/"])
            #expect(try await desk.inbox().count == 2)
        }

        @Test func `Restarted notification program: a dismissed link stays away, an expired one is shown`()
            async throws
        {
            let desk = try await Desk()
            try await desk.start()
            try await bring(1...2, to: desk)
            try await desk.ask("close", 1, 2)
            try await desk.ask("close", 2, 1)
            try await desk.ask("notify_off")
            try await desk.ask("notify_on")
            try await desk.event("shown")
            #expect(try await desk.notifications().map(\.body) == ["Open “h2.example” in the browser"])
            // The same after a restart of the system.
            try await desk.kill()
            try await desk.ask("notify_off")
            try await desk.ask("notify_on")
            try await desk.start(waitsFor: "shown")
            #expect(try await desk.notifications().map(\.body) == ["Open “h2.example” in the browser"])
            #expect(try await desk.inbox().count == 2)
        }

        @Test func `A click that closes the notification is not a dismissal`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try await desk.ask("login", ["LockedHint": true])
            try await desk.event("lock")
            try await bring(1...1, to: desk)
            try await desk.ask("act_and_close", 1, "default", 2)
            try await desk.event("waits")
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://h1.example/"])
        }

        @Test func `Twelve tags at once: eight are shown, and one summary counts the other four`() async throws {
            let desk = try await Desk()
            // All of them are in the field at the first poll.
            for number: UInt8 in 1...12 { try desk.bring("https://h\(number).example/", number: number) }
            try await desk.start(waitsFor: nil)
            #expect(try await desk.event("summary")["count"] == "4")
            let shown = try await desk.notifications()
            #expect(shown.count == 9)
            #expect(shown.filter { $0.title == "NFC Tag Detected" }.count == 8)
            #expect(shown.last?.title == "4 links are waiting")
            let inbox = try await desk.inbox()
            #expect(inbox.count == 12)
            #expect(inbox.allSatisfy { $0["announced"] as? Bool == true })
            // The notification is withdrawn together with the entries that it counts.
            #expect(try await desk.nfc("inbox", "clear").status == 0)
            for _ in 0..<1000 {
                if (try await desk.ask("calls", "CloseNotification") as? [Any])?.count == 9 { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect((try await desk.ask("calls", "CloseNotification") as? [Any])?.count == 9)
        }

        @Test func `Desktop without persistent notifications: each is sent as resident and without a timeout`()
            async throws
        {
            let desk = try await Desk()
            try await desk.start()
            try await bring(1...1, to: desk)
            let kept = try #require(try await desk.notifications().last)
            #expect(kept.timeout == -1 && kept.hints["resident"] == nil)
            try await desk.ask("notify_off")
            try await desk.ask("notify_on", "body actions")
            try await desk.event("shown")
            let told = try #require(try await desk.notifications().last)
            #expect(told.timeout == 0 && told.hints["resident"] as? Bool == true)
        }
    }
}
