// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Links whose hosts, fields and places are almost, or just about, what they look like.
@Suite struct `Links at the ends of what they may be` {
    private func link(_ text: String) throws -> SystemLink? { SystemLink(try Fixture.uri(text)) }

    // MARK: URIs

    @Test(
        arguments: [
            ("https://a.example?b", "https://a.example?b", "https://a.example"),
            ("https://a.example#b?c", "https://a.example#b?c", "https://a.example"),
            ("https://a.example/x#b?c", "https://a.example/x#b?c", "https://a.example/x"),
            ("https://[::1]", "https://[::1]", "https://[::1]"),
            ("https://[::1]:443/x", "https://[::1]/x", "https://[::1]/x"),
        ]
    )
    func `A link may have no path, and its stem ends before its query and its fragment`(
        _ written: String,
        _ text: String,
        _ stem: String
    ) throws {
        let uri = try Fixture.uri(written)
        #expect(uri.text == text && uri.stem == stem)
    }

    @Test(arguments: [
        "https://a.example/\u{7F}", "https://a.example/\u{1F}", "https://[::]/", "https://[::g]/", "https://[::1/",
        "https://[::1]x/", "https://a.example:+1/", "https://a.example:1x/", "https:a.example", "https:/a.example",
        "https://", "https:///x", "a.example",
    ])
    func `What is no link is none`(_ text: String) {
        #expect(TagURI(text) == nil)
    }

    // MARK: Where they go

    @Test(arguments: [
        "https://maps.apple.com:8443/?ll=1,2", "https://x.maps.apple.com/?ll=1,2",
        "https://maps.apple.com.example/?ll=1,2", "https://u@maps.apple.example/?ll=1,2",
    ])
    func `A host that only looks like that of the maps is a page`(_ text: String) throws {
        guard case .browser = try Fixture.router().route(try Fixture.uri(text)) else {
            Issue.record("\(text) is no page")
            return
        }
    }

    @Test func `The host of the maps counts in any case, and with the port of its scheme`() throws {
        for text in ["https://MAPS.apple.com:443/?ll=1,2", "http://maps.apple.com:80/?ll=1,2"] {
            #expect(try Fixture.router().route(try Fixture.uri(text)) == .system(.map), "\(text)")
        }
    }

    @Test func `Of two apps with a scheme the first gets its links`() throws {
        var router = try Fixture.router(allowsCustomSchemes: true)
        var other = Fixture.reader
        other.id = "TEAM.org.example.other"
        other.name = "Other"
        let uri = try Fixture.uri("READER:x")
        for apps in [[other, Fixture.reader], [Fixture.reader, other]] {
            router.apps = apps
            #expect(router.route(uri) == .customScheme(apps[0]))
            #expect(NotificationContent(uri, router: router)?.body == "Open “reader:” in \(apps[0].name)")
        }
    }

    @Test func `A refusal says why`() {
        #expect(
            LinkRoute.Refusal.customScheme.reason
                == "Custom schemes are not read in the background. Use a universal link."
        )
        #expect(LinkRoute.Refusal.noApp.reason == "No installed app has this scheme as its own.")
    }

    // MARK: Mails and places

    @Test(
        arguments: [
            ("mailto:a@b.example?subject=a=b", "mailto:a@b.example?subject=a=b"),
            ("mailto:?to=a@b.example&to=c@d.example", "mailto:a@b.example"), ("mailto:?to=a%0Ab@c.example", nil),
            ("mailto:a@b.example?subject", "mailto:a@b.example"), ("mailto:a@b.example?=x", "mailto:a@b.example"),
            ("mailto:a@b.example?subjects=x", "mailto:a@b.example"),
        ] as [(String, String?)]
    )
    func `A field of a mail ends where it should`(_ text: String, _ expected: String?) throws {
        #expect(try link(text)?.uri == expected)
    }

    @Test(arguments: [(31, true), (32, false)])
    func `Thirty-two fields of a mail and items of a map are looked at`(_ count: Int, _ isSeen: Bool) throws {
        let others = String(repeating: "x=1&", count: count)
        let mail = try link("mailto:a@b.example?\(others)subject=Hi")
        #expect(mail?.uri == (isSeen ? "mailto:a@b.example?subject=Hi" : "mailto:a@b.example"))
        #expect(MapPlace("https://maps.apple.com/?\(others)ll=1,2")?.uri == (isSeen ? "geo:1,2" : nil))
    }

    @Test(
        arguments: [
            ("geo:1,2?q=a=b", "geo:1,2?q=a=b"), ("geo:1,2?q=", "geo:1,2"), ("geo:1,2#q=x", "geo:1,2"),
            ("geo:1,2;u=5;crs=WGS84", "geo:1,2"), ("geo:1,2;crs=", nil), ("geo:1-2,3", nil), ("geo:1,", nil),
            ("geo:,2", nil), ("geo:1.000000000000000000,2", "geo:1.000000000000000000,2"),
            ("geo:1.0000000000000000000,2", nil), ("https://maps.apple.com/?name=n", "geo:0,0?q=n"),
            ("https://maps.apple.com/?q=&ll=1,2", "geo:1,2"), ("https://maps.apple.com/?q=a#ll=1,2", "geo:0,0?q=a"),
        ] as [(String, String?)]
    )
    func `A place has two numbers of up to twenty digits and signs, or a name`(_ text: String, _ expected: String?) {
        #expect(MapPlace(text)?.uri == expected)
    }

    // MARK: What is shown and sent

    @Test func `A link that no app opens is named by its scheme where it names nothing else`() throws {
        var router = try Fixture.router()
        router.unopenedSchemes = [.homeKit]
        let content = try #require(NotificationContent(try Fixture.uri("X-HM://"), router: router))
        #expect(content.body == "No app opens “x-hm:” links. To see what to install, run: nfc background doctor")
    }

    @Test func `Marks of every kind count, and a letter keeps two`() {
        let text = Array(DisplayText.plain("a\u{20DD}\u{0903}\u{0301}b\u{0903}", limit: 20).unicodeScalars)
        #expect(text == Array("a\u{20DD}\u{0903}b\u{0903}".unicodeScalars))
    }

    @Test func `A text is cut off at its limit, however small that is`() {
        for (limit, text) in [(0, "…"), (1, "…"), (2, "a…"), (3, "abc")] {
            #expect(DisplayText.plain("abc", limit: limit) == text, "\(limit)")
        }
        #expect(DisplayText.plain("", limit: 0) == "")
        #expect(DisplayText.plain("abcdefg", limit: 5, keeping: .both) == "ab…fg")
    }

    @Test func `A notification names its app and its icon`() {
        let request = NotificationRequest(.unusable, capabilities: [])
        #expect(request.appName == "NFC" && request.icon == "org.opencorenfc.Background")
        #expect(request.summary == "NFC Tag Detected" && request.body == "No usable data found")
        #expect(NotificationRequest.desktopEntry == request.icon && request.replacedNumber == 0)
    }

    @Test func `A payload as JSON may be four times as large as a message, and no larger`() throws {
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: Fixture.link,
            message: Fixture.message(Fixture.link)
        )
        let space = [UInt8](repeating: 0x20, count: 4 * UserActivityPayload.maximumMessageSize - payload.json.count)
        #expect(try UserActivityPayload(json: payload.json + space) == payload)
        let problem = #expect(throws: UserActivityPayload.Problem.self) {
            try UserActivityPayload(json: payload.json + space + [0x20])
        }
        #expect(problem?.reason == "The payload is too large.")
    }
}
