// SPDX-License-Identifier: Apache-2.0
import Foundation
import PeerSupport
import Testing

extension BackgroundService {
    /// Tests actions of the service that only a timer starts.
    @Suite struct `The service's own times` {
        @Test func `Inbox folder replaced by a file: a link is stored once the folder can be made`() async throws {
            let desk = try await Desk()
            try await desk.start()
            // A file replaces the parent folder, so that nothing is watched any more.
            let place = desk.folder.appending(path: "state/nfc")
            try FileManager.default.moveItem(at: place, to: desk.folder.appending(path: "state/before"))
            try Data().write(to: place)
            _ = try await desk.service?.line(with: #""error":"inbox""#)
            try desk.bring("https://b.example/1")
            try await desk.event("not-kept")
            // Do not ask for the status here, because that also starts a check.
            try FileManager.default.removeItem(at: place)
            try await desk.event("kept")
            #expect(desk.files(in: "state/nfc/inbox").count == 1)
            let later = try #require(try await desk.ask("status") as? [String: Any])
            #expect(later["inbox_problem"] is NSNull)
        }

        @Test func `Inbox folder moved away: created again with its entries`() async throws {
            let desk = try await Desk()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            // Entries that are removed one by one count as cleared by the person.
            let place = desk.folder.appending(path: "state/nfc/inbox")
            try FileManager.default.moveItem(at: place, to: desk.folder.appending(path: "state/before"))
            try await desk.wait("the entry is there again") { desk.files(in: "state/nfc/inbox").count == 1 }
            #expect(try await desk.inbox().count == 1)
        }

        @Test func `Unlock prompt dismissed 400 ms after the click: the link is not opened after the unlock`()
            async throws
        {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try await desk.ask("login", ["LockedHint": true])
            try await desk.event("lock")
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("act", 1, "default")
            try await desk.event("waits")
            try await desk.event("shown")
            // Longer than a desktop takes to close a clicked notification, even when the prompt has replaced it.
            try await Task.sleep(for: .milliseconds(400))
            try await desk.ask("close", 1, 2)
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("lock")
            // Another link that is opened now is the first.
            try desk.bring("https://b.example/2", number: 2)
            try await desk.event("shown")
            try await desk.ask("act", 2, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/2"])
            #expect(try await desk.inbox().count == 1)
        }
    }
}
