// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing
import UniversalLinks

/// The files of an app: its description, its desktop entry, and the command in it (Desktop Entry Specification 1.5).
struct AppFileTests {
    private func description(_ text: String) throws(AppError) -> AppDescription {
        try AppDescription(parsing: Array(text.utf8))
    }

    private func entry(_ lines: String...) -> DesktopEntry? {
        let text = ["[Desktop Entry]", "Type=Application", "Name=An App"] + lines
        return DesktopEntry(parsing: Array(text.joined(separator: "\n").utf8))
    }

    // MARK: Descriptions

    @Test func `App description: the identifier and the domains are read, a domain in Unicode becomes ASCII`() throws {
        let app = try description(
            #"{"app_id":"T.org.x","associated_domains":["applinks:*.Bücher.example?mode=developer","nonsense"],"x":1}"#
        )
        #expect(app.id == "T.org.x")
        #expect(app.associatedDomains.map(\.entry) == ["applinks:*.xn--bcher-kva.example?mode=developer"])
        #expect(app.ignoredDomains == ["nonsense"] && app.remarks.count == 1)
    }

    @Test func `App description: an invalid, deep or too large file throws AppError, the largest is read`() throws {
        let texts = [
            "", "[]", "{}", #"{"app_id":"x","associated_domains":[]}"#, #"{"app_id":"T.x"}"#,
            #"{"app_id":"T.x/../y","associated_domains":[]}"#, #"{"app_id":5,"associated_domains":[]}"#,
            #"{"app_id":"T..x","associated_domains":[]}"#, #"{"app_id":"T.a\u00e9","associated_domains":[]}"#,
            String(repeating: "[", count: 60_000),
        ]
        for text in texts {
            #expect(throws: AppError.self, "\(text.prefix(40))") { try description(text) }
        }
        let text = #"{"app_id":"T.x","associated_domains":[]}"#
        let full = text + String(repeating: " ", count: AppDescription.maximumSize - text.utf8.count)
        #expect(try description(full).id == "T.x")
        #expect(throws: AppError.self) { try description(full + " ") }
        let identifier = "T." + String(repeating: "x", count: 253)
        #expect(AppDescription.isIdentifier(identifier) && !AppDescription.isIdentifier(identifier + "x"))
    }

