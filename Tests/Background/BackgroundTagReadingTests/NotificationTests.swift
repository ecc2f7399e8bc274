// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `What a notification says` {
    private func content(_ text: String, custom: Bool = false) throws -> NotificationContent {
        let router = try Fixture.router(allowsCustomSchemes: custom)
        let uri = try Fixture.uri(text)
        return try #require(NotificationContent(uri, route: router.route(uri)))
    }

    @Test func `It names the host and what opens it`() throws {
        let app = try content(Fixture.link)
        #expect(app.title == "NFC Tag Detected")
        #expect(app.body == "Open “example.org” in Reader")
        #expect(app.actionTitle == "Open")
        #expect(try content("https://bank.example@evil.example/x").body == "Open “evil.example” in the browser")
        #expect(try content("tel:+49123").body == "Call “+49123”")
        #expect(try content("reader:x", custom: true).body == "Open “reader:” in Reader")
        #expect(NotificationContent.unusable.actionTitle == nil)
        #expect(NotificationContent.unusable.body == "No usable data found")
    }

    @Test func `A refused link is not shown`() throws {
        let uri = try Fixture.uri("javascript:alert(1)")
        #expect(NotificationContent(uri, route: try Fixture.router().route(uri)) == nil)
    }

    @Test func `While the screen is locked it says what unlocking is for`() throws {
        func body(_ text: String) throws -> String? {
            var router = try Fixture.router(allowsCustomSchemes: true)
            router.unopenedSchemes = [.faceTime]
            return NotificationContent(unlockingFor: try Fixture.uri(text), router: router)?.body
        }
        #expect(try body("https://b.example/x") == "Unlock to open “b.example”")
        #expect(try body(Fixture.link) == "Unlock to open “example.org”")
        #expect(try body("tel:+49123") == "Unlock to call “+49123”")
        #expect(try body("http://maps.apple.com/?q=x") == "Unlock to show a place on the map")
        #expect(try body("reader:x") == "Unlock to open “reader:” in Reader")
        #expect(try body("facetime:a@b.example") == nil)
        #expect(try body("javascript:x") == nil)
    }

    @Test func `Markup is escaped`() throws {
        let mail = try content("mailto:<b>&'\"@x.example")
        #expect(!mail.markupBody.contains("<") && !mail.markupBody.contains("'"))
        #expect(DisplayText.escapingMarkup("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;")
        // The notification shows the URI's percent escapes unchanged.
        #expect(mail.body.contains("%3Cb%3E&'%22@x.example"))
    }

    @Test func `Of a long host the end is shown`() throws {
        let host = "www.bank.example." + String(repeating: "a.", count: 80) + "evil.example"
        let shown = try content("https://\(host)/")
        #expect(shown.host?.hasPrefix("…") == true)
        #expect(shown.host?.hasSuffix(".evil.example") == true)
        #expect(shown.host?.unicodeScalars.count == NotificationContent.maximumHostLength)
    }

    @Test func `A host of up to 80 characters is shown completely`() throws {
        let host = String(repeating: "a.", count: 34) + "bank.example"
        #expect(try content("https://\(host)/").host == host)
        #expect(try content("https://a\(host)/").host == "…\(host.dropFirst())")
    }

    @Test(arguments: ["mailto:", "https://a.example/", "tel:", "X-HM://"])
    func `Whatever the tag has, the text is short and plain`(start: String) throws {
        let nasty = "\u{202E}\u{2066}\u{200B}\u{FEFF}\u{E000}\u{1F600}\u{0300}\u{0301}\u{0302}\u{034F}"
        let text = start + String(repeating: nasty + "&<x>", count: 300)
        let shown = try content(text)
        #expect(shown.body.unicodeScalars.count < 200)
        #expect(shown.body.unicodeScalars.allSatisfy { $0.isASCII || "“”…".unicodeScalars.contains($0) })
    }

    @Test func `Text is made harmless, scalar by scalar`() {
        #expect(DisplayText.plain("a\u{202E}b\nc\u{200B}", limit: 10) == "a\u{FFFD}b\u{FFFD}c\u{FFFD}")
        #expect(DisplayText.plain("e\u{0301}\u{0301}\u{0301}\u{0301}", limit: 10) == "e\u{0301}\u{0301}")
        #expect(DisplayText.plain("abcdef", limit: 4) == "abc…")
        #expect(DisplayText.plain("abcdef", limit: 4, keeping: .tail) == "…def")
        #expect(DisplayText.plain("abcd", limit: 4) == "abcd")
        #expect(DisplayText.plain("a\u{3164}\u{115F}", limit: 9) == "a\u{FFFD}\u{FFFD}")
    }
}
