// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `The command of a desktop entry` {
    private func entry(_ exec: String, _ more: String = "") throws -> DesktopEntry {
        let text = "[Desktop Entry]\nType=Application\nName=An App\nExec=\(exec)\n\(more)\n"
        return try #require(DesktopEntry(parsing: Array(text.utf8)))
    }

    private func words(_ exec: String, uri: String? = "x:1", _ more: String = "") throws -> [String] {
        let entry = try entry(exec, more)
        return try StartCommand(parsing: try #require(entry.command)).arguments(uri: uri, entry: entry, path: "/e")
    }

    @Test(arguments: [
        ("app", ["app"]), ("/opt/a/app  -x   %u", ["/opt/a/app", "-x", "x:1"]), ("app %U", ["app", "x:1"]),
        ("app --link=%u --", ["app", "--link=x:1", "--"]), ("\"my app\" %u", ["my app", "x:1"]),
        (#"app "a \\"b\\" \\$c \\\\ \\`" %u"#, ["app", #"a "b" $c \ `"#, "x:1"]), ("app \"\" %u", ["app", "", "x:1"]),
        ("app \"a;b|c>d\" %u", ["app", "a;b|c>d", "x:1"]), ("app %f %d %D %n %N %v %m", ["app"]),
        ("app %c %k 50%%", ["app", "An App", "/e", "50%"]), ("env A=%u app", ["env", "A=x:1", "app"]),
        ("app\\s%u", ["app", "x:1"]), ("app ü", ["app", "ü"]),
    ])
    func `Words are as they are written, and codes are replaced`(exec: String, expected: [String]) throws {
        #expect(try words(exec) == expected)
    }

    @Test func `Without a link its code is left away, and without an icon that too`() throws {
        #expect(try words("app %u %i", uri: nil) == ["app"])
        #expect(try words("app %i", "Icon=a b") == ["app", "--icon", "a b"])
        #expect(try StartCommand(parsing: "app %u").takesURI)
        #expect(!(try StartCommand(parsing: "app %f").takesURI))
        // A link is never looked at for codes.
        #expect(try words("app %u", uri: "x:%i%%25%u") == ["app", "x:%i%%25%u"])
    }

    @Test(arguments: [
        "app;ls", "app `ls`", "app $HOME", "app 'a'", "app > f", "app & x", "app | x", "app *", "app ~", "app #",
        "app ?", "app (x)", "app \"a", "app a\"b\"", "app \"a\"b", "app \"%u\"", "app %x", "app %", "app %u %u",
        "app %u %F", "app x%U", "app x%i", "%u", "a=b app", "./app", "bin/app", "app\\nls", "app\\tls",
        "app \"a\\\\b\"",
        "app \\\\", "app \u{7F}", "app \"\u{0}\"",
    ])
    func `What only a shell understands, or nobody, is refused`(exec: String) {
        #expect(throws: (any Error).self) { try words(exec) }
    }

    @Test func `Keys are taken from the entry's group`() throws {
        let more = """
            TryExec=/opt/a b
            Path=/opt\\sx
            Terminal=true
            Implements=org.a.B;org.opencorenfc.UserActivity1;
            [Other]
            Icon=x
            """
        let entry = try entry("app", more)
        #expect(entry.neededProgram == "/opt/a b")
        #expect(entry.folder == "/opt x")
        #expect(entry.needsTerminal && entry.takesMessages)
        #expect(entry.icon == nil)
    }
}

@Suite struct `What the person chose` {
    @Test func `A domain is chosen for by itself, or with all below it`() throws {
        var choices = LinkChoices()
        #expect(choices.choose("Bücher.example", isBrowser: true) == "xn--bcher-kva.example")
        #expect(choices.choose("*.example.org", isBrowser: true) == "*.example.org")
        #expect(choices.choose("a b", isBrowser: true) == nil)
        #expect(choices.choose("a.example\nx.example", isBrowser: true) == nil)
        for host in ["xn--bcher-kva.example", "xn--bcher-kva.example:8443", "a.example.org", "a.b.example.org"] {
            #expect(choices.opensBrowser(for: host), "\(host)")
        }
        for host in ["example.org", "a.xn--bcher-kva.example", "example", "", "[::1]", "notexample.org"] {
            #expect(!choices.opensBrowser(for: host), "\(host)")
        }
        #expect(LinkChoices(parsing: choices.file) == choices)
        _ = choices.choose("*.example.org", isBrowser: false)
        #expect(choices.browserDomains == ["xn--bcher-kva.example"])
        #expect(
            LinkChoices(parsing: Array("x\n\u{0} browser\na.example browser\nb.example app\n".utf8)).browserDomains == [
                "a.example"
            ]
        )
    }

    @Test func `The router follows it`() throws {
        var router = try Fixture.router()
        let uri = try Fixture.uri(Fixture.link)
        _ = router.choices.choose("example.org", isBrowser: true)
        guard case .browser(let why) = router.route(uri) else {
            Issue.record("not the browser")
            return
        }
        #expect(why.contains("nfc apps choose"))
    }

    @Test func `What nothing opens is shown, and has no button`() throws {
        var router = try Fixture.router()
        router.unopenedSchemes = [.homeKit]
        let content = try #require(NotificationContent(try Fixture.uri("X-HM://0023"), router: router))
        #expect(content.body.hasPrefix("No app opens “x-hm:” links, such as “0023”. "))
        #expect(content.actionTitle == nil)
        #expect(NotificationContent(try Fixture.uri("tel:1"), router: router)?.actionTitle == "Open")
    }

    @Test(arguments: [
        ("?ll=50.894967,4.341626", "geo:50.894967,4.341626"), ("?q=A%20B&z=3", "geo:0,0?q=A%20B"),
        ("?sll=1%2C-2&q=x#f", "geo:1,-2?q=x"), ("?address=1%20Way", "geo:0,0?q=1%20Way"),
        ("?ll=91,0&q=x", "geo:0,0?q=x"), ("?ll=0x1,2&daddr=y", "geo:0,0?q=y"),
        // The item that says the most counts, and of two of a name the first.
        ("?sll=3,4&ll=1,2", "geo:1,2"), ("?sll=3,4&coordinate=1,2", "geo:1,2"), ("?ll=1,2&ll=3,4", "geo:1,2"),
        ("?name=n&daddr=d", "geo:0,0?q=d"), ("?address=1%20Way&q=x", "geo:0,0?q=x"), ("?q=a&q=b", "geo:0,0?q=a"),
    ])
    func `A place on a map is a geo URI`(query: String, expected: String) {
        #expect(MapPlace("http://maps.apple.com/" + query)?.uri == expected)
    }

    @Test func `A map link without a place is not valid`() {
        for link in ["http://maps.apple.com/", "http://maps.apple.com/?", "http://maps.apple.com/?t=k&ll=1"] {
            #expect(MapPlace(link) == nil)
        }
    }
}
