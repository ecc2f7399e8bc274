// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Several domains and apps, local files in words, and lines that are no questions.
@Suite(.ownThreads) struct `Domains and lines of nfc links` {
    private let user: User

    init() throws {
        user = try User()
        try user.write("aasa", User.association)
    }

    // MARK: Domains

    /// A second app, of a domain of its own and of that of the first.
    private func addWriter() throws {
        let domains = #"["applinks:bad.site.example","applinks:good.site.example"]"#
        try user.write(
            "data/nfc/apps/org.example.Writer.json",
            #"{"app_id":"TEAM.org.example.writer","associated_domains":\#(domains)}"#
        )
        try user.write(
            "data/applications/org.example.Writer.desktop",
            "[Desktop Entry]\nType=Application\nName=Writer\nDBusActivatable=true\n"
        )
    }

    @Test func `A domain of two apps is fetched once, and one that failed makes the whole fail`() throws {
        try addWriter()
        try user.cache(User.association)
        let then = Int64(Date().timeIntervalSince1970) - 7300
        let failure = "10 timeout: It takes too long."
        try user.write("cache/nfc/links/bad.site.example.links", "nfc-links 2 \(then) - - \(failure)\n")
        let all = try user.nfc.run("links", "fetch", "--json")
        #expect(all.status == 1)
        let domains = ["good.site.example", "bad.site.example"]
        #expect(try all.objects().map { $0["domain"] as? String } == domains)
        #expect(try all.objects().map { $0["ok"] as? Bool } == [true, false])
        #expect(all.lines.allSatisfy { $0.contains(#","tried":false,"domain":""#) })
        // Only those that are named, each once.
        let one = try user.nfc.run("links", "fetch", "good.site.example", "GOOD.site.example")
        #expect(one.status == 0 && one.output == "good.site.example  93 bytes, the site answered just now\n", "\(one)")
        let unknown = try user.nfc.run("links", "fetch", "good.site.example", "other.example")
        #expect(unknown.status == 1 && unknown.output == "")
        let sentence = "No installed app lists other.example, so its file is not fetched. See: nfc apps"
        #expect(unknown.error == "Error: \(sentence)\n")
        let listed = try user.nfc.run("links", "list").lines
        #expect(listed.count == 5 && listed[0].hasPrefix("bad.site.example  no file; the last try, "), "\(listed)")
        #expect(
            Array(listed.dropFirst()) == [
                "  Writer  TEAM.org.example.writer", "good.site.example  93 bytes, the site answered just now",
                "  Reader  TEAM.org.example.reader", "  Writer  TEAM.org.example.writer",
            ]
        )
    }

    @Test func `Without an app there is no domain to list`() throws {
        try FileManager.default.removeItem(atPath: user.scratch.path("data/nfc/apps"))
        for command in ["list", "fetch"] {
            let text = try user.nfc.run("links", command)
            #expect(text.status == 0)
            #expect(text.output == "No installed app lists a domain. See: nfc apps --help\n")
            let json = try user.nfc.run("links", command, "--json")
            #expect(json.status == 0 && json.output == "")
        }
    }

    @Test func `What was never fetched says how to get it`() throws {
        let sentence = "The file of good.site.example was not fetched yet. To get it: nfc links fetch good.site.example"
        for words in [["check", "good.site.example"], ["explain", "good.site.example", "https://good.site.example/"]] {
            let outcome = try user.nfc.run(["links"] + words)
            #expect(outcome.status == 1 && outcome.error == "Error: \(sentence)\n", "\(outcome)")
        }
        #expect(
            try user.nfc.run("links", "list").output
                == "good.site.example  no file; to get it: nfc links fetch\n  Reader  TEAM.org.example.reader\n"
        )
        let step = "Name an association file, a domain of nfc links list, or - for standard input."
        let unknown = try user.nfc.object("links", "check", "other.example")
        #expect(unknown["error"] as? String == "unreadable-file")
        #expect(
            unknown["message"] as? String == "other.example can't be read: No such file or directory. \(step)",
            "\(unknown)"
        )
    }

    @Test func `A local file is added and removed in words`() throws {
        let file = user.scratch.path("aasa")
        #expect(
            try user.nfc.run("links", "add", "Good.site.example", file).output == """
                Developer mode: links of good.site.example follow the local file, and its site is not asked.
                To use the site's own file again: nfc links remove good.site.example

                """
        )
        #expect(
            try user.nfc.run("links", "add", "other.example", file).output == """
                Developer mode: links of other.example follow the local file, and its site is not asked.
                No installed app lists other.example yet. See: nfc apps --help
                To use the site's own file again: nfc links remove other.example

                """
        )
        let size = User.association.utf8.count
        let local = #""source":"local","size":\#(size),"age_s":null,"next_try_s":null,"error":null,"message":null"#
        #expect(
            try user.nfc.run("links", "list", "--json").output == #"""
                {"ok":true,"domain":"good.site.example",\#(local),"apps":["TEAM.org.example.reader"]}
                {"ok":true,"domain":"other.example",\#(local),"apps":[]}

                """#
        )
        #expect(
            try user.nfc.run("links", "fetch", "--force", "--json").output
                == #"{"ok":true,"tried":false,"domain":"good.site.example",\#(local)}"# + "\n"
        )
        let removed = try user.nfc.run("links", "remove", "OTHER.example")
        #expect(removed.status == 0)
        let none = "No installed app lists the domain."
        #expect(removed.output == "The local file of other.example is removed. \(none)\n")
        let step = "To get the site's own file: nfc links fetch good.site.example"
        #expect(
            try user.nfc.run("links", "remove", "good.site.example").output
                == "The local file of good.site.example is removed. \(step)\n"
        )
        let again = try user.nfc.run("links", "remove", "other.example")
        #expect(again.status == 1 && again.output == "")
        #expect(again.error == "Error: other.example has no local file. See: nfc links list\n")
        let bad = try user.nfc.run("links", "remove", "bad", "--json")
        #expect(bad.status == 1)
        let reason = "'bad' has no dot, so it is no domain of the internet. Write a name such as example.org."
        #expect(bad.output == #"{"ok":false,"error":"bad-domain","message":"\#(reason)"}"# + "\n")
    }

    @Test func `A local file that can't be saved is a failure`() throws {
        // A file where its folder would be.
        try user.write("config", "")
        let outcome = try user.nfc.run("links", "add", "good.site.example", user.scratch.path("aasa"), "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["ok"] as? Bool == false, "\(outcome)")
    }

    // MARK: Usage

    @Test func `A link or a place that can't be one is wrong usage of check`() throws {
        let file = user.scratch.path("aasa")
        let link = try user.nfc.run("links", "check", file, "--url", "nolink")
        #expect(link.status == 2 && link.output == "")
        #expect(link.error.hasPrefix("Error: --url: The link has no scheme. Write https:// before it.\n"), "\(link)")
        let place = try user.nfc.run("links", "check", file, "--served-at", "x y")
        let example = "https://example.org/.well-known/apple-app-site-association"
        #expect(place.status == 2 && place.output == "")
        #expect(
            place.error.hasPrefix("Error: --served-at: 'x y' is not a site's URL. Give one such as \(example).\n"),
            "\(place)"
        )
        for seconds in ["0", "121"] {
            let outcome = try user.nfc.run("links", "fetch", "--timeout", seconds)
            #expect(outcome.error.hasPrefix("Error: --timeout takes 1 to 120 seconds.\n"), "\(outcome)")
        }
    }

    // MARK: Lines of questions

    /// Lines, each with its answer in JSON, and with what people read.
    private static let lines: [(line: String, json: String, text: String)] = {
        let rest = #""domain":"a.example","url":"https://a.example/""#
        let file = #""aasa":"{\"applinks\":{\"details\":[{\"appIDs\":[\"T.a\"],\"paths\":[\"*\"]}]}}""#
        let type = #"has the wrong type."#
        func refused(_ name: String, _ message: String) -> String {
            #"{"ok":false,"error":"\#(name)","offset":0,"message":"\#(message)"}"#
        }
        let why = "The file is not valid JSON: at byte 0 no JSON value starts here."
        return [
            (#"{"aasa":5}"#, refused("bad-line", "'aasa' \(type)"), "Line 1: 'aasa' \(type) (bad-line)"),
            (
                #"{\#(file),\#(rest),"entitlement":"applinks:a.example","installed":["T.a"]}"#,
                #"{"app":"T.a","rule":"details[0].paths[0] \"*\"","why":"details[0].paths[0] \"*\" matches."}"#,
                #"https://a.example/  T.a  details[0].paths[0] "*" matches."#
            ),
            ("", "", ""),
            (
                "{", refused("bad-json", "The line is not a JSON object."),
                "Line 4: The line is not a JSON object. (bad-json)"
            ),
            (
                #"{"aasa":"x"}"#, refused("bad-line", "'domain' is missing."), "Line 5: 'domain' is missing. (bad-line)"
            ),
            (
                #"{"aasa":"x",\#(rest),"entitlement":["a"],"installed":[]}"#,
                #"{"app":null,"rule":null,"why":"\#(why)"}"#, "https://a.example/  no app  \(why)"
            ),
            (
                #"{\#(file),\#(rest),"entitlement":5,"installed":[]}"#, refused("bad-line", "'entitlement' \(type)"),
                "Line 7: 'entitlement' \(type) (bad-line)"
            ),
            (
                #"{\#(file),\#(rest),"entitlement":["b"],"installed":["a",null]}"#,
                refused("bad-line", "'installed' \(type)"), "Line 8: 'installed' \(type) (bad-line)"
            ),
            ("[]", refused("bad-line", "'the line' \(type)"), "Line 9: 'the line' \(type) (bad-line)"),
        ]
    }()

    @Test func `Each line that can't be answered is named, and the others are answered`() throws {
        let input = Data(Self.lines.map { $0.line + "\n" }.joined().utf8)
        let json = try user.nfc.run(["links", "match", "--json"], input: input)
        #expect(json.status == 1 && json.error == "")
        #expect(json.lines == Self.lines.map(\.json).filter { !$0.isEmpty })
        let text = try user.nfc.run(["links", "match"], input: input)
        #expect(text.status == 1)
        let said = Self.lines.map(\.text).filter { !$0.isEmpty }
        #expect(text.lines == said.filter { !$0.hasPrefix("Line ") })
        #expect(text.error == said.filter { $0.hasPrefix("Line ") }.map { $0 + "\n" }.joined())
    }

    @Test func `The last line need not end, and empty ones are no questions`() throws {
        let alone = try user.nfc.run(["links", "match"], input: Data(Self.lines[1].line.utf8))
        #expect(alone.status == 0 && alone.output == Self.lines[1].text + "\n", "\(alone)")
        let empty = try user.nfc.run(["links", "match"], input: Data("\n\n".utf8))
        #expect(empty.status == 0 && empty.output == "" && empty.error == "", "\(empty)")
    }
}
