// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing
import UniversalLinks

@Suite struct `The link of a message` {
    private func record(_ code: UInt8, _ rest: String) -> NDEFRecord {
        .known("U", payload: [code] + Array(rest.utf8))
    }

    @Test func `The first URI record counts, wherever it stands`() throws {
        let text = try NDEFRecord.text("hello", language: "en")
        let message = NDEFMessage([text, record(4, "a.example/1"), record(4, "b.example/2")])
        #expect(LinkChoice(message) == .uri(try Fixture.uri("https://a.example/1")))
    }

    @Test func `Smart posters, absolute URIs and media are not looked into`() throws {
        let inner = try NDEFMessage([record(4, "a.example")]).encoded()
        let poster = NDEFRecord.known("Sp", payload: inner)
        let absolute = NDEFRecord(.absoluteURI, type: Array("https://a.example/".utf8))
        let media = NDEFRecord(.media, type: Array("text/uri-list".utf8), payload: Array("https://a.example/".utf8))
        #expect(LinkChoice(NDEFMessage([poster, absolute, media])) == .none)
        #expect(LinkChoice(.empty) == .none)
    }

    @Test func `A URI record that can't be read is not passed over for the next one`() {
        let payloads: [[UInt8]] = [
            [], [0], [4], Array("https://a.example".utf8), [0] + Array("a.example/x".utf8), [4, 0xFF, 0xFE],
            [4, 0x61, 0x0A, 0x62], [0] + Array("https:a.example".utf8), [4] + Array("a.example\\@b.example/".utf8),
            [4] + Array("a%2eexample/".utf8), [4] + Array("0x7f.1/".utf8), [4] + Array("2130706433".utf8),
            [4] + Array("a b.example/".utf8), [4] + Array("a.example:99999/".utf8), [4] + Array(":80/".utf8),
            [4] + Array("\u{202E}elpmaxe.a/".utf8), [4] + Array("[fe80::1%25eth0]/".utf8),
        ]
        for payload in payloads {
            let message = NDEFMessage([.known("U", payload: payload), record(4, "a.example")])
            #expect(LinkChoice(message) == .unusable, "\(payload)")
        }
    }

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
        ("https://a.example/x y\"<>`{}|^\\", "https://a.example/x%20y%22%3C%3E%60%7B%7D%7C%5E%5C", "a.example"),
        ("https://a.example/\u{202E}x", "https://a.example/%E2%80%AEx", "a.example"),
        ("https://a.example:/x", "https://a.example/x", "a.example"),
    ])
    func `A link is brought into ASCII, with the host that a browser opens`(
        written: String,
        text: String,
        host: String
    ) throws {
        let uri = try Fixture.uri(written)
        #expect(uri.text == text)
        #expect(uri.host == host)
        #expect(try Fixture.uri(uri.text) == uri)
    }

    /// RFC 3492, 7.1.
    @Test(arguments: [
        ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
        ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"),
        ("ひとつ屋根の下2", "xn--2-u9tlzr9756bt3uc0v"),
        ("mañana", "xn--maana-pta"),
    ])
    func `Names outside of ASCII are written in ASCII`(name: String, ascii: String) {
        #expect(HostName.ascii(name) == ascii)
        #expect(HostName.ascii(ascii) == ascii)
    }

    @Test func `A URI is as long as a URL may be, as it is written and in ASCII`() throws {
        let start = "https://a.example/"
        let full = start + String(repeating: "x", count: LinkURL.maximumLength - start.utf8.count)
        #expect(TagURI(full)?.text == full && TagURI(full + "x") == nil)
        // A space has three bytes in ASCII.
        let spaced = String(full.dropLast(3))
        #expect(TagURI(spaced + " ")?.text == spaced + "%20" && TagURI(spaced + " x") == nil)
    }

    @Test func `A URI of 60 KB is taken, and one that is too long is not`() throws {
        let long = "https://a.example/" + String(repeating: "x", count: 60_000)
        #expect(try Fixture.uri(long).text == long)
        #expect(TagURI("https://a.example/" + String(repeating: "x", count: 70_000)) == nil)
        #expect(TagURI("https://a.example/" + String(repeating: "ü", count: 30_000)) == nil)
        #expect(TagURI("https://" + String(repeating: "a.", count: 20_000) + "example/") == nil)
    }
}

@Suite struct `Where links go` {
    private func route(_ text: String, _ router: LinkRouter) throws -> LinkRoute {
        router.route(try Fixture.uri(text))
    }

    @Test func `A universal link goes to its app, and any other web link to the browser`() throws {
        let router = try Fixture.router()
        guard case .app(let app, let why) = try route(Fixture.link, router) else {
            Issue.record("no app")
            return
        }
        #expect(app.id == "TEAM.org.example.reader")
        #expect(why.contains("/buy/*"))
        for other in ["https://example.org/sell", "https://example.com/buy/1", "http://sub.example.net/"] {
            guard case .browser = try route(other, router) else {
                Issue.record("\(other) goes elsewhere")
                continue
            }
        }
        guard case .app = try route("http://sub.example.org:8080/buy/1", router) else {
            Issue.record("the wildcard is not used")
            return
        }
    }

