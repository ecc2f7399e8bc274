// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing

@Suite struct `Links for what the system has` {
    private func link(_ text: String) throws -> SystemLink? { SystemLink(try Fixture.uri(text)) }

    private func body(_ text: String, without: Set<LinkScheme> = []) throws -> String? {
        var router = try Fixture.router()
        router.unopenedSchemes = without
        return NotificationContent(try Fixture.uri(text), router: router)?.body
    }

    @Test(arguments: [
        ("mailto:a@b.example?attach=/etc/passwd", "mailto:a@b.example"),
        (
            "MAILTO:a@b.example?Subject=Hi%20there&attachment=x&BODY=1%0D%0A2&cc=c@d.example&bcc=e@f.example&x=y#z",
            "mailto:a@b.example?subject=Hi%20there&body=1%0D%0A2&cc=c@d.example&bcc=e@f.example"
        ),
        ("mailto:?to=a@b.example&attach=x", "mailto:a@b.example"),
        ("mailto:?to=a@b.example?attach=/etc/passwd", "mailto:a@b.example%3Fattach=/etc/passwd"),
        ("mailto:?cc=a@b.example&subject=Hi", "mailto:?cc=a@b.example&subject=Hi"),
        ("mailto://a@b.example", "mailto:a@b.example"),
        // The address in its usual place is the one that counts.
        ("mailto:a@b.example?to=c@d.example", "mailto:a@b.example"),
        // A control character of any kind is left out with its field.
        ("mailto:a@b.example?subject=x%1By&cc=c@d.example", "mailto:a@b.example?cc=c@d.example"),
        ("mailto:a@b.example?cc=c%7Fd@e.example&bcc=f%7fg@h.example", "mailto:a@b.example"),
        // A line break would start a new field.
        ("mailto:a@b.example?subject=x%0D%0AAttach:%20y&cc=c%0Ad&body=z", "mailto:a@b.example?body=z"),
    ])
    func `A mail keeps its addresses, subject, body, cc and bcc alone`(text: String, expected: String) throws {
        #expect(try link(text)?.uri == expected)
        let message = try Fixture.message(text)
        #expect(Delivery(message: message, router: try Fixture.router()) == .system(.mail, expected))
    }

    @Test(arguments: [
        "tel:", "tel://", "tel:%20", "tel:?x=1", "tel:%C3%A9ab", "mailto:", "mailto:?", "mailto:?attach=/etc/passwd",
        "mailto:?subject=Hi", "mailto:%20?subject=Hi", "mailto:,?body=x", "mailto:?cc=&body=x",
        "mailto:a%0Ab@c.example",
        "sms:", "facetime:", "geo:", "geo:x", "geo:1", "geo:91,0", "geo:1,181", "geo:1,-180.5", "geo:1,2;crs=moon",
    ])
    func `One that names nobody and nothing is unusable`(text: String) throws {
        #expect(try link(text) == nil)
        let message = try NDEFMessage([.uri(text)])
        #expect(LinkChoice(message) == .unusable)
    }

    @Test func `A mail that has copies alone is shown with whom they are for`() throws {
        #expect(try body("mailto:?bcc=a@b.example&subject=Hi") == "Write a mail to “a@b.example”")
    }

    @Test(arguments: [
        ("geo:52.5163,13.3777", "geo:52.5163,13.3777"),
        ("GEO:-1.5,2,30;u=35?q=Gate%20(A)&z=1", "geo:-1.5,2?q=Gate%20(A)"),
        ("geo:0,0?q=1%20Way;crs=wgs84", "geo:0,0?q=1%20Way;crs=wgs84"), ("geo:1,2;crs=WGS84", "geo:1,2"),
        ("geo:90,180", "geo:90,180"), ("geo:-90,-180", "geo:-90,-180"),
    ])
    func `A place keeps its coordinates and what is looked for`(text: String, expected: String) throws {
        #expect(try link(text)?.uri == expected)
    }

