// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import Testing

extension BackgroundService {
    @Suite struct `Tags read in the background` {
        @Test(arguments: [true, false])
        func `Link of an app: a click gives the whole message to the app, whether the app runs or not`(
            isBusActivated: Bool
        ) async throws {
            let desk = try await Desk()
            try desk.installApp(isBusActivated: isBusActivated)
            try await desk.start()
            try desk.bring("https://tagreader.example/x/1")
            try await desk.event("shown")
            let first = try await desk.notifications()
            #expect(first.count == 1)
            #expect(first[0].title == "NFC Tag Detected")
            #expect(first[0].body == "Open “tagreader.example” in Tag Reader")
            #expect(first[0].actions == ["default", "Open"])
            #expect(first[0].hints["transient"] == nil)
            #expect(try await desk.inbox().count == 1)
            // The app does not run: a click starts it.
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
            #expect(try await desk.inbox().isEmpty)
            let owner = try await desk.ask("owner", "org.opencorenfc.TagReader") as? String
            // The app runs now. The tag that stayed is not read again; a tag that comes again is read.
            try desk.takeAway()
            try await Task.sleep(for: .milliseconds(1500))
            try desk.bring("https://tagreader.example/x/2")
            try await desk.event("shown")
            try await desk.ask("act", 2, "default")
            try await desk.event("delivered")
            #expect(try desk.given() == [2, 2])
            #expect(try await desk.ask("owner", "org.opencorenfc.TagReader") as? String == owner)
            #expect(try await desk.inbox().isEmpty)
            try await desk.ask("end", "org.opencorenfc.TagReader")
        }

        @Test func `Link that could not be opened: the reason is shown, and a second click tries again`() async throws {
            let desk = try await Desk()
            try await desk.start()
            try desk.bring("mailto:a@b.example")
            try await desk.event("shown")
            try await desk.ask("act", 1, "default")
            try await desk.event("not-delivered")
            try await desk.event("shown")
            let shown = try await desk.notifications()
            #expect(shown.map(\.title) == ["NFC Tag Detected", "The Link Was Not Opened"])
            #expect(shown.last?.replaces == 1)
            #expect(try await desk.inbox().count == 1)
            try desk.installBrowser()
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "mailto:a@b.example"])
        }

        @Test func `The browser gets the URL alone, as one argument`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try desk.bring("https://b.example/$(touch x);`y`&'|\"<b>")
            try await desk.event("shown")
            let shown = try await desk.notifications()
            #expect(shown.map(\.body) == ["Open “b.example” in Browser"])
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/$(touch%20x);%60y%60&'%7C%22%3Cb%3E"])
        }

        @Test func `Link with a custom scheme: refused, and offered with --allow-custom-schemes`() async throws {
            let desk = try await Desk()
            try desk.installApp()
            try await desk.start()
            try desk.bring("tagreader:thing")
            try await desk.event("refused")
            #expect(try await desk.notifications().isEmpty)
            #expect(try await desk.inbox().isEmpty)
            try await desk.kill()
            try await desk.start("--allow-custom-schemes", waitsFor: "shown")
            #expect(try await desk.notifications().map(\.body) == ["Open “tagreader:” in Tag Reader"])
        }

        @Test func `Tag that stays: offered once; its entry stays in the inbox until it is opened or cleared`()
            async throws
        {
            let desk = try await Desk()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            // Another tag comes and goes, so that the field is checked again.
            for number: UInt8 in 2...4 {
                try desk.bring("nothing".utf8.map { $0 }, number: number)
                try await desk.event("bad-message")
                try desk.takeAway(number: number)
            }
            #expect(try await desk.notifications().count == 1)
            #expect(try await desk.inbox().count == 1)
            // Entries that `nfc inbox` removes lose their notifications.
            #expect(try await desk.nfc("inbox", "clear").status == 0)
            for _ in 0..<1000 {
                if (try await desk.ask("calls", "CloseNotification") as? [Any])?.isEmpty == false { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect((try await desk.ask("calls", "CloseNotification") as? [Any])?.count == 1)
        }

        @Test func `A click that somebody forges opens nothing`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("forge", 1, "default", "org.opencorenfc.Background")
            _ = try await desk.ask("status")
            try await desk.ask("act", 1, "else")
            _ = try await desk.ask("status")
            #expect(try await desk.inbox().count == 1)
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened").count == 2)
        }
    }
}