    @Test func `Of apps with the same domain each counts, and of those with the same identifier the first`() throws {
        var router = try Fixture.router()
        var other = Fixture.reader
        other.id = "TEAM.org.example.other"
        var twin = Fixture.reader
        twin.name = "Twin"
        router.apps += [other, twin]
        guard case .app(let app, _) = try route(Fixture.link, router) else {
            Issue.record("no app")
            return
        }
        #expect(app.id == "TEAM.org.example.reader" && app.name == "Reader")
        // The domains of the second one do not count either.
        twin.associatedDomains = Fixture.domains("applinks:twin.example")
        router.apps = [Fixture.reader, twin]
        router.associations["twin.example"] = router.associations["example.org"]
        guard case .browser = try route("https://twin.example/buy/42", router) else {
            Issue.record("the second app's domain counts")
            return
        }
        router.apps = [Fixture.reader, other]
        #expect(router.universalLink(try Fixture.uri(Fixture.link)).app == Fixture.reader.id)
        // The sites of other services are not asked for links.
        other.associatedDomains = Fixture.domains(
            "webcredentials:w.example",
            "applinks:*.a.example",
            "applinks:a.example",
            "applinks:b.example"
        )
        #expect(other.linkedDomains == ["a.example", "b.example"])
    }

    @Test func `The files that are asked about one link share one limit of work`() throws {
        var router = try Fixture.router()
        var other = Fixture.reader
        other.id = "TEAM.org.example.other"
        other.associatedDomains = Fixture.domains("applinks:shop.example.org")
        router.apps.append(other)
        let entry = #"{"appIDs":["TEAM.org.example.other"],"paths":["*a*a*a*a*a*a*a*a*a*b"]}"#
        router.associations["shop.example.org"] = try Fixture.matcher(
            Array(repeating: entry, count: 1500).joined(separator: ",")
        )
        // Nothing is left for the file of example.org, which would open it.
        let long = "https://shop.example.org/buy/" + String(repeating: "a", count: 30_000)
        let answer = router.universalLink(try Fixture.uri(long))
        #expect(answer.app == nil)
        #expect(answer.why.contains("too complex"), "\(answer.why)")
        #expect(router.universalLink(try Fixture.uri("https://shop.example.org/buy/aa")).app == Fixture.reader.id)
    }

    @Test func `The file of the longest entry is asked first`() throws {
        var router = try Fixture.router()
        var other = Fixture.reader
        other.id = "TEAM.org.example.other"
        other.associatedDomains = Fixture.domains("applinks:shop.example.org")
        router.apps.append(other)
        #expect(router.universalLink(try Fixture.uri("https://shop.example.org/buy/1")).app == Fixture.reader.id)
        router.associations["shop.example.org"] = try Fixture.matcher(
            #"{"appIDs":["TEAM.org.example.other"],"components":[{}]}"#
        )
        #expect(router.universalLink(try Fixture.uri("https://shop.example.org/buy/1")).app == other.id)
        router.associations = [:]
        let answer = router.universalLink(try Fixture.uri("https://shop.example.org/buy/1"))
        #expect(answer.app == nil)
        #expect(answer.why.contains("shop.example.org"))
    }

    @Test func `The file of the longest domain is asked first, and a wildcard makes no domain longer`() throws {
        var router = try Fixture.router()
        router.apps[0].associatedDomains = Fixture.domains("applinks:*.example.org")
        var other = Fixture.reader
        other.id = "TEAM.org.example.other"
        other.associatedDomains = Fixture.domains("applinks:z.example.org")
        router.apps.append(other)
        router.associations["z.example.org"] = try Fixture.matcher(
            #"{"appIDs":["TEAM.org.example.other"],"components":[{"/":"/buy/1"}]}"#
        )
        #expect(router.universalLink(try Fixture.uri("https://z.example.org/buy/1")).app == other.id)
        // What the first file does not open, the second one may.
        #expect(router.universalLink(try Fixture.uri("https://z.example.org/buy/2")).app == Fixture.reader.id)
        router.associations = [:]
        let why = router.universalLink(try Fixture.uri("https://z.example.org/buy/1")).why
        #expect(why == "The association file of z.example.org is not there; nfc links fetch gets it.")
    }

    @Test(arguments: [
        ("mailto:a@b.example", LinkScheme.mail), ("SMS:+491234", .textMessage), ("tel:+491234", .call),
        ("facetime:a@b.example", .faceTime), ("FaceTime-Audio:a@b.example", .faceTimeAudio),
        ("http://maps.apple.com/?q=cafe", .map), ("https://maps.apple.com/?ll=1,2", .map),
        ("X-HM://00123", .homeKit), ("geo:52.5,13.4", .map),
    ])
    func `Some schemes go to the system`(text: String, scheme: LinkScheme) throws {
        #expect(try route(text, try Fixture.router()) == .system(scheme))
    }

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "smb://host/x", "reader:x",
        "vbscript:x", "blob:x", "ftp://h/", "unknown:x",
    ])
    func `Custom schemes are refused, and with the switch only an app's own are taken`(text: String) throws {
        #expect(try route(text, try Fixture.router()) == .refused(.customScheme))
        var router = try Fixture.router(allowsCustomSchemes: true)
        // An app that registers a scheme of the system does not get it.
        router.apps[0].schemes += ["javascript", "file", "data", "smb", "geo", "vbscript", "blob", "ftp"]
        let expected: LinkRoute = text == "reader:x" ? .customScheme(router.apps[0]) : .refused(.noApp)
        #expect(try route(text, router) == expected)
    }
}
