// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc links explain` {
    private let user: User

    init() throws {
        user = try User()
        try user.write("bin/xdg-open", "#!/bin/sh\n", mode: 0o755)
        try user.write("aasa", User.association)
    }

    private func explain(_ file: String, _ url: String, _ words: String...) throws -> (
        text: Command.Outcome, json: [String: Any]
    ) {
        let arguments = ["links", "explain", file, url] + words
        let json = try user.nfc.run(arguments + ["--json"])
        let text = try user.nfc.run(arguments)
        let object = try #require(try json.objects().first)
        #expect(json.status == text.status)
        #expect(object["ok"] as? Bool == (text.status == 0))
        return (text, object)
    }

    @Test func `The JSON has every rule, and which were not reached`() throws {
        let file =
            #"{"applinks":{"details":[{"appIDs":["T.a"],"paths":["/x","/y","/z"]},{"appIDs":["T.b"],"paths":["*"]}]}}"#
        try user.write("two", file)
        let found = try explain(user.scratch.path("two"), "https://h.example/y", "--app", "T.a").json
        let rules = try #require(found["rules"] as? [[String: Any]])
        #expect(rules.map { $0["verdict"] as? String } == ["differs", "matches", "not-reached", "not-asked"])
        #expect(rules.map { $0["reached"] as? Bool } == [true, true, false, false])
        #expect(rules.map { $0["differs_in"] as? [String] } == [["path"], [], [], []])
        #expect(rules[1]["rule"] as? String == found["rule"] as? String)
        #expect(found["app"] as? String == "T.a" && found["error"] is NSNull)
        let none = try explain(user.scratch.path("two"), "https://h.example/q", "--app", "T.a")
        #expect(none.json["error"] as? String == "no-app")
        #expect(none.json["message"] as? String == "No rule of an installed app matches the URL.")
        #expect(none.text.lines.last == "No app: No rule of an installed app matches the URL.")
    }

    @Test func `Without --app nothing is said of installed apps`() throws {
        let found = try explain(user.scratch.path("aasa"), "https://h.example/q")
        #expect(found.json["why"] as? String == "No rule of the file matches the URL.")
        #expect(found.text.lines.last == "No app: No rule of the file matches the URL.")
    }

    @Test(arguments: [
        ("good.site.example/x/1", "The link has no scheme. Write https:// before it."),
        ("good.site.example:443/x/1", "The link has no scheme. Write https:// before it."),
        ("reader:x", "Custom schemes are not read in the background. Use a universal link."),
        ("tel:+49123", "No association file decides where the link goes. The desktop's app for tel: links opens it."),
        ("https:///x", "The URL has no host."), ("https:good.site.example/x", "The link has no // after https:"),
        ("tel:", "The link has no target"),
        ("https://a\u{200B}b.example/x", "The link's host or port is invalid"),
        ("https://good.site.example:99999/x/1", "The link's host or port is invalid"),
        ("https://good.site.example\\x/1", "The link's host or port is invalid"),
    ])
    func `What is no web link says why, in words and as JSON`(link: String, reason: String) throws {
        let found = try explain(user.scratch.path("aasa"), link)
        #expect(found.json["error"] as? String == "no-link")
        let message = try #require(found.json["message"] as? String)
        #expect(message.hasPrefix(reason), "\(message)")
        #expect(found.text.error == "Error: \(message)\n")
    }

    @Test(arguments: [
        ("http://good.site.example/x/1", true), ("HTTPS://GOOD.site.example/x/1", true),
        ("https://good.site.example./x/1", true), ("https://good.site.example:8443/x/1", true),
        ("https://u:p@good.site.example/x/1", true), ("https://good.site.example@evil.example/x/1", false),
        ("https://good.site.example/x%2F1", false), ("https://good.site.example/x/..", true),
        ("https://good.site.example/a/../x/1", false), ("https://good.site.example/X/1", false),
        ("https://good.site.example/x/\u{E9} 1", true), ("https://good.site.example/", false),
        ("https://b.good.site.example/x/1", false), ("https://g\u{43E}od.site.example/x/1", false),
    ])
    func `It agrees with what the service does with the link of a tag`(link: String, opens: Bool) throws {
        try user.cache(User.association)
        let found = try explain("good.site.example", link)
        let here = opens ? "TEAM.org.example.reader" : "browser"
        #expect(found.json["opens_here"] as? String == here)
        let url = try #require(found.json["url"] as? String)
        #expect(found.text.lines.contains("Read as \(url)") == (url != link), "\(found.text)")
        _ = try user.add(link)
        let listed = try #require(try user.nfc.run("inbox", "list", "--json").objects().first)
        #expect(listed["opens"] as? String == here)
        #expect(listed["uri"] as? String == found.json["url"] as? String)
        #expect(found.text.lines.last == "On this machine: \(found.json["here"] as? String ?? "")")
        #expect(try user.nfc.run("inbox", "list").output.contains(found.json["here"] as? String ?? "-"))
        // Of a subdomain the file may have a rule, while no app lists it.
        if !link.contains("b.good.") { #expect((found.text.status == 0) == opens, "\(found.text)") }
    }

    @Test func `A link of another domain follows another file, and a chosen browser is named`() throws {
        try user.cache(User.association)
        let other = try explain("good.site.example", "https://other.example/x/1").json
        #expect(
            other["why"] as? String == "The file is of good.site.example. Links of other.example follow another file."
        )
        #expect(try user.nfc.run("apps", "choose", "good.site.example", "browser").status == 0)
        let chosen = try explain("good.site.example", "https://good.site.example/x/1").json
        #expect(chosen["app"] as? String == "TEAM.org.example.reader")
        #expect(chosen["opens_here"] as? String == "browser")
    }

    @Test(arguments: [
        ("https://1.2.3.4/x/1", "No app can have 1.2.3.4 as an associated domain: it is an address."),
        ("https://[::1]/x/1", "No app can have [::1] as an associated domain: it is an address."),
        ("https://localhost/x/1", "No app can have localhost as an associated domain: it has no dot"),
        ("https://maps.apple.com/x/1?ll=1,2", "Pages of maps.apple.com open in the maps app or the browser"),
    ])
    func `No file decides about links of hosts that are no domains, and of maps`(link: String, why: String) throws {
        let found = try explain(user.scratch.path("aasa"), link)
        #expect(found.json["app"] is NSNull && found.json["error"] as? String == "no-app")
        #expect((found.json["why"] as? String)?.hasPrefix(why) == true, "\(found.json)")
        #expect(found.text.lines.last?.hasPrefix("No app: \(why)") == true)
    }

    @Test(arguments: ["bogus", "a..b", "T.a b", ""])
    func `An identifier that can't be one is wrong usage`(app: String) throws {
        for words in [["check", "aasa"], ["explain", "aasa", "https://h.example/"]] {
            let outcome = try user.nfc.run(["links"] + words + ["--app", app])
            #expect(outcome.status == 2 && outcome.error.contains("can't be an application identifier"), "\(outcome)")
        }
    }
}

