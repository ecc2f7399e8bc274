// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Which app gets a link where several could, and why.
struct LinkAnswerTests {
    private static let entries = #"""
        [{"appIDs":["T.a"],"components":[{"/":"/no","exclude":true},{"/":"/x/*"},{"/":"/x/y"}]},
         {"appIDs":["T.b"],"paths":["NOT /x/z","/x/*"]},
         {"appIDs":["T.a","T.c"],"paths":["*"]}]
        """#

    /// Path, installed apps, the app that opens it, and the verdicts of each rule by their first letters: matches, excludes,
    /// differs, not-Reached, not-Asked.
    static let rows = Row.table(
        """
        + /x/1 a,b,c a:dmR|RR|R
        + /x/z b :AAA|eR|A
        + /x/z b,c c:AAA|eR|m
        + /no a :eRR|AA|R
        + /no a,c c:eRR|AA|m
        + /other b :AAA|dd|A
        + /other c c:AAA|AA|m
        + /x/y a,b a:dmR|RR|R
        """
    )

    @Test(arguments: rows) func `Answer: path and installed apps give the app and the verdict of each rule`(_ row: Row)
        throws
    {
        let words = row.subject.split(separator: " ").map(String.init)
        let matcher = LinkMatcher(try associationFile(entries: Self.entries))
        let installed = Set(words[1].split(separator: ",").map { "T.\($0)" })
        let found = matcher.explain(try link(words[0]), installed: installed)
        let letters = ["matches": "m", "excludes": "e", "differs": "d", "not-reached": "R", "not-asked": "A"]
        let verdicts = found.entries.map { $0.verdicts.map { letters[$0.name] ?? "?" }.joined() }
        let app = found.answer.app.map { $0.dropFirst(2) } ?? ""
        #expect("\(app):\(verdicts.joined(separator: "|"))" == row.last)
        // The match alone has the same answer.
        #expect(matcher.answer(try link(words[0]), installed: installed).app == found.answer.app)
    }

    @Test func `Answer: of the apps of an entry the first that is installed and not excluded opens the link`() throws {
        let matcher = LinkMatcher(
            try associationFile(
                entries: #"""
                    [{"appIDs":["T.a","T.b"],"components":[{"/":"/x","exclude":true}]},
                     {"appIDs":["T.a","T.c","T.d"],"components":[{"/":"/x"}]},{"appIDs":["T.b"],"paths":["*"]}]
                    """#
            )
        )
        let opened = LinkMatcher.Decision.app("T.c", .init(details: 1, rule: 0))
        let excluded = LinkMatcher.Decision.excluded(.init(details: 0, rule: 0))
        let rows: [(Set<String>, LinkMatcher.Decision)] = [
            (["T.a", "T.c"], opened), (["T.a", "T.b", "T.c", "T.d"], opened), (["T.c"], opened), (["T.b"], excluded),
            (["T.a", "T.b"], excluded), (["T.d"], .app("T.d", .init(details: 1, rule: 0))), (["T.e"], .noApp),
        ]
        for (installed, decision) in rows {
            #expect(matcher.match(try link("/x"), installed: installed) == decision, "\(installed.sorted())")
        }
    }

    @Test func `Answer: appIDs count before appID, and old dictionaries in the order of their identifiers`() throws {
        let both = try associationFile(entries: #"[{"appID":"T.b","appIDs":["T.a"],"paths":["*"]}]"#)
        #expect(LinkMatcher(both).match(try link("/x"), installed: ["T.b"]) == .noApp)
        let old = try associationFile(entries: #"{"T.c":{"paths":["*"]},"T.b":{"paths":["/x"]},"T.a":5}"#)
        #expect(LinkMatcher(old).answer(try link("/x"), installed: nil).app == "T.b")
    }

    @Test func `Link trace: names each component of a rule that does not match`() throws {
        let matcher = LinkMatcher(try associationFile(rules: ##"{"/":"/x","?":"q","#":"f"}"##))
        #expect(matcher.trace(try link("/x?q#other")) == [[[.fragment]]])
        #expect(matcher.trace(try link("/y?r#f")) == [[[.path, .query]]])
        #expect(matcher.trace(try link("/x?q#f")) == [[[]]])
    }

    @Test func `Answer: names the rule by its position and members, and has its comment`() throws {
        let rules =
            #"{"/":"/x","?":{"b":"2","a":"1"},"exclude":true,"caseSensitive":false,"percentEncoded":false,"comment":"Why"}"#
        let matcher = LinkMatcher(try associationFile(rules: rules))
        let answer = matcher.answer(try link("/x?a=1&b=2"), installed: nil)
        let name = #"details[0].components[0] {"/": "/x", "?": {"a": "1", "b": "2"}, "exclude": true, "#
        #expect(answer.rule == name + #""caseSensitive": false, "percentEncoded": false}"#)
        #expect(answer.app == nil && answer.why.hasSuffix("Its comment: Why"))
    }

    @Test func `Answer: domain, entitlement and file have to agree`() throws {
        let matcher = LinkMatcher(try associationFile(rules: "{}"))
        let rows: [(url: String, domain: String, entries: [String], isOpened: Bool)] = [
            ("https://h.b.example/x", "h.b.example", ["applinks:*.b.example"], true),
            ("https://h.b.example/x", "b.example", ["applinks:*.b.example"], true),
            ("https://h.b.example/x", "other.example", ["applinks:*.b.example"], false),
            ("https://h.b.example/x", "other.example", ["applinks:h.b.example"], false),
            ("https://h.b.example/x", "h.b.example", ["applinks:1.2.3.4"], false),
            ("https://localhost/", "localhost", ["applinks:localhost"], false),
            (
                "https://u@B\u{FC}cher.example:8443/\u{E9}", "xn--bcher-kva.example", ["applinks:b\u{FC}cher.example"],
                true
            ),
        ]
        for row in rows {
            let answer = matcher.answer(row.url, domain: row.domain, entries: row.entries, installed: ["T.a"])
            #expect((answer.app == "T.a") == row.isOpened, "\(row): \(answer.why)")
            #expect(!answer.why.isEmpty)
        }
    }

    // MARK: Hostile files

    @Test func `Hostile file: a pattern of 600 stars is compared to the end with a link of 20,000 characters`() throws {
        let rule = #"{"/":"/\#(String(repeating: "*a", count: 600))*b"}"#
        let path = "/" + String(repeating: "a", count: 20_000)
        #expect(try !opens(rule, path))
        #expect(try opens(rule, path + "b"))
    }

    @Test
    func `Hostile file: all entries share one limit of work, beyond which a match is tooComplex and a trace stops`()
        throws
    {
        let entry = #"{"appIDs":["T.a","T.a"],"paths":["*a*a*a*a*a*a*a*a*a*b"]}"#
        let entries = Array(repeating: entry, count: 1500).joined(separator: ",")
        let matcher = LinkMatcher(try associationFile(entries: "[\(entries)]"))
        let url = try link("/" + String(repeating: "a", count: 30_000))
        #expect(matcher.match(url, installed: ["T.a"]) == .tooComplex)
        var (matching, tracing) = (MatchWork(), MatchWork())
        _ = matcher.match(url, installed: ["T.a"], &matching)
        let trace = matcher.trace(url, &tracing).flatMap(\.self)
        for work in [matching, tracing] { #expect(work.isExhausted && (1...MatchWork.limit).contains(work.steps)) }
        // Nothing is left for the next file; rules that were not compared say so.
        #expect(matcher.match(try link("/b"), installed: ["T.a"], &matching) == .tooComplex)
        #expect(trace.count == 1500 && trace.first == [.path] && trace.last == .some(nil))
        #expect(matcher.match(try link("/aa"), installed: ["T.a"]) == .noRule)
    }

    @Test func `Hostile file: escapes are resolved once for all rules, query items count as work`() throws {
        let decoding = Array(repeating: #"{"/":"/b?","percentEncoded":false}"#, count: 3000).joined(separator: ",")
        let escapes = try link("/" + String(repeating: "%61", count: 20_000))
        #expect(LinkMatcher(try associationFile(rules: decoding)).match(escapes, installed: ["T.a"]) == .noRule)
        let names = (0..<5000).map { #""n\#($0)":"*""# }.joined(separator: ",")
        let query = try link("/?" + String(repeating: "q&", count: 20_000))
        let matcher = LinkMatcher(try associationFile(rules: #"{"?":{\#(names)}}"#))
        #expect(matcher.match(query, installed: ["T.a"]) == .tooComplex)
    }

    @Test func `Hostile file: variables whose values fit in many ways end as tooComplex`() throws {
        let rule = #"{"/":"/\#(String(repeating: "$(v)", count: 40))b"}"#
        let other = #""substitutionVariables":{"v":["a","aa","*a"]},"#
        let matcher = LinkMatcher(try associationFile(rules: rule + #",{"/":"*"}"#, other: other))
        let url = try link("/" + String(repeating: "a", count: 60))
        #expect(matcher.match(url, installed: ["T.a"]) == .tooComplex)
        #expect(matcher.answer(url, installed: ["T.a"]).why.contains("too complex"))
        #expect(matcher.explain(url, installed: nil).entries.flatMap(\.verdicts) == [.notCompared, .notCompared])
        #expect(matcher.match(try link("/x"), installed: ["T.a"]) == .app("T.a", .init(details: 0, rule: 1)))
    }

    @Test func `Variables: thousands of rules with many values are compared, and later ones still match`() throws {
        let values = (0..<1000).map { "\"value\($0)\"" }.joined(separator: ",")
        let rules = Array(repeating: #"{"/":"/$(v)/x"}"#, count: 2000).joined(separator: ",") + #",{"/":"/last"}"#
        let other = #""substitutionVariables":{"v":[\#(values)]},"#
        let matcher = LinkMatcher(try associationFile(rules: rules, other: other))
        #expect(matcher.answer(try link("/last"), installed: ["T.a"]).app == "T.a")
        #expect(matcher.match(try link("/value999/x"), installed: ["T.a"]) == .app("T.a", .init(details: 0, rule: 0)))
    }
}
