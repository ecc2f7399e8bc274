// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing
import UniversalLinks

/// Which link a tag has, and where it goes.
struct TagLinkTests {
    // MARK: URIs

    @Test(arguments: [
        ("HTTPS://Example.ORG:443/A?b#c", "https://example.org/A?b#c", "example.org"),
        ("http://user:pass@example.org:8080", "http://user:pass@example.org:8080", "example.org:8080"),
        ("https://www.bank.example@evil.example/", "https://www.bank.example@evil.example/", "evil.example"),
        ("https://a@b@c.example/", "https://a%40b@c.example/", "c.example"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC", "xn--bcher-kva.example"),
        ("https://BÜCHER。example./", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("https://аpple.com/", "https://xn--pple-43d.com/", "xn--pple-43d.com"),
        ("https://ａ.example/", "https://a.example/", "a.example"),
        ("https://127.0.0.1/", "https://127.0.0.1/", "127.0.0.1"),
        ("https://[2001:DB8::1]:8443/", "https://[2001:db8::1]:8443/", "[2001:db8::1]:8443"),
        ("https://[::1]:443/x", "https://[::1]/x", "[::1]"),
        ("https://a.example/x y\"<>`{}|^\\", "https://a.example/x%20y%22%3C%3E%60%7B%7D%7C%5E%5C", "a.example"),
        ("https://a.example/\u{202E}x", "https://a.example/%E2%80%AEx", "a.example"),
        ("https://a.example:/x", "https://a.example/x", "a.example"),
        ("https://a.example#b?c", "https://a.example#b?c", "a.example"),
        ("http://a.example:80/", "http://a.example/", "a.example"),
        ("http://a.example:443/", "http://a.example:443/", "a.example:443"),
        ("https://a.example:65535/", "https://a.example:65535/", "a.example:65535"),
        ("https://a.example:00443/", "https://a.example/", "a.example"),
    ])
    func `Tag URI: it is written in ASCII, with the host that a browser opens`(
        _ written: String,
        _ text: String,
        _ host: String
    ) throws {
        let uri = try Fixture.uri(written)
        #expect(uri.text == text && uri.host == host)
        #expect(try Fixture.uri(uri.text) == uri)
    }

    @Test(arguments: [
        "", "a.example", "https:a.example", "https:/a.example", "https://", "https:///x", "https://a.example:99999/",
        "https://a.example:65536/", "https://:80/", "https://a.example:+1/", "https://a b.example/", "https://0x7f.1/",
        "https://2130706433", "https://a%2eexample/", "https://a.example\\@b.example/", "https://\u{202E}elpmaxe.a/",
        "https://[fe80::1%25eth0]/", "https://[::g]/", "https://[::1/", "https://[::1]x/", "https://a.example/\u{7F}",
        "https://a.example/\u{1F}", "9a:x", "{a:x", "a`:x", "a/:x", "a,b:x",
    ])
    func `Tag URI: an ambiguous or broken one is refused`(_ text: String) {
        #expect(TagURI(text) == nil)
    }

    @Test func `Tag URI: a scheme has 64 characters at most, a URI as many bytes as a link`() {
        let scheme = "az09+-." + String(repeating: "a", count: 57)
        #expect(TagURI(scheme + ":x")?.scheme == scheme && TagURI(scheme + "a:x") == nil)
        let start = "https://a.example/"
        let full = start + String(repeating: "x", count: LinkURL.maximumLength - start.utf8.count)
        #expect(TagURI(full)?.text == full && TagURI(full + "x") == nil)
        // A space has three bytes in ASCII.
        let spaced = String(full.dropLast(3))
        #expect(TagURI(spaced + " ")?.text == spaced + "%20" && TagURI(spaced + " x") == nil)
    }

    @Test func `Tag URI: its stem has neither query nor fragment`() throws {
        for text in ["https://a.example/x?c=1#d", "https://a.example/x#1?c", "https://a.example/x"] {
            #expect(try Fixture.uri(text).stem == "https://a.example/x", "\(text)")
        }
    }

    // MARK: Messages

    @Test func `Message: the first URI record is its link, also after other records`() throws {
        let text = try NDEFRecord.text("hello", language: "en")
        let message = try NDEFMessage([text, .uri("https://a.example/1"), .uri("https://b.example/2")])
        #expect(LinkChoice(message) == .uri(try Fixture.uri("https://a.example/1")))
    }

    @Test func `Message: smart posters, absolute URIs and media are not links`() throws {
        let poster = NDEFRecord.known("Sp", payload: try Fixture.message("https://a.example"))
        let absolute = NDEFRecord(.absoluteURI, type: Array("https://a.example/".utf8))
        let media = NDEFRecord(.media, type: Array("text/uri-list".utf8), payload: Array("https://a.example/".utf8))
        #expect(LinkChoice(NDEFMessage([poster, absolute, media])) == .none)
        #expect(LinkChoice(.empty) == .none)
    }

    @Test func `Message: a broken URI record is unusable, the next one does not replace it`() throws {
        let payloads: [[UInt8]] = [
            [], [0], [4], Array("https://a.example".utf8), [0] + Array("a.example/x".utf8), [4, 0xFF, 0xFE],
            [4, 0x61, 0x0A, 0x62],
        ]
        for payload in payloads {
            let message = try NDEFMessage([.known("U", payload: payload), .uri("https://a.example")])
            #expect(LinkChoice(message) == .unusable, "\(payload)")
        }
    }

    // MARK: Links of the system

    /// A link, and what another program gets of it; `-` is unusable.
    @Test(arguments: [
        // RFC 6068: addresses, subject, body, cc and bcc alone, without control characters.
        ("mailto:a@b.example?attach=/etc/passwd", "mailto:a@b.example"),
        (
            "MAILTO:a@b.example?Subject=Hi%20there&attachment=x&BODY=1%0D%0A2&cc=c@d.example&bcc=e@f.example&x=y#z",
            "mailto:a@b.example?subject=Hi%20there&body=1%0D%0A2&cc=c@d.example&bcc=e@f.example"
        ),
        ("mailto:?to=a@b.example&attach=x", "mailto:a@b.example"),
        ("mailto:?to=a@b.example?attach=/etc/passwd", "mailto:a@b.example%3Fattach=/etc/passwd"),
        ("mailto:?cc=a@b.example&subject=Hi", "mailto:?cc=a@b.example&subject=Hi"),
        ("mailto://a@b.example", "mailto:a@b.example"), ("mailto:a@b.example?to=c@d.example", "mailto:a@b.example"),
        ("mailto:a@b.example?subject=x%1By&cc=c@d.example", "mailto:a@b.example?cc=c@d.example"),
        ("mailto:a@b.example?cc=c%7Fd@e.example&bcc=f%7fg@h.example", "mailto:a@b.example"),
        ("mailto:a@b.example?subject=x%0D%0AAttach:%20y&cc=c%0Ad&body=z", "mailto:a@b.example?body=z"),
        ("mailto:a@b.example?subject=a=b", "mailto:a@b.example?subject=a=b"),
        ("mailto:a@b.example?subject", "mailto:a@b.example"), ("mailto:a@b.example?subjects=x", "mailto:a@b.example"),
        ("mailto:", "-"), ("mailto:?", "-"), ("mailto:?attach=/etc/passwd", "-"), ("mailto:?subject=Hi", "-"),
        ("mailto:%20?subject=Hi", "-"), ("mailto:,?body=x", "-"), ("mailto:?cc=&body=x", "-"),
        ("mailto:a%0Ab@c.example", "-"), ("mailto:?to=a%0Ab@c.example", "-"), ("mailto:a@b.example%0", "-"),
        // RFC 5870: coordinates, and what is looked for.
        ("geo:52.5163,13.3777", "geo:52.5163,13.3777"), ("geo:1,2,3", "geo:1,2"), ("geo:90,180", "geo:90,180"),
        ("GEO:-1.5,2,30;u=35?q=Gate%20(A)&z=1", "geo:-1.5,2?q=Gate%20(A)"), ("geo:1,2?q=a=b", "geo:1,2?q=a=b"),
        ("geo:1,2;crs=WGS84", "geo:1,2"), ("geo:-90,-180", "geo:-90,-180"), ("geo:1,2?q=", "geo:1,2"),
        ("geo:1,2#q=x", "geo:1,2"), ("geo:1.000000000000000000,2", "geo:1.000000000000000000,2"), ("geo:", "-"),
        ("geo:x", "-"), ("geo:1", "-"), ("geo:1,", "-"), ("geo:,2", "-"), ("geo:91,0", "-"), ("geo:1,181", "-"),
        ("geo:1,-180.5", "-"), ("geo:1,2;crs=moon", "-"), ("geo:1,2;crs=", "-"), ("geo:1,2,3,4", "-"),
        ("geo:1e1,2", "-"), ("geo:1-2,3", "-"), ("geo:1.0000000000000000000,2", "-"),
        // A call needs a digit, a message a name or a number.
        ("tel:alice1", "tel:alice1"), ("tel:alice", "-"), ("tel:", "-"), ("tel://", "-"), ("tel:%20", "-"),
        ("tel:?x=1", "-"), ("tel:%C3%A9ab", "-"), ("sms:alice", "sms:alice"), ("sms:", "-"), ("sms:%C3%AF", "-"),
        ("facetime:", "-"),
    ])
    func `System link: another program gets only its safe parts`(_ text: String, _ expected: String) throws {
        let uri = try Fixture.uri(text)
        #expect((SystemLink(uri)?.uri ?? "-") == expected)
        if expected == "-" { #expect(LinkChoice(try NDEFMessage([.uri(text)])) == .unusable) }
    }

    @Test(
        arguments: [
            ("?ll=50.894967,4.341626", "geo:50.894967,4.341626"), ("?q=A%20B&z=3", "geo:0,0?q=A%20B"),
            ("?sll=1%2C-2&q=x#f", "geo:1,-2?q=x"), ("?address=1%20Way", "geo:0,0?q=1%20Way"),
            ("?ll=91,0&q=x", "geo:0,0?q=x"),
            ("?ll=0x1,2&daddr=y", "geo:0,0?q=y"), ("?ll=1,2,3", nil), ("?ll=1e1,2", nil),
            // The most exact item counts, and of two of a name the first.
            ("?sll=3,4&ll=1,2", "geo:1,2"), ("?sll=3,4&coordinate=1,2", "geo:1,2"), ("?ll=1,2&ll=3,4", "geo:1,2"),
            ("?name=n&daddr=d", "geo:0,0?q=d"), ("?name=n", "geo:0,0?q=n"), ("?q=&ll=1,2", "geo:1,2"), ("", nil),
            ("?", nil),
            ("?t=k&ll=1", nil),
        ] as [(String, String?)]
    )
    func `Map link: its coordinates or search become a geo URI`(_ query: String, _ expected: String?) {
        #expect(MapLocation("http://maps.apple.com/" + query)?.uri == expected)
    }

    @Test(arguments: [(31, true), (32, false)])
    func `System link: the first 32 fields of a query are read`(_ count: Int, _ isSeen: Bool) throws {
        let others = String(repeating: "x=1&", count: count)
        let mail = SystemLink(try Fixture.uri("mailto:a@b.example?\(others)subject=Hi"))
        #expect(mail?.uri == (isSeen ? "mailto:a@b.example?subject=Hi" : "mailto:a@b.example"))
        #expect(MapLocation("https://maps.apple.com/?\(others)ll=1,2")?.uri == (isSeen ? "geo:1,2" : nil))
    }

    // MARK: Routes

    /// Where a link goes: an app's identifier, or a word.
    private func route(_ text: String, _ router: LinkRouter) throws -> String {
        switch router.route(try Fixture.uri(text)) {
        case .app(let app, _): app.id
        case .browser: "browser"
        case .system(let scheme): "\(scheme)"
        case .customScheme(let app): "custom \(app.name)"
        case .refused(let reason): "refused \(reason)"
        }
    }

    private static func app(_ name: String, _ domains: String...) -> InstalledApp {
        var app = Fixture.reader
        app.id = "TEAM.org.example.\(name)"
        app.name = name
        app.associatedDomains = domains.compactMap(AssociatedDomain.init)
        return app
    }

    @Test(arguments: [
        (Fixture.link, "TEAM.org.example.reader"), ("http://sub.example.org:8080/buy/1", "TEAM.org.example.reader"),
        ("https://example.org/sell", "browser"), ("https://example.com/buy/1", "browser"),
        ("mailto:a@b.example", "mail"), ("SMS:+491234", "textMessage"), ("tel:+491234", "call"),
        ("facetime:a@b.example", "faceTime"), ("FaceTime-Audio:a@b.example", "faceTimeAudio"),
        ("X-HM://00123", "homeKit"), ("geo:52.5,13.4", "map"), ("http://maps.apple.com/?q=cafe", "map"),
        ("https://MAPS.apple.com:443/?ll=1,2", "map"), ("https://maps.apple.com:8443/?ll=1,2", "browser"),
        ("https://x.maps.apple.com/?ll=1,2", "browser"), ("https://maps.apple.com.example/?ll=1,2", "browser"),
    ])
    func `Route: each link goes to its app, the system's app for it, or the browser`(_ text: String, _ expected: String)
        throws
    {
        #expect(try route(text, try Fixture.router()) == expected)
    }

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "smb://host/x", "vbscript:x", "blob:x",
        "ftp://h/", "unknown:x", "reader:x",
    ])
    func `Route: custom schemes are refused; where allowed, an app's own is opened, a scheme of the system never`(
        _ text: String
    ) throws {
        #expect(try route(text, try Fixture.router()) == "refused customScheme")
        var router = try Fixture.router(allowsCustomSchemes: true)
        router.apps[0].schemes += ["javascript", "file", "data", "smb", "geo", "vbscript", "blob", "ftp"]
        router.apps.append(Self.app("second"))
        #expect(try route(text, router) == (text == "reader:x" ? "custom Reader" : "refused noApp"))
    }

    @Test func `Route: the association file of the longest domain is asked first`() throws {
        var router = try Fixture.router()
        router.apps.append(Self.app("shop", "applinks:shop.example.org"))
        #expect(try route("https://shop.example.org/buy/1", router) == "TEAM.org.example.reader")
        router.associations["shop.example.org"] = try Fixture.matcher(
            #"{"appIDs":["TEAM.org.example.shop"],"components":[{"/":"/buy/1"}]}"#
        )
        #expect(try route("https://shop.example.org/buy/1", router) == "TEAM.org.example.shop")
        #expect(try route("https://shop.example.org/buy/2", router) == "TEAM.org.example.reader")
        router.associations = [:]
        #expect(try route("https://shop.example.org/buy/1", router) == "browser")
    }

    @Test func `Route: of two apps with one identifier, the first counts`() throws {
        var router = try Fixture.router()
        var twin = Self.app("twin", "applinks:twin.example")
        twin.id = Fixture.reader.id
        router.apps.append(twin)
        router.associations["twin.example"] = router.associations["example.org"]
        #expect(try route(Fixture.link, router) == Fixture.reader.id)
        #expect(try route("https://twin.example/buy/42", router) == "browser")
        let other = Self.app("other", "webcredentials:w.example", "applinks:*.a.example", "applinks:a.example")
        #expect(other.linkedDomains == ["a.example"])
    }

    @Test func `Route: all association files for a link share one limit of work`() throws {
        var router = try Fixture.router()
        router.apps.append(Self.app("shop", "applinks:shop.example.org"))
        let entry = #"{"appIDs":["TEAM.org.example.shop"],"paths":["*a*a*a*a*a*a*a*a*a*b"]}"#
        router.associations["shop.example.org"] = try Fixture.matcher(
            Array(repeating: entry, count: 1500).joined(separator: ",")
        )
        // Nothing is left for the file of example.org, which would open it.
        #expect(try route("https://shop.example.org/buy/" + String(repeating: "a", count: 30_000), router) == "browser")
        #expect(try route("https://shop.example.org/buy/aa", router) == Fixture.reader.id)
    }

    @Test func `Route: the browser opens an app's links on domains for which the person chose it`() throws {
        var router = try Fixture.router()
        for domain in ["example.org", "maps.apple.com"] { _ = router.choices.choose(domain, isBrowser: true) }
        #expect(try route(Fixture.link, router) == "browser")
        #expect(
            NotificationContent(try Fixture.uri("https://maps.apple.com/?ll=1,2"), router: router)?.host
                == "maps.apple.com"
        )
    }