@Suite(.ownThreads) struct `Files of sites that failed` {
    private func write(_ user: User, _ failure: String, asked: Int64 = 0) throws {
        let now = Int64(Date().timeIntervalSince1970)
        try user.write("cache/nfc/links/good.site.example.links", "nfc-links 2 \(now - asked) - - 1 \(failure)\n")
    }

    @Test func `Fetch says whether it tried, and does not call a try of before its own`() throws {
        let user = try User()
        try write(user, "timeout: It takes too long.")
        let kept = try user.nfc.run("links", "fetch")
        #expect(kept.output.contains("; the last try, just now, failed: "), "\(kept)")
        #expect(try user.nfc.run("links", "fetch", "--json").objects().first?["tried"] as? Bool == false)
        // Nobody is at this address.
        let words = ["links", "fetch", "--force", "--connect-to", "127.0.0.1:1"]
        let tried = try #require(try user.nfc.run(words + ["--json"]).objects().first)
        #expect(tried["tried"] as? Bool == true && tried["error"] as? String == "no-connection", "\(tried)")
        #expect(try user.nfc.run(words).output.contains("; the try just now failed: "))
        #expect(try user.nfc.run("links", "list").output.contains("; the last try, just now, failed: "))
    }

    @Test func `Check names a redirect, a file that was never fetched, and one that its site does not give`() throws {
        let user = try User()
        func check() throws -> [String: Any] {
            let outcome = try user.nfc.run("links", "check", "good.site.example", "--json")
            #expect(outcome.status == 1)
            return try #require(try outcome.objects().first)
        }
        let never = try check()
        #expect(never["error"] as? String == "no-file")
        #expect((never["message"] as? String)?.hasSuffix("nfc links fetch good.site.example") == true)
        try write(user, "timeout: It takes too long.")
        #expect((try check()["message"] as? String)?.contains("timeout: It takes too long.") == true)
        for (failure, id) in [("redirect", "AASA017"), ("too-large", "AASA002"), ("bad-file", "AASA001")] {
            try write(user, "\(failure): The reason.")
            let findings = try #require(try check()["findings"] as? [[String: Any]])
            #expect(findings.compactMap { $0["id"] as? String } == [id])
        }
        // A file of before is checked too.
        let now = Int64(Date().timeIntervalSince1970)
        let size = User.association.utf8.count
        let head = "nfc-links 2 \(now) \(now) \(size) 1 redirect: The reason."
        try user.write("cache/nfc/links/good.site.example.links", head + "\n" + User.association)
        let findings = try #require(try check()["findings"] as? [[String: Any]])
        #expect(findings.map { $0["message"] as? String } == ["The reason. Redirects are not followed."])
    }

