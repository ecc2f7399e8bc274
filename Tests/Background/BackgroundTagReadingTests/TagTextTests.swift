// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// What is taken from a tag's text, at the ends of its ranges, and what of it is shown.
@Suite struct `The text of a tag, at its ends` {
    @Test(arguments: [
        ("http://a.example:80/", "a.example"), ("http://a.example:443/", "a.example:443"),
        ("https://a.example:80/", "a.example:80"), ("https://a.example:443/", "a.example"),
        ("https://a.example:65535/", "a.example:65535"), ("https://a.example:00443/", "a.example"),
        ("https://a.example:080/", "a.example:80"),
    ])
    func `A port is shown unless it is that of the scheme`(_ text: String, _ host: String) throws {
        let uri = try Fixture.uri(text)
        #expect(uri.host == host && uri.text == "\(uri.scheme)://\(host)/")
    }

    @Test func `A scheme has up to 64 characters, and a port two bytes`() {
        let scheme = String(repeating: "a", count: 64)
        #expect(TagURI(scheme + ":x")?.scheme == scheme && TagURI(scheme + "a:x") == nil)
        #expect(TagURI("https://a.example:65536/") == nil)
    }

    @Test func `A tag that makes up its identifiers is known by its link without what follows a hash`() throws {
        #expect(try Fixture.uri("https://a.example/x#1").stem == "https://a.example/x")
        var bench = try Bench()
        #expect(try bench.read("https://example.org/buy/1#c=1", tag: [8, 1, 2, 3]).count == 1)
        #expect(try bench.read("https://example.org/buy/1#c=2", tag: [8, 4, 5, 6]) == [])
    }

    @Test(
        arguments: [
            ("geo:1,2,3,4", nil), ("geo:1e1,2", nil), ("geo:1,2,3", "geo:1,2"), ("geo:1,2;crs=moon;crs=wgs84", nil),
            ("https://maps.apple.com/?ll=1%2c2", "geo:1,2"), ("https://maps.apple.com/?ll=1e1,2", nil),
            ("https://maps.apple.com/?ll=1,2,3", nil),
        ] as [(String, String?)]
    )
    func `A place has two numbers in plain digits, and in a geo link an altitude`(_ text: String, _ place: String?) {
        #expect(MapPlace(text)?.uri == place)
    }

    @Test(arguments: [
        "about", "admin", "afc", "afp", "applications", "archive", "blob", "burn", "cdda", "chrome", "computer", "data",
        "dav", "davs", "dns-sd", "file", "fish", "ftp", "ftps", "geo", "gphoto2", "help", "http", "https", "javascript",
        "jar", "localtest", "man", "mtp", "network", "news", "nfs", "resource", "recent", "rdp", "rlogin", "sftp",
        "smb",
        "ssh", "starred", "telnet", "tftp", "trash", "urn", "vbscript", "view-source", "vnc", "ws", "wss", "mailto",
        "sms", "tel", "facetime", "facetime-audio", "x-hm", "no_scheme", "9a", "",
    ])
    func `A scheme of the system, and what is none, is no app's own`(_ scheme: String) throws {
        let types = "x-scheme-handler/\(scheme);x-scheme-handler/own"
        let text = "[Desktop Entry]\nType=Application\nName=App\nMimeType=\(types)\n"
        #expect(try #require(DesktopEntry(parsing: Array(text.utf8))).schemes == ["own"])
    }

    @Test func `A line of choices has two words`() {
        let text = "a.example browser x\nb.example browser\nbrowser\n c.example  browser \n"
        #expect(LinkChoices(parsing: Array(text.utf8)).browserDomains == ["b.example", "c.example"])
    }

    // MARK: What is shown

    @Test func `Each letter keeps its two marks, and each kind of space is a plain one`() {
        let letters = "e\u{0301}\u{0302}a\u{0301}\u{0302}\u{0303} o\u{0301}"
        #expect(
            Array(DisplayText.plain(letters, limit: 20).unicodeScalars)
                == Array("e\u{0301}\u{0302}a\u{0301}\u{0302} o\u{0301}".unicodeScalars)
        )
        // Marks on a space are marks on a letter of their own.
        let spaced = Array(DisplayText.plain("e\u{0301}\u{0302} \u{0301}", limit: 20).unicodeScalars)
        #expect(spaced == Array("e\u{0301}\u{0302} \u{0301}".unicodeScalars))
        #expect(DisplayText.plain("a\u{2003}b\u{00A0}c", limit: 20) == "a b c")
    }

    @Test func `Of a long address both ends are shown, for its end says where a mail goes`() throws {
        let address = String(repeating: "a", count: 120) + "@evil.example"
        let uri = try Fixture.uri("mailto:" + address)
        let content = try #require(NotificationContent(uri, route: .system(.mail)))
        let half = String(repeating: "a", count: 50)
        #expect(content.body == "Write a mail to “\(half)…\(address.suffix(49))”")
    }

    @Test func `A link that was not opened, or that another program opens, can be clicked again`() {
        let failed = NotificationContent.notOpened(reason: "No app.")
        #expect(failed.title == "The Link Was Not Opened" && failed.body == "No app.")
        #expect(failed.actionTitle == "Try Again" && failed.host == nil)
        let open = NotificationContent.beingOpened
        #expect(open.title == "The Link Is Being Opened" && open.body == "Another program opens it now.")
        #expect(open.actionTitle == "Open" && open.host == nil)
    }
}