    @Test func `Delivery of a map link: in the browser without an app for maps or without a place in the link`() throws
    {
        for (text, isWithoutApp, isPage) in [
            ("https://maps.apple.com/?ll=1,2", false, false), ("https://maps.apple.com/?ll=1,2", true, true),
            ("http://maps.apple.com/?t=k", false, true),
        ] {
            var router = try Fixture.router()
            if isWithoutApp { router.unopenedSchemes = [.map] }
            let delivery = Delivery(message: try Fixture.message(text), router: router)
            #expect(delivery == (isPage ? .browser(text) : .system(.map, text)))
        }
    }

    // MARK: Notifications

    @Test(
        arguments: [
            (Fixture.link, "Open “example.org” in Reader", "Unlock to open “example.org”"),
            ("https://b@evil.example/x", "Open “evil.example” in the browser", "Unlock to open “evil.example”"),
            ("tel:%2B49%2030%20123", "Call “+49 30 123”", "Unlock to call “+49 30 123”"),
            ("tel:%20110%20%20%20%20%2B49%20", "Call “110 +49”", nil), ("tel:*%2306%23", "Call “*#06#”", nil),
            ("tel:1%E2%80%AE2%00", "Call “1%E2%80%AE2%00”", nil), ("tel:1%7E2%7F%G0", "Call “1~2%7F%G0”", nil),
            ("sms:%2b49123?body=Hi", "Write a text message to “+49123”", nil),
            ("mailto:?bcc=a@b.example&subject=Hi", "Write an email to “a@b.example”", nil),
            ("facetime:a@b.example", "Call “a@b.example” with FaceTime", nil),
            ("facetime-audio:a@b.example", "Call “a@b.example” with FaceTime Audio", nil),
            ("X-HM://00123", "Set up a HomeKit accessory", nil),
            ("geo:52.5,13.4;u=9", "Show “52.5,13.4” on the map", nil),
            ("https://maps.apple.com/?ll=1,2", "Show a place on the map", "Unlock to show a place on the map"),
            ("reader:x", "Open “reader:” in Reader", "Unlock to open “reader:” in Reader"),
        ] as [(String, String, String?)]
    )
    func `Notification: it says what the link does`(_ text: String, _ body: String, _ unlocking: String?) throws {
        let router = try Fixture.router(allowsCustomSchemes: true)
        let content = try #require(NotificationContent(try Fixture.uri(text), router: router))
        #expect(content.body == body && content.actionTitle == "Open")
        if let unlocking {
            #expect(NotificationContent(unlockingFor: try Fixture.uri(text), router: router)?.body == unlocking)
        }
    }

