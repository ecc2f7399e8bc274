// SPDX-License-Identifier: Apache-2.0
import Testing
import UniversalLinks

/// Entries of the entitlement for associated domains, names of hosts, and URLs.
struct AssociatedDomainTests {
    @Test func `Associated domain: the longest entry that covers a host applies, in any order`() {
        let entries = [
            "applinks:*.c.example", "applinks:*.b.c.example", "applinks:a.b.c.example", "applinks:a.a.b.c.example",
        ]
        let rows: [(String, String?)] = [
            ("a.b.c.example", "applinks:a.b.c.example"), ("a.a.b.c.example", "applinks:a.a.b.c.example"),
            ("x.b.c.example", "applinks:*.b.c.example"), ("X.B.C.Example", "applinks:*.b.c.example"),
            ("b.c.example", "applinks:*.c.example"), ("c.example", nil), ("a.b.c.example.org", nil),
        ]
        for (host, entry) in rows {
            for order in [entries, entries.reversed()] {
                #expect(AssociatedDomain.applying(order, host: host)?.entry == entry, "\(host)")
            }
        }
    }

    @Test func `Associated domain: of two entries for one domain the first applies`() {
        let modes = ["applinks:b.example?mode=developer", "applinks:b.example"]
        #expect(AssociatedDomain.applying(modes, host: "b.example")?.mode == .developer)
        #expect(AssociatedDomain.applying(modes.reversed(), host: "b.example")?.mode == nil)
        #expect(AssociatedDomain.applying(modes, service: "appclips", host: "b.example") == nil)
    }

