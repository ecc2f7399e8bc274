// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import PeerSupport
import Testing

extension BackgroundService {
    @Suite struct `Hostile tags` {
        /// A message with a URI record of arbitrary bytes.
        private func message(_ uri: [UInt8]) throws -> [UInt8] {
            let length = uri.count + 1
            let head: [UInt8] = [
                0xC1, 0x01, UInt8(length >> 24), UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF),
                UInt8(length & 0xFF), 0x55, 0x00,
            ]
            return head + uri
        }

        @Test(arguments: [
            "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "about:blank", "vbscript:x", "ssh://h",
            "JavaScript:x",
        ])
        func `Links to scripts and files: refused even with --allow-custom-schemes`(uri: String) async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start("--allow-custom-schemes")
            try desk.bring(try message(Array(uri.utf8)))
            try await desk.event("refused")
            #expect(try await desk.notifications().isEmpty)
            #expect(try await desk.inbox().isEmpty)
        }

        @Test func `Hostile links: shown without markup, and given to the browser as one argument`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            let links: [(uri: String, body: String?)] = [
                ("https://xn--pple-43d.example/", "Open “xn--pple-43d.example” in Browser"),
                ("https://\u{430}pple.example/", "Open “xn--pple-43d.example” in Browser"),
                ("https://good.example@evil.example/", "Open “evil.example” in Browser"),
                ("mailto:<b>a</b>\u{202E}moc@b.example", nil),
                ("mailto:a&b'\"@b.example?body=$(reboot)", nil),
            ]
            for (index, link) in links.enumerated() {
                try desk.bring(try message(Array(link.uri.utf8)), number: UInt8(index + 1))
                try await desk.event("shown")
                let shown = try #require(try await desk.notifications().last)
                if let body = link.body { #expect(shown.body == body) }
                for mark in ["<", ">", "\u{202E}", "\""] { #expect(!shown.body.contains(mark), "\(shown.body)") }
                try await desk.ask("act", index + 1, "default")
                try await desk.event("delivered")
                let opened = desk.lines(of: "opened")
                #expect(opened.count == 2 * (index + 1))
                #expect(opened[opened.count - 2] == "1")
                #expect(opened[opened.count - 1].allSatisfy { $0.isASCII && !$0.isWhitespace })
            }
        }

        @Test func `A link of 60,000 bytes is shown by its host, and opened whole`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            let long = "https://b.example/" + String(repeating: "x", count: 60_000)
            try desk.bring(try message(Array(long.utf8)))
            try await desk.event("shown")
            #expect(try await desk.notifications().map(\.body) == ["Open “b.example” in Browser"])
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["1", long])
        }

        @Test func `A text that is not a link is reported as unusable`() async throws {
            let desk = try await Desk()
            try await desk.start()
            let hostile = [Array("https://b.example/\u{7}\r\n".utf8), [0xFF, 0xFE], [], Array("https:///x".utf8)]
            for (index, uri) in hostile.enumerated() {
                try desk.bring(try message(uri), number: UInt8(index + 1))
                try await desk.event("shown")
            }
            let shown = try await desk.notifications()
            #expect(shown.map(\.body) == Array(repeating: "No usable data found", count: hostile.count))
            #expect(shown.allSatisfy { $0.actions.isEmpty })
            #expect(try await desk.inbox().isEmpty)
        }

        @Test func `400 tags as fast as possible: at most 40 are shown, and the service answers`() async throws {
            let desk = try await Desk()
            try await desk.start()
            // As fast as possible, each time another tag.
            for round in 0..<400 {
                try desk.bring("https://b.example/\(round)", number: UInt8(round % 200 + 1))
                if round % 100 == 99 { for number in 1...200 { try? desk.takeAway(number: UInt8(number)) } }
            }
            try await desk.event("too-many")
            let shown = try await desk.notifications().count
            #expect(shown >= 8 && shown <= 40)
            #expect(try await desk.inbox().count <= 40)
            #expect(try await desk.nfc("background", "status").status == 0)
        }

        @Test func `Log: no link and no UID of a tag, unless --log-content`() async throws {
            let desk = try await Desk()
            try await desk.start()
            try desk.bring("https://secret.example/path")
            try await desk.event("shown")
            let quiet = desk.service?.output ?? ""
            #expect(!quiet.contains("secret") && !quiet.lowercased().contains("04a1b2"))
            try await desk.kill()
            try await desk.start("--log-content")
            try desk.bring("https://secret.example/path", number: 2)
            try await desk.event("shown")
            #expect(desk.service?.output.contains("secret.example") == true)
        }
    }
}