    @Test(arguments: [
        ("facetime:a@b.example", "Call “a@b.example” with FaceTime"),
        ("facetime-audio:a@b.example", "Call “a@b.example” with FaceTime Audio"),
        ("X-HM://00123", "Set up a HomeKit accessory"), ("sms:+49123", "Write a text message to “+49123”"),
    ])
    func `What a link does is said in words of its own`(text: String, expected: String) throws {
        #expect(try body(text) == expected)
    }

    @Test func `A place is shown with its coordinates, and says when no app opens it`() throws {
        #expect(try body("geo:52.5,13.4;u=9") == "Show “52.5,13.4” on the map")
        let step = "To see what to install, run: nfc background doctor"
        #expect(try body("geo:52.5,13.4", without: [.map]) == "No app opens “geo:” links, such as “52.5,13.4”. \(step)")
    }

    @Test(arguments: [
        ("https://maps.apple.com/?ll=1,2", false, false), ("https://maps.apple.com/?ll=1,2", true, true),
        ("http://maps.apple.com/?t=k", false, true), ("https://maps.apple.com/", true, true),
    ])
    func `The page of a map is shown and opened as one where no app for maps takes its place`(
        text: String,
        isWithoutApp: Bool,
        isPage: Bool
    ) throws {
        var router = try Fixture.router()
        if isWithoutApp { router.unopenedSchemes = [.map] }
        let body = NotificationContent(try Fixture.uri(text), router: router)?.body
        #expect(body == (isPage ? "Open “maps.apple.com” in the browser" : "Show a place on the map"))
        let delivery = Delivery(message: try Fixture.message(text), router: router)
        #expect(delivery == (isPage ? .browser(text) : .system(.map, text)))
    }

    @Test func `The browser that the person chose for a map's pages opens them`() throws {
        var router = try Fixture.router()
        _ = router.choices.choose("maps.apple.com", isBrowser: true)
        let uri = try Fixture.uri("https://maps.apple.com/?ll=1,2")
        #expect(NotificationContent(uri, router: router)?.body == "Open “maps.apple.com” in the browser")
    }

    @Test func `Without a browser a web link says so and has no button, but that of an app has`() throws {
        var router = try Fixture.router()
        router.schemesWithoutBrowser = ["https"]
        let link = try Fixture.uri("https://b.example/x")
        let content = try #require(NotificationContent(link, router: router))
        let expected =
            "No app opens “https:” links, such as “b.example”. To see what to install, run: nfc background doctor"
        #expect(content.body == expected && content.actionTitle == nil)
        #expect(NotificationContent(unlockingFor: link, router: router) == nil)
        let other = try Fixture.uri("http://b.example/x")
        #expect(NotificationContent(other, router: router)?.body == "Open “b.example” in the browser")
        #expect(NotificationContent(try Fixture.uri(Fixture.link), router: router)?.actionTitle == "Open")
    }

    @Test func `A number is shown with its escapes resolved, and a long one by both ends`() throws {
        #expect(try body("tel:%2B49%2030%20123") == "Call “+49 30 123”")
        // Spaces push nothing out of sight.
        #expect(try body("tel:%20110%20%20%20%20%2B49%20") == "Call “110 +49”")
        #expect(try body("tel:*%2306%23") == "Call “*#06#”")
        #expect(try body("sms:%2b49123?body=Hi") == "Write a text message to “+49123”")
        let long = try #require(try body("tel:+49" + String(repeating: "0", count: 60) + "900"))
        #expect(long.hasPrefix("Call “+490000") && long.hasSuffix("000900”") && long.contains("0…0"))
        #expect(long.unicodeScalars.count == "Call “”".unicodeScalars.count + NotificationContent.maximumNumberLength)
        // Invisible characters stay escaped.
        #expect(try body("tel:1%E2%80%AE2%00") == "Call “1%E2%80%AE2%00”")
        #expect(DisplayText.plain("abcdefg", limit: 4, keeping: .both) == "ab…g")
    }
}