    @Test func `Associated domain: a wildcard covers names below its domain, not the domain`() throws {
        let entry = try #require(AssociatedDomain("applinks:*.b.example"))
        for host in ["a.b.example", "A.B.Example", "a.a.b.example"] { #expect(entry.covers(host), "\(host)") }
        for host in ["b.example", ".b.example", "ab.example"] { #expect(!entry.covers(host), "\(host)") }
    }

    /// Entries, checked for a release and with the link https://h.example/x, and the rules that they break, without DOM.
    static let entries = Row.table(
        """
        + applinks:h.example .
        + applinks:h.example,webcredentials:*.c.example .
        + . 001
        + webcredentials:h.example 002,010
        + h.example,applinks:h.example 003
        + https://h.example,applinks:h.example 003
        + nothing:h.example,applinks:h.example 003
        + applinks:,applinks:h.example 004
        + applinks:https://h.example,applinks:h.example 004
        + applinks:h.example:80,applinks:h.example 004
        + applinks:u@h.example,applinks:h.example 004
        + applinks:h.example/x,applinks:h.example 004
        + applinks:a..example,applinks:h.example 004
        + applinks:1.2.3.4,applinks:h.example 004
        + applinks:localhost,applinks:h.example 004
        + applinks:a.*.example,applinks:h.example 005
        + applinks:**.h.example,applinks:h.example 005
        + appclips:*.h.example,applinks:h.example 005
        + applinks:*.x.example,applinks:h.example 006
        + applinks:*.h.example,applinks:h.example .
        + applinks:h.example?mode=developer 007
        + applinks:h.example?mode=developer+managed 007
        + applinks:h.example?mode=managed .
        + applinks:h.example?mode=x,applinks:h.example 008
        + applinks:h.example?x=developer,applinks:h.example 008
        + applinks:h.example?,applinks:h.example 008
        + applinks:h.example,AppLinks:H.example 009
        + applinks:o.example 010
        """
    )

    @Test(arguments: entries) func `Check of associated domains: reports the broken rule, DOM007 only for a release`(
        _ row: Row
    ) throws {
        let entries = row.subject == "." ? [] : row.subject.split(separator: ",").map(String.init)
        let found = AssociatedDomain.check(entries, url: try LinkURL("https://h.example/x"), isRelease: true)
        #expect(found.map { $0.id.dropFirst(3) }.joined(separator: ",") == row.last)
        // The mode for developers is wrong only in a release.
        let development = AssociatedDomain.check(entries, url: try LinkURL("https://h.example/x"))
        #expect(development.map(\.id) == found.map(\.id).filter { $0 != "DOM007" })
        // What has no effect is an error, and is not an entry.
        if let entry = entries.first, ["004", "005", "008"].contains(row.last) {
            #expect(AssociatedDomain(entry) == nil)
            #expect(found[0].severity == .error)
        }
    }

    @Test func `Check of domains: 30 entries are allowed, 31 are DOM009`() {
        let many = (0..<31).map { "applinks:h\($0).example" }
        #expect(AssociatedDomain.check(many.dropLast()).isEmpty)
        #expect(AssociatedDomain.check(many).map(\.id) == ["DOM009"])
    }

    // MARK: Names of hosts

    /// Names, and what they are in ASCII (RFC 5891, RFC 3492); `-` has no such form.
    static let names = Row.table(
        """
        # RFC 3492, 7.1
        + 他们为什么不说中文.example xn--ihqwcrb4cv8a8dqg056pqjye.example
        + למההםפשוטלאמדבריםעברית.example xn--4dbcagdahymbxekheh6e0a7fei0b.example
        + यहलोगहिन्दीक्योंनहींबोलसकतेहैं.example xn--i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd.example
        + なぜみんな日本語を話してくれないのか.example xn--n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa.example
        + abcdéūя.example xn--abcd-epa49e60n.example
        + ü--a.example xn----a-goa.example
        + a-ü.example xn--a--yka.example
        + कः.example xn--j1b9a.example
        # RFC 5891, 4.2.3: hyphens, and a mark at the beginning.
        - -ü.example .
        - ü-.example .
        - ab--ü.example .
        - xn--ü.example .
        - aü--b.example .
        - \u{301}ü.example .
        - \u{903}\u{915}.example .
        # As it is in ASCII.
        + a--b.example a--b.example
        + r3---sn.example r3---sn.example
        + -a.example -a.example
        # Addresses that programs read in different ways.
        - 127.0.0.01 .
        - 1.2.3.4.5 .
        - 1.2.3.256 .
        - 1.2.3 .
        - 0x7f.0.0.1 .
        """
    )

    @Test(arguments: names) func `Host name: its form in ASCII is that of IDNA`(_ row: Row) {
        #expect(HostName.ascii(row.subject) == (row.isPositive ? row.last : nil))
    }

    @Test func `Host name: labels have up to 63 bytes, names up to 253`() {
        let label = String(repeating: "a", count: 63)
        #expect(HostName.ascii(label + ".example") == label + ".example")
        #expect(HostName.ascii(label + "a.example") == nil)
        let name = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(name.utf8.count == 253 && HostName.ascii(name) == name)
        #expect(HostName.ascii(name + "b") == nil)
        let encoded = (1...70).compactMap { HostName.ascii("ü" + String(repeating: "a", count: $0)) }
        #expect(encoded.map(\.utf8.count).max() == 63)
    }

    @Test func `Domain: an address, a single label and an invalid name each throw their own problem`() {
        let rows: [(String, HostName.DomainProblem)] = [
            ("1.2.3.4", .address), ("[::1]", .address), ("2001:db8::1", .address), ("::", .address),
            ("FE80::1", .address), ("a.b.9", .address), ("a$b.12", .address), ("a$b.0x1f", .address),
            ("a$b.0xfg", .notAName), ("a$b.c", .notAName), ("-a.example", .notAName), ("a-.example", .notAName),
            ("a.-b.example", .notAName), ("a.example-", .notAName), ("localhost", .singleLabel),
        ]
        for (name, problem) in rows { #expect(throws: problem, "\(name)") { try HostName.domain(name) } }
        for name in ["a-b.example", "xn--bcher-kva.example"] { #expect((try? HostName.domain(name)) == name) }
        #expect(AssociatedDomain("applinks:*.B\u{FC}cher.Example.")?.domain == "xn--bcher-kva.example")
    }

    // MARK: URLs

    @Test func `URL: the host is the part after user information, in ASCII and lower case`() throws {
        let rows: [(String, String)] = [
            ("https://h.example/", "h.example"), ("HTTPS://H.Example/", "h.example"), ("hTTp://h.example", "h.example"),
            ("https://a@b.example@h.example/x@y", "h.example"), ("https://u@[2001:DB8::1]:8443/x", "[2001:db8::1]"),
            ("https://b\u{FC}cher.example/é?x#y", "xn--bcher-kva.example"),
        ]
        for (text, host) in rows { #expect(try LinkURL(text).host == host, "\(text)") }
    }

    @Test func `Link URL: a long text, another scheme, no host and a forbidden character each throw their own problem`()
        throws
    {
        let start = "https://h.example/"
        let full = start + String(repeating: "x", count: LinkURL.maximumLength - start.utf8.count)
        _ = try LinkURL(full)
        var rows: [(String, LinkURL.Problem)] = [
            (full + "x", .tooLong), ("javascript:alert(1)", .scheme), ("ftp://h.example/", .scheme),
            ("HTTQS://h.example/", .scheme), ("https:/h.example", .scheme), ("https:///x", .host),
        ]
        rows += ["\u{7F}", "\u{1F}", "\u{0}", " "].map { (start + $0, .forbiddenCharacter) }
        rows += ["[", "[::1", "u@[::1/]", "[::1]e.example", "[::1]]", ":80", "u@", "u@:80"].map {
            ("https://\($0)/x", .host)
        }
        for (text, problem) in rows { #expect(throws: problem, "\(text.suffix(20))") { try LinkURL(text) } }
    }
}