    @Test(arguments: [100, 101]) func `App description: 100 domains are read, the 101st is left out with a remark`(
        _ count: Int
    ) throws {
        let domains = (0..<count).map { #""applinks:a\#($0).example""# }.joined(separator: ",")
        let app = try description(#"{"app_id":"T.x","associated_domains":[\#(domains)]}"#)
        #expect(app.associatedDomains.count == AppDescription.maximumDomains)
        #expect(app.remarks.count == count - 100)
    }

    @Test(arguments: [
        ("example.org", "has no service"), ("https://example.org", "has no service"),
        ("applinks:https://example.org", "scheme, path, port"), ("applinks:example.org/x", "scheme, path, port"),
        ("applinks:", "has no domain"), ("applinks:a.*.example", "has a wildcard"),
        ("applinks:a.example?mode=x", "has a mode other"), ("applinks:a..example", "can't be the name of a domain"),
        ("applinks:1.2.3.4", "is an address"), ("applinks:localhost", "has no dot"),
    ])
    func `App description: an invalid associated domain is ignored, and a remark gives the reason`(
        _ entry: String,
        _ reason: String
    ) throws {
        let app = try description(#"{"app_id":"TEAM.a.b","associated_domains":["\#(entry)","applinks:good.example"]}"#)
        #expect(app.associatedDomains.map(\.domain) == ["good.example"])
        #expect(app.ignoredDomains == [entry] && app.remarks.count == 1)
        #expect(app.remarks[0].contains(reason), "\(app.remarks)")
    }

    // MARK: Desktop entries

    @Test func `Desktop entry of a visible app: read from the group Desktop Entry, of a repeated key the first value`()
        throws
    {
        let text = """
            # A comment
            Icon=no\r
            [Desktop Entry]
            Type=Application
            \tName\t= Reader\u{202E}
            Name[de]=Leser
            Name=Second
            DBusActivatable=true
            MimeType=text/plain;x-scheme-handler/READER;x-scheme-handler/https;x-scheme-handler/file;
            Implements=org.a.B;org.opencorenfc.UserActivity1;
            TryExec=/opt/a b
            Path=/opt\\sx
            Terminal=true
            Icon=a=b\r
            Exec=sh -c evil
            [Desktop Action x]
            Name=Other
            """
        let entry = try #require(DesktopEntry(parsing: Array(text.utf8)))
        #expect(entry.name == "Reader\u{FFFD}" && entry.icon == "a=b")
        #expect(entry.isBusActivated && entry.takesMessages && entry.needsTerminal)
        #expect(entry.schemes == ["reader"] && entry.neededProgram == "/opt/a b" && entry.folder == "/opt x")
        for (old, new) in [
            ("Application", "Link"), ("Exec=", "Hidden=true\nExec="), ("\tName\t= Reader\u{202E}", "Name="),
        ] {
            #expect(DesktopEntry(parsing: Array(text.replacing(old, with: new).utf8)) == nil, "\(new)")
        }
        #expect(DesktopEntry(parsing: [0xFF, 0xFE]) == nil)
    }

    @Test func `Desktop entry: an empty value is the same as none, and only 'true' turns a switch on`() throws {
        let found = try #require(
            entry("Path=", "Icon=", "Exec=", "TryExec=", "Hidden=false", "Terminal=True", "MimeType=")
        )
        #expect(found.folder == nil && found.icon == nil && found.command == nil && found.neededProgram == nil)
        #expect(!found.needsTerminal && found.schemes == [] && !found.isBusActivated)
        #expect(entry("DBusActivatable=1")?.isBusActivated == false)
    }

    @Test(arguments: [
        (#"/a\sb"#, "/a b"), (#"/a\nb"#, "/a\nb"), (#"/a\tb"#, "/a\tb"), (#"/a\rb"#, "/a\rb"), (#"/a\\b"#, #"/a\b"#),
        (#"/a\xb"#, #"/a\xb"#), (#"/a\"#, #"/a\"#), (#"/a\\"#, #"/a\"#),
    ])
    func `Desktop entry: escapes of a value are resolved, unknown ones stay`(_ written: String, _ folder: String) {
        #expect(entry("Path=\(written)")?.folder == folder)
    }

    @Test func `Desktop entry: at most the maximum size, 1000 MIME types and a valid name of 200 characters are taken`()
        throws
    {
        let text = Array("[Desktop Entry]\nType=Application\nName=App\n#".utf8)
        let full = text + [UInt8](repeating: 0x78, count: DesktopEntry.maximumSize - text.count)
        #expect(DesktopEntry(parsing: full)?.name == "App" && DesktopEntry(parsing: full + [0x78]) == nil)
        for (count, isSeen) in [(999, true), (1000, false)] {
            let types = String(repeating: "text/plain;", count: count) + "x-scheme-handler/own;"
            #expect(try #require(entry("MimeType=\(types)")).schemes == (isSeen ? ["own"] : []))
        }
        let name = "a." + String(repeating: "x", count: 198)
        #expect(DesktopEntry.isName(name) && !DesktopEntry.isName(name + "x") && DesktopEntry.isName("az.AZ.09.-_"))
        for name in ["../x", "a/b", "", "a..b", "a b", "a\u{0}b", ".a", "a.", "a:b", "a@b", "a[b", "a{b", "a\u{E9}"] {
            #expect(!DesktopEntry.isName(name), "\(name)")
        }
    }

    @Test(arguments: [
        "about", "admin", "blob", "computer", "data", "dav", "file", "ftp", "geo", "http", "https", "javascript", "jar",
        "network", "nfs", "rdp", "sftp", "smb", "ssh", "telnet", "trash", "vbscript", "view-source", "vnc", "ws", "wss",
        "mailto", "sms", "tel", "facetime", "facetime-audio", "x-hm", "no_scheme", "9a", "",
    ])
    func `Desktop entry: schemes of the system are not an app's own`(_ scheme: String) throws {
        let found = try #require(entry("MimeType=x-scheme-handler/\(scheme);x-scheme-handler/own"))
        #expect(found.schemes == ["own"])
    }

    @Test func `D-Bus object path of an app: derived from the name of its desktop entry, nil for an invalid name`() {
        #expect(DeliveryInterface.objectPath(of: "org.example.My-App") == "/org/example/My_App")
        for name in ["reader", "org.1x", "org..x", "org/x.y"] { #expect(DeliveryInterface.objectPath(of: name) == nil) }
    }

    // MARK: Commands

    private func words(_ exec: String, uri: String? = "x:1", icon: String = "") throws -> [String] {
        let app = try #require(entry("Exec=\(exec)", "Icon=\(icon)"))
        return try StartCommand(parsing: try #require(app.command)).arguments(uri: uri, entry: app, path: "/e")
    }

    @Test(arguments: [
        ("app", ["app"]), ("/opt/a/app  -x   %u", ["/opt/a/app", "-x", "x:1"]), ("app %U", ["app", "x:1"]),
        ("app --link=%u --", ["app", "--link=x:1", "--"]), ("\"my app\" %u", ["my app", "x:1"]),
        (#"app "a \\"b\\" \\$c \\\\ \\`" %u"#, ["app", #"a "b" $c \ `"#, "x:1"]), ("app \"\" %u", ["app", "", "x:1"]),
        ("app \"a;b|c>d\" %u", ["app", "a;b|c>d", "x:1"]), ("app %f %d %D %n %N %v %m", ["app"]),
        ("app %c %k 50%%", ["app", "An App", "/e", "50%"]), ("env A=%u app", ["env", "A=x:1", "app"]),
        ("app\\s%u", ["app", "x:1"]), ("app ü", ["app", "ü"]), ("app \"50%% off\"", ["app", "50% off"]),
        ("app a%%b%%%u", ["app", "a%b%x:1"]), ("app %i", ["app"]),
    ])
    func `Start command: an Exec line is split into words, and its field codes are replaced`(
        _ exec: String,
        _ expected: [String]
    ) throws {
        #expect(try words(exec) == expected)
    }

    @Test func `Start command: without a link its field code is left out, field codes within a link are not replaced`()
        throws
    {
        #expect(try words("app --link=%u %d", uri: nil) == ["app", "--link="])
        #expect(try words("app %u %i", uri: nil, icon: "a b") == ["app", "--icon", "a b"])
        #expect(try words("app %u", uri: "x:%i%%25%u") == ["app", "x:%i%%25%u"])
        for (text, takesLink) in [("app %U", true), ("app -l=%u", true), ("app %F", false), ("app \"%%u\"", false)] {
            #expect(try StartCommand(parsing: text).takesURI == takesLink, "\(text)")
        }
    }

    @Test(arguments: [
        "app;ls", "app `ls`", "app $HOME", "app 'a'", "app > f", "app & x", "app | x", "app *", "app ~", "app #",
        "app ?", "app (x)", "app \"a", "app a\"b\"", "app \"a\"b", "app \"%u\"", "app \"50%\"", "app %x", "app %",
        "app %u %u", "app %u %F", "app %f %u", "app x%F", "app x%U", "app x%i", "%u", "app%u", "%c", "a=b app", "./app",
        "bin/app", "app\\nls", "app\\tls", "app \"a\\\\b\"", "app \\\\", "app \u{7F}", "app \"\u{0}\"",
    ])
    func `Start command: what needs a shell, or is ambiguous, is refused`(_ exec: String) {
        #expect(throws: (any Error).self) { try words(exec) }
    }

    @Test func `Start command: 16384 bytes are allowed, one more or two field codes for links throw AppError`() throws {
        let full = "app " + String(repeating: "x", count: (1 << 14) - 4)
        #expect(try StartCommand(parsing: full).program == "app")
        #expect(throws: AppError.self) { try StartCommand(parsing: full + "x") }
        let several = #expect(throws: AppError.self) { try StartCommand(parsing: "app %f %u") }
        #expect(several?.isAmbiguous == true)
    }

    // MARK: Choices

    @Test
    func `Browser choices: a domain covers itself, a wildcard all names below it, and saved choices are read back`()
        throws
    {
        var choices = LinkChoices()
        #expect(choices.choose("Bücher.example", isBrowser: true) == "xn--bcher-kva.example")
        #expect(choices.choose("*.example.org", isBrowser: true) == "*.example.org")
        for text in ["a b", "a.example\nx.example"] { #expect(choices.choose(text, isBrowser: true) == nil) }
        for host in ["xn--bcher-kva.example", "xn--bcher-kva.example:8443", "a.example.org", "a.b.example.org"] {
            #expect(choices.opensBrowser(for: host), "\(host)")
        }
        for host in ["example.org", "a.xn--bcher-kva.example", "example", "", "[::1]", "notexample.org"] {
            #expect(!choices.opensBrowser(for: host), "\(host)")
        }
        #expect(LinkChoices(parsing: choices.file) == choices)
        _ = choices.choose("*.example.org", isBrowser: false)
        #expect(choices.browserDomains == ["xn--bcher-kva.example"])
        let lines = "x\n\u{0} browser\na.example browser x\nb.example app\n c.example  browser \n"
        #expect(LinkChoices(parsing: Array(lines.utf8)).browserDomains == ["c.example"])
    }

    @Test func `Browser choices: a full list of the longest domains is stored, one more domain is refused`() {
        var choices = LinkChoices()
        let label = String(repeating: "a", count: 63)
        func domain(_ number: Int) -> String {
            "*." + [label, label, label, "\(number)" + String(repeating: "b", count: 57)].joined(separator: ".")
        }
        for number in 1000..<1000 + LinkChoices.maximumCount {
            #expect(choices.choose(domain(number), isBrowser: true) != nil)
        }
        #expect(choices.choose("other.example", isBrowser: true) == nil)
        #expect(LinkChoices(parsing: choices.file) == choices)
        #expect(choices.choose(domain(1000), isBrowser: false) != nil)
        #expect(choices.choose("other.example", isBrowser: true) == "other.example")
    }
}
