// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension BackgroundService {
    @Suite struct `The service killed in the middle` {
        @Test(arguments: ["before-storing", "stored", "before-announcing", "announcing", "announced"])
        func `Service killed while a tag arrives: its entry exists once, is shown, and opens`(
            step: String
        ) async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start(dyingAt: step)
            try desk.bring("https://b.example/1")
            #expect(try await desk.death() == -SIGKILL)
            let left = try await desk.inbox()
            #expect(left.count == (step == "before-storing" ? 0 : 1))
            let isAnnounced = step == "announced"
            #expect(left.allSatisfy { $0["announced"] as? Bool == isAnnounced })
            // The tag is still on the reader.
            try await desk.start(waitsFor: isAnnounced ? "reading" : "shown")
            #expect(try await desk.inbox().count == 1)
            let shown = try await desk.notifications()
            try await desk.ask("act", shown.count, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
            #expect(try await desk.inbox().isEmpty)
            #expect(desk.files(in: "state/nfc/inbox").isEmpty)
        }

        @Test(arguments: ["delivering", "delivered", "removed"])
        func `Service killed while a link opens: the entry stays in the inbox until the link was opened`(step: String)
            async throws
        {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start(dyingAt: step)
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("act", 1, "default")
            #expect(try await desk.death() == -SIGKILL)
            #expect(try await desk.inbox().count == (step == "removed" ? 0 : 1))
            #expect(step == "delivering" || desk.lines(of: "opened").count == 2)
            try desk.takeAway()
            try await desk.start()
            // Nothing is shown again. The earlier notification still opens its link.
            #expect(try await desk.notifications().count == 1)
            if step == "delivering" {
                try await desk.ask("act", 1, "default")
                try await desk.event("delivered")
                #expect(desk.lines(of: "opened") == ["1", "https://b.example/1"])
                #expect(try await desk.inbox().isEmpty)
            }
        }

        @Test func `Service killed at random moments of ten arrivals: no entry is doubled or damaged`() async throws {
            let desk = try await Desk()
            for round in 0..<10 {
                try await desk.start(waitsFor: round == 0 ? "reading" : nil)
                try desk.bring("https://b.example/\(round)", number: UInt8(round + 1))
                try await Task.sleep(for: .milliseconds(.random(in: 0...60)))
                try await desk.kill()
            }
            // All tags are on the reader, more than are accepted at once. Tags that were not saved come now or are refused.
            try await desk.start()
            // An entry that is being written has another name for a moment. What a kill left unfinished must be gone.
            try await desk.wait("all that is let in is there, and nothing unfinished") {
                let files = desk.files(in: "state/nfc/inbox")
                return files.count >= 8 && files.allSatisfy { $0.hasSuffix(".entry") || $0.hasSuffix(".new") }
            }
            let entries = try await desk.inbox()
            #expect(Set(entries.compactMap { $0["uri"] as? String }).count == entries.count)
        }
    }
}

extension Desk {
    /// The names of the files of a folder of the desk.
    func files(in name: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path)) ?? []
    }
}