    @Test func `Notification of a link: none if refused, without a button if nothing opens it`() throws {
        var router = try Fixture.router()
        let script = try Fixture.uri("javascript:alert(1)")
        #expect(NotificationContent(script, router: router) == nil)
        #expect(NotificationContent(unlockingFor: script, router: router) == nil)
        router.unopenedSchemes = [.homeKit, .map]
        router.schemesWithoutBrowser = ["https"]
        for text in ["X-HM://0023", "geo:52.5,13.4", "https://b.example/x"] {
            let content = try #require(NotificationContent(try Fixture.uri(text), router: router))
            #expect(content.body.hasPrefix("No app opens “") && content.actionTitle == nil, "\(text)")
            #expect(NotificationContent(unlockingFor: try Fixture.uri(text), router: router) == nil)
        }
        #expect(NotificationContent(try Fixture.uri("http://b.example/x"), router: router)?.actionTitle == "Open")
        #expect(NotificationContent.unusable.actionTitle == nil)
    }

    @Test func `Notification: of a long host the end is shown, of a long number both ends`() throws {
        let router = try Fixture.router()
        let host = String(repeating: "a.", count: 34) + "bank.example"
        #expect(NotificationContent(try Fixture.uri("https://\(host)/"), router: router)?.host == host)
        #expect(
            NotificationContent(try Fixture.uri("https://a\(host)/"), router: router)?.host == "…\(host.dropFirst())"
        )
        let number = "tel:+49" + String(repeating: "0", count: 60) + "900"
        let long = try #require(NotificationContent(try Fixture.uri(number), router: router)?.body)
        #expect(long.hasPrefix("Call “+490000") && long.hasSuffix("000900”") && long.contains("0…0"))
        let address = String(repeating: "a", count: 120) + "@evil.example"
        let mail = NotificationContent(try Fixture.uri("mailto:" + address), router: router)?.body
        #expect(mail == "Write an email to “\(String(repeating: "a", count: 50))…\(address.suffix(49))”")
    }

    @Test(arguments: ["mailto:", "https://a.example/", "tel:", "X-HM://"])
    func `Notification: text of a tag is short, plain and without markup`(_ start: String) throws {
        let nasty = "\u{202E}\u{2066}\u{200B}\u{FEFF}\u{E000}\u{1F600}\u{0300}\u{0301}\u{034F}&<x>'"
        let uri = try Fixture.uri(start + String(repeating: nasty, count: 300))
        let content = try #require(NotificationContent(uri, router: try Fixture.router()))
        #expect(content.body.unicodeScalars.count < 200)
        #expect(content.body.unicodeScalars.allSatisfy { $0.isASCII || "“”…".unicodeScalars.contains($0) })
        #expect(!content.markupBody.contains("<") && !content.markupBody.contains("'"))
    }

    @Test func `Notification request: markup, buttons and persistence follow the desktop's capabilities`() throws {
        let uri = try Fixture.uri("mailto:a&b'@c.example")
        let content = try #require(NotificationContent(uri, router: try Fixture.router()))
        let plain = NotificationRequest(content, capabilities: ["body", "actions"], replacing: 7)
        #expect(plain.body == "Write an email to “a&b'@c.example”" && plain.actions == ["default", "Open"])
        #expect(plain.replacedNumber == 7 && plain.staysUntilClosed)
        let markup = NotificationRequest(content, capabilities: ["body-markup", "persistence"])
        #expect(markup.body == "Write an email to “a&amp;b&#39;@c.example”")
        #expect(markup.actions.isEmpty && markup.replacedNumber == 0 && !markup.staysUntilClosed)
        #expect(["default", "open", "close", ""].map(NotificationRequest.opens) == [true, false, false, false])
        let failed = NotificationContent.notOpened(reason: "a\u{202E}b\n" + String(repeating: "x", count: 1000))
        #expect(failed.body.unicodeScalars.count == 300 && failed.actionTitle == "Try Again")
        #expect(!failed.body.contains("\u{202E}") && !failed.body.contains("\n"))
    }

    @Test func `Display text: invisible characters are replaced, marks and length limited, and markup is escaped`() {
        let rows: [(String, Int, String)] = [
            ("a\u{202E}b\nc\u{200B}", 10, "a\u{FFFD}b\u{FFFD}c\u{FFFD}"), ("a\u{3164}\u{115F}", 9, "a\u{FFFD}\u{FFFD}"),
            ("e\u{0301}\u{0301}\u{0301}", 10, "e\u{0301}\u{0301}"),
            ("a\u{20DD}\u{0903}\u{0301}b", 9, "a\u{20DD}\u{0903}b"),
            ("a\u{2003}b\u{00A0}c", 20, "a b c"), ("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("abc", 0, "…"),
            ("", 0, ""),
        ]
        for (text, limit, expected) in rows {
            #expect(
                Array(DisplayText.plain(text, limit: limit).unicodeScalars) == Array(expected.unicodeScalars),
                "\(text)"
            )
        }
        #expect(DisplayText.plain("abcdef", limit: 4, keeping: .tail) == "…def")
        #expect(DisplayText.plain("abcdefg", limit: 4, keeping: .both) == "ab…g")
        #expect(DisplayText.escapingMarkup("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;")
    }

    // MARK: What an app gets

    private func payload(_ message: [UInt8], type: String = UserActivityPayload.browsingWeb, url: String = Fixture.link)
        throws(AppError) -> UserActivityPayload
    {
        try UserActivityPayload(activityType: type, webpageURL: url, message: message)
    }

    @Test func `User activity payload: a wrong type, link or message throws AppError`() throws {
        let message = try Fixture.message(Fixture.link)
        let limit = UserActivityPayload.maximumMessageSize
        #expect(throws: AppError.self) { try payload(message, type: "other") }
        #expect(throws: AppError.self) { try payload(message, url: "https://evil.example/") }
        #expect(throws: AppError.self) { try payload(Array(message.dropLast())) }
        #expect(throws: AppError.self) {
            try payload(try Fixture.message(Fixture.link, count: limit + 1))
        }
        #expect(throws: AppError.self) { try payload(try Fixture.message("tel:1"), url: "tel:1") }
    }

    @Test func `Notification closed within 2 s of a click, or 250 ms of a replacement after it: no dismissal`() {
        let start = ContinuousClock.now
        var click = NotificationClick(at: start)
        #expect(click.explainsClosing(at: start + .milliseconds(1900)))
        #expect(!click.explainsClosing(at: start + .seconds(2)))
        // Another one took its place.
        click.replace(at: start + .milliseconds(50))
        #expect(click.explainsClosing(at: start + .milliseconds(50) + .nanoseconds(249_999_999)))
        #expect(!click.explainsClosing(at: start + .milliseconds(300)))
        click.replace(at: start + .milliseconds(450))
        #expect(!click.explainsClosing(at: start + .milliseconds(500)))
    }
}