    @Test func `An entry without an app says so`() throws {
        let file = #"{"applinks":{"details":[{"paths":["*"]}]}}"#
        let outcome = try User().nfc.run(["links", "check", "-"], input: Data(file.utf8))
        #expect(outcome.lines.first == "details[0], which names no app: 1 rule")
    }

    @Test func `The entries and rules after ignored ones have the positions of the file`() throws {
        let user = try User()
        let file = #"{"applinks":{"details":[0,{"paths":["*"]},{"appIDs":["T.a"],"components":[0,{"/":"/x"}]}]}}"#
        let checked = try user.nfc.run(["links", "check", "-"], input: Data(file.utf8))
        #expect(checked.lines.first == "details[1], which names no app: 1 rule")
        // A wildcard covers this host, which can't be an associated domain itself.
        let link = "https://a-.h.example/x"
        let explained = try user.nfc.run(["links", "explain", "-", link], input: Data(file.utf8))
        #expect(explained.status == 0)
        for start in ["details[2]  T.a", "  details[2].components[1] {"] {
            #expect(explained.lines.contains { $0.hasPrefix(start) }, "\(explained)")
        }
    }

    @Test(arguments: ["1.2.3.4", "localhost", "[::1]"])
    func `A local file is for a domain alone`(name: String) throws {
        let user = try User()
        try user.write("aasa", User.association)
        let outcome = try user.nfc.run("links", "add", name, user.scratch.path("aasa"), "--json")
        #expect(try outcome.objects().first?["error"] as? String == "bad-domain", "\(outcome)")
    }

    @Test func `An app's entry of an address is ignored with a word, and its site is not asked`() throws {
        let user = try User()
        try user.write(
            "data/nfc/apps/org.example.Reader.json",
            #"{"app_id":"TEAM.org.example.reader","associated_domains":["applinks:1.2.3.4","applinks:localhost"]}"#
        )
        let apps = try user.nfc.run("apps")
        #expect((apps.output + apps.error).contains("\"localhost\" has no dot"), "\(apps)")
        let fetched = try user.nfc.run("links", "fetch", "--force")
        #expect(fetched.status == 0 && fetched.output.hasPrefix("No installed app lists a domain."), "\(fetched)")
    }
}
