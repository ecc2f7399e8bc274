// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `Local association files` {
    private let user: User

    init() throws {
        user = try User()
        try user.write("aasa", User.association)
    }

    private func object(_ arguments: String...) throws -> [String: Any] {
        try #require(try user.nfc.run(arguments + ["--json"]).objects().first)
    }

    @Test func `One that is added decides where links go, and is marked wherever it counts`() throws {
        _ = try user.add("https://good.site.example/x/1")
        let added = try user.nfc.run("links", "add", "Good.Site.Example", user.scratch.path("aasa"))
        #expect(added.status == 0, "\(added)")
        #expect(
            added.lines.first?.hasPrefix("Developer mode: links of good.site.example follow the local file") == true
        )
        #expect(try object("inbox", "list")["opens"] as? String == "TEAM.org.example.reader")
        let list = try user.nfc.run("links", "list")
        #expect(list.lines.first?.contains("a local file (developer mode; ") == true, "\(list)")
        #expect(list.lines.last == "  Reader  TEAM.org.example.reader")
        #expect(try object("links", "list")["source"] as? String == "local")
        for words in [
            ["check", "good.site.example"], ["explain", "good.site.example", "https://good.site.example/x/1"],
        ] {
            let outcome = try user.nfc.run(["links"] + words)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.lines.first == "Developer mode: a local file replaces the file of good.site.example.")
            let json = try #require(try user.nfc.run(["links"] + words + ["--json"]).objects().first)
            #expect(json["source"] as? String == "local")
        }
        let fetched = try user.nfc.run("links", "fetch", "--force")
        #expect(fetched.status == 0, "\(fetched)")
        #expect(fetched.output.contains("(developer mode; "))
        #expect(try user.nfc.run("apps").output.contains("a local association file (developer mode)"))
        let domains = try object("apps")["associated_domains"] as? [[String: Any]]
        #expect(domains?.first?["source"] as? String == "local")
    }

    @Test func `The site's own file counts again when it is removed`() throws {
        try user.cache(#"{"applinks":{"details":[]}}"#)
        let added = try user.nfc.run("links", "add", "good.site.example", "-", "--json", input: User.association)
        let members =
            #"{"ok":true,"domain":"good.site.example","source":"local","size":\#(User.association.utf8.count),"#
            + #""apps":["TEAM.org.example.reader"]}"#
        #expect(added.status == 0 && added.output == members + "\n", "\(added)")
        #expect(try user.nfc.run("links", "check", "good.site.example").status == 0)
        let removed = try user.nfc.run("links", "remove", "good.site.example", "--json")
        #expect(removed.status == 0 && removed.output == #"{"ok":true,"domain":"good.site.example"}"# + "\n")
        #expect(try object("links", "check", "good.site.example")["source"] as? String == "site")
        let again = try user.nfc.run("links", "remove", "good.site.example", "--json")
        #expect(again.status == 1)
        #expect(try again.objects().first?["error"] as? String == "not-added")
    }

    @Test func `One of a domain that no app lists is listed, and that is said`() throws {
        let added = try user.nfc.run("links", "add", "other.example", user.scratch.path("aasa"))
        #expect(added.lines.contains("No installed app lists other.example yet. See: nfc apps --help"), "\(added)")
        let list = try user.nfc.run("links", "list").lines
        #expect(list.count == 4 && list.last == "  no installed app lists it", "\(list)")
        let objects = try user.nfc.run("links", "list", "--json").objects()
        #expect(objects.map { $0["domain"] as? String } == ["good.site.example", "other.example"])
        #expect(objects.map { $0["apps"] as? [String] } == [["TEAM.org.example.reader"], []])
        #expect(objects.map { $0["source"] as? String } == [nil, "local"])
    }

    @Test func `What is no association file, and no domain, is refused, and nothing is kept`() throws {
        try user.write("bad", "<html>")
        for (domain, file, error) in [
            ("good.site.example", "bad", "bad-file"), ("good.site.example", "none", "unreadable-file"),
            ("../x", "aasa", "bad-domain"),
        ] {
            let outcome = try user.nfc.run("links", "add", domain, user.scratch.path(file), "--json")
            #expect(outcome.status == 1)
            #expect(try outcome.objects().first?["error"] as? String == error)
        }
        #expect(try object("links", "list")["source"] is NSNull)
    }

    @Test func `A failure is reported with the time of the next try, and is not tried before`() throws {
        let now = Int64(Date().timeIntervalSince1970)
        let failure = "timeout: The site takes too long to answer."
        try user.write("cache/nfc/links/good.site.example.links", "nfc-links 2 \(now - 600) - - 6 \(failure)\n")
        let outcome = try user.nfc.run("links", "fetch")
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                good.site.example  no file; the last try, 10 minutes ago, failed: \(failure) The next try is due in 22 \
                minutes. To try at once: nfc links fetch good.site.example --force

                """
        )
        let next = try #require(try object("links", "fetch")["next_try_s"] as? Int)
        #expect((1200...1320).contains(next))
        // After many failures it is tried only every six hours, which are rounded up. One that is overdue is due now, and
        // so is one that was tried at a time that has not come yet.
        let file = "cache/nfc/links/good.site.example.links"
        try user.write(file, "nfc-links 2 \(now - 600) - - 10 \(failure)\n")
        #expect(try user.nfc.run("links", "list").output.contains(" The next try is due in 6 hours. "))
        for asked in [now + 100_000, now - 100_000] {
            try user.write(file, "nfc-links 2 \(asked) - - 1 \(failure)\n")
            #expect(try user.nfc.run("links", "list").output.contains(" The next try is due now. "))
        }
        #expect(try object("links", "list")["next_try_s"] as? Int == 0)
    }
}
