// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import VisibleText

@testable import UniversalLinks

/// The last byte, step or letter at which an answer is still the same, for each of the reader's and the checks' limits.
@Suite struct `Limits of links and of their files` {
    private func findings(_ rules: String, other: String = "", list: String = "components") throws -> [LinkFinding] {
        let text = #"{"applinks":{\#(other)"details":[{"appIDs":["T.a.b"],"\#(list)":[\#(rules)]}]}}"#
        return try AssociationFile(parsing: Data(text.utf8)).check()
    }

    // MARK: Domains

    @Test func `The host's own name applies before any wildcard, also where it is one letter longer than that`() {
        for label in ["a", "aa", "a.a"] {
            let entries = ["applinks:*.b.example", "applinks:\(label).b.example", "applinks:*.example"]
            for order in [entries, entries.reversed()] {
                let best = AssociatedDomain.applying(order, host: "\(label).b.example")
                #expect(best?.entry == "applinks:\(label).b.example")
            }
        }
        // Of two entries for the same domain the first applies.
        let modes = ["applinks:b.example?mode=developer", "applinks:b.example"]
        #expect(AssociatedDomain.applying(modes, host: "b.example")?.mode == .developer)
        #expect(AssociatedDomain.applying(modes.reversed(), host: "b.example")?.mode == nil)
        #expect(AssociatedDomain.applying(modes, service: "appclips", host: "b.example") == nil)
        #expect(AssociatedDomain.applying([], host: "b.example") == nil)
    }

    @Test func `A wildcard takes any label in front of its domain, and not the domain itself`() throws {
        let entry = try #require(AssociatedDomain("applinks:*.b.example"))
        for (host, isCovered) in [
            ("a.b.example", true), ("A.B.Example", true), ("a.a.b.example", true), ("b.example", false),
            (".b.example", false), ("ab.example", false), ("a.b.example.org", false),
        ] {
            #expect(entry.covers(host) == isCovered, "\(host)")
        }
        let exact = try #require(AssociatedDomain("applinks:B.example"))
        #expect(exact.covers("b.EXAMPLE") && !exact.covers("a.b.example"))
    }

    @Test(arguments: [
        ("applinks:b.example?mode=developer", true), ("applinks:b.example?mode=managed", true),
        ("applinks:b.example?mode=developer+managed", true), ("applinks:b.example?kind=developer", false),
        ("applinks:b.example?mode=", false), ("applinks:b.example?mode=Developer", false),
        ("applinks:b.example?", false), ("applinks:", false), (":b.example", false), ("b.example", false),
        ("appclips:*.b.example", false), ("appclips:b.example", true), ("webcredentials:*.b.example", true),
    ])
    func `An entry is a service, a domain, and a mode that there is`(_ entry: String, _ isOne: Bool) {
        #expect((AssociatedDomain(entry) != nil) == isOne)
    }

    @Test func `Thirty entries are none too many, and one that is there twice is found in any case`() {
        func rules(_ count: Int, _ more: [String] = []) -> [String] {
            let entries = (0..<count).map { "applinks:a\($0).example" } + more
            return AssociatedDomainCheck(entries: entries).findings.map(\.id)
        }
        #expect(rules(30) == [] && rules(31) == ["DOM009"])
        #expect(rules(1, ["AppLinks:A0.example"]) == ["DOM009"])
        #expect(rules(0) == ["DOM001"])
        let credentials = AssociatedDomainCheck(entries: ["webcredentials:b.example"]).findings
        #expect(credentials.map(\.id) == ["DOM002"])
    }

    @Test(arguments: [
        ("b.example", ["DOM003", "DOM002"]), ("https://b.example", ["DOM003", "DOM002"]), ("applinks:", ["DOM004"]),
        ("applinks://b.example", ["DOM004"]), ("links:b.example", ["DOM003", "DOM002"]),
        ("applinks:b.*.example", ["DOM005"]), ("applinks:**.b.example", ["DOM005"]),
        ("applinks:b.example?mode=x", ["DOM008"]), ("applinks:b.example?x=developer", ["DOM008"]),
        ("applinks:b.example?", []), ("applinks:b.example?mode=managed", []),
        ("applinks:b.example?mode=developer", ["DOM007"]), ("applinks:b.example?mode=developer+managed", ["DOM007"]),
    ])
    func `What is wrong with an entry is found in a release`(_ entry: String, _ rules: [String]) {
        let found = AssociatedDomainCheck(entries: [entry], isRelease: true).findings
        // A question mark alone is a mode that there is not.
        let expected = entry.hasSuffix("?") ? ["DOM008"] : rules
        #expect(found.map(\.id) == expected)
        let development = AssociatedDomainCheck(entries: [entry]).findings.map(\.id)
        #expect(development == expected.filter { $0 != "DOM007" })
    }

    // MARK: Patterns

    @Test(arguments: [
        (##"{"/":"/$(no)"}"##, "\"/\" of"), (##"{"/":"/x","?":"$(no)"}"##, "\"?\" of"),
        (##"{"/":"/x","?":{"a":"1","b":"$(no)"}}"##, "\"?\" of"), (##"{"/":"/x","#":"$(no)"}"##, "\"#\" of"),
    ])
    func `A variable that is not defined is found in every component`(_ rule: String, _ place: String) throws {
        let found = try findings(rule)
        #expect(found.map(\.id) == ["AASA009"] && found[0].severity == .error)
        #expect(found[0].message.hasPrefix(place + " details[0].components[0]"))
        // Defined, it is used by that pattern.
        #expect(try findings(rule, other: #""substitutionVariables":{"no":["1"]},"#).isEmpty)
    }

    @Test(arguments: [
        ("{\"/\":\"/x\",\"?\":{\"\u{e9}\":\"1\"}}", 1), ("{\"/\":\"/x\",\"#\":\"\u{e9}\"}", 1),
        ("{\"/\":\"/\u{e9}\",\"percentEncoded\":false}", 0),
        (##"{"/":"/x","?":{"a%20":"%20"},"percentEncoded":false}"##, 2),
        (##"{"/":"/x","#":"%2G","percentEncoded":false}"##, 0), (##"{"/":"/x","#":"%2f","percentEncoded":false}"##, 1),
        (##"{"/":"/x","#":"%20"}"##, 0),
    ])
    func `Letters and escapes that never match are found in every component, and in the names of items`(
        _ rule: String,
        _ count: Int
    ) throws {
        #expect(try findings(rule).map(\.id) == [String](repeating: "AASA013", count: count))
    }

    @Test(arguments: [
        ("/x?id=1", true), ("/x?a.b-c_[0]=1", true), ("/x?id", false), ("/x?a/b=1", false), ("/x?=1", true),
        ("/x=1?", false), ("/a#b", true), ("x://y", true), ("/x:/y", false),
    ])
    func `A query, a fragment or a URL in a path is found`(_ path: String, _ isFound: Bool) throws {
        #expect(try findings(#"{"/":"\#(path)"}"#).map(\.id) == (isFound ? ["AASA012"] : []))
    }

    @Test(arguments: [
        ("NOTE/x", []), ("NOT1", []), ("nothing", []), ("NOT /x", []), ("NOT", ["AASA015"]), ("not-x", ["AASA015"]),
        ("Not", []),
        ("NOT  /x", ["AASA015"]),
    ])
    func `A NOT that is a word of its own, and excludes nothing, is found in paths`(_ path: String, _ rules: [String])
        throws
    {
        #expect(try findings(#""\#(path)""#, list: "paths").map(\.id) == rules)
    }

    @Test func `Each variable of a pattern is found by itself, up to the next parenthesis`() throws {
        #expect(try findings(#"{"/":"/$(lang)/$(region)/x"}"#).isEmpty)
        for (path, names) in [
            ("/$(a)/$(lang)/$(b)", ["a", "b"]), ("/$(a$(b)", ["a$(b"]), ("/$(a)b)", ["a"]), ("/$(lang)$(a))", ["a"]),
        ] {
            let found = try findings(#"{"/":"\#(path)"}"#)
            #expect(found.map(\.id) == names.map { _ in "AASA009" }, "\(path)")
            for (finding, name) in zip(found, names) {
                #expect(finding.message.contains("names the variable \"\(name)\", which is not defined"), "\(path)")
            }
        }
    }

    // MARK: Links

    private func opens(_ rule: String, _ link: String, other: String = "") throws -> Bool {
        let text = #"{"applinks":{\#(other)"details":[{"appIDs":["T.a"],"components":[\#(rule)]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        return matcher.answer(try LinkURL("https://h.example\(link)"), installed: ["T.a"]).app == "T.a"
    }

    @Test func `An item of a query ends before the mark that ends the query`() throws {
        let rule = #"{"/":"/x","?":{"a":"1"}}"#
        for query in ["a=1", "a=1&", "&a=1", "b=2&a=1&", "a=1&a=1&", "a=1&&"] {
            #expect(try opens(rule, "/x?\(query)"), "\(query)")
        }
        for query in ["a=1&a=2&", "a=1&a=2", "a=1&a", "a=1&a&", "a=12&"] {
            #expect(try !opens(rule, "/x?\(query)"), "\(query)")
        }
    }

    @Test func `Without case a variable keeps its name, and a letter that becomes two stays one`() throws {
        let options = #""caseSensitive":false,"percentEncoded":false"#
        let other = #""substitutionVariables":{"Name":["x"]},"#
        for link in ["/%C3%A9/x", "/%C3%89/X"] {
            #expect(try opens("{\"/\":\"/\u{C9}/$(Name)\",\(options)}", link, other: other), "\(link)")
        }
        let dotted = "{\"/\":\"/\u{130}\",\(options)}"
        #expect(try opens(dotted, "/%C4%B0"))
        for link in ["/i", "/I", "/i%CC%87"] { #expect(try !opens(dotted, link), "\(link)") }
    }

    @Test func `A file may have as many states as the limit, and no more`() throws {
        // The pattern has four states more than the value of its variable has letters.
        let rules = [String](repeating: #"{"/":"/$(v)"}"#, count: LinkMatcher.maximumStates >> 13)
        let values = #""v":["\#(String(repeating: "a", count: (1 << 13) - 4))"],"w":[""]"#
        for (more, isTooLong) in [(#"{"/":"/last"}"#, false), (#"{"/":"/$(w)"},{"/":"/last"}"#, true)] {
            let list = rules.joined(separator: ",") + "," + more
            let other = #""substitutionVariables":{\#(values)},"#
            let text = #"{"applinks":{\#(other)"details":[{"appIDs":["T.a"],"components":[\#(list)]}]}}"#
            let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
            let findings = matcher.file.findings.map(\.message).filter { $0.contains("too long together") }
            #expect(findings.count == (isTooLong ? 1 : 0))
            let answer = matcher.answer(try LinkURL("https://h.example/last"), installed: ["T.a"])
            #expect((answer.app == nil) == isTooLong)
        }
    }

    @Test func `No rule is compiled after there are too many states`() throws {
        let rules = [String](repeating: #"{"/":"/$(v)"}"#, count: (LinkMatcher.maximumStates >> 13) + 4)
        let values = #"{"v":["\#(String(repeating: "a", count: (1 << 13) - 4))"]}"#
        let details = #"[{"appIDs":["T.a"],"components":[\#(rules.joined(separator: ","))]}]"#
        let text = #"{"applinks":{"substitutionVariables":\#(values),"details":\#(details)}}"#
        let file = try AssociationFile(parsing: Data(text.utf8))
        var states = 0
        _ = CompiledRules(file.details[0].rules, variables: SubstitutionVariables(file.variables), states: &states)
        // Each rule has 2^13 states.
        #expect(states == LinkMatcher.maximumStates + (1 << 13))
    }

    @Test func `The first question mark begins the query, and the others are part of it`() throws {
        for rule in [#"{"/":"/x"}"#, #"{"/":"/x","?":{"a":"b??c"}}"#, #"{"/":"*","?":{"a":"*c"}}"#] {
            #expect(try opens(rule, "/x?a=b??c"), "\(rule)")
        }
        #expect(try !opens(#"{"/":"/x?a=b"}"#, "/x?a=b?c"))
    }

    // MARK: Work

    @Test func `The last step of the limit may be taken, and none beyond it`() {
        var work = MatchWork()
        for (steps, isTaken, all) in [
            (MatchWork.limit, true, MatchWork.limit), (0, true, MatchWork.limit), (1, false, MatchWork.limit),
            (0, false, MatchWork.limit),
        ] {
            let result = work.spend(steps)
            #expect(result == isTaken && work.isExhausted == !isTaken && work.steps == all)
        }
        var other = MatchWork()
        let result = other.spend(MatchWork.limit + 1)
        #expect(!result && other.steps == 0)
    }

    @Test func `What a comparison costs is counted for each component of a rule`() throws {
        func steps(_ rule: String, _ link: String = "https://h.example/path?name=value#part") throws -> Int {
            let text = #"{"applinks":{"details":[{"appIDs":["T.a"],"components":[\#(rule)]}]}}"#
            let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
            var work = MatchWork()
            _ = matcher.match(try LinkURL(link), installed: ["T.a"], &work)
            return work.steps
        }
        // The path is compared byte by byte; what takes everything costs nothing.
        #expect(try steps(#"{"/":"/path"}"#) == 5 && steps(#"{"/":"*"}"#) == 0)
        // The first 32 bytes are compared at once before that, for nothing.
        let same = "/" + String(repeating: "a", count: 30)
        #expect(try steps(#"{"/":"\#(same)b"}"#, "https://h.example\(same)c") == 0)
        #expect(try steps(#"{"/":"\#(same)ab"}"#, "https://h.example\(same)ac") == 33)
        // A beginning costs as much as a whole path, however long it is.
        let long = "/" + String(repeating: "a", count: 100)
        #expect(try steps(#"{"/":"\#(long)*"}"#, "https://h.example\(long)b") == 102)
        #expect(try steps(##"{"/":"*","#":"part"}"##) == 4)
        #expect(try steps(#"{"/":"*","?":"name=value"}"#) == 10)
        // Two steps a byte to find the items, and one for each of the value.
        #expect(try steps(#"{"/":"*","?":{"name":"value"}}"#) == 25)
        // Without case each name is compared letter by letter.
        let plain = try steps(#"{"/":"*","?":{"name":"*"}}"#)
        #expect(try steps(#"{"/":"*","?":{"name":"*"},"caseSensitive":false}"#) == plain + 4)
        // An escape that is resolved costs eight steps a byte of its component.
        let escaped = "https://h.example/%61?x"
        #expect(
            try steps(#"{"/":"/a","percentEncoded":false}"#, escaped)
                == MatchWork.decodingSteps * 4 + 2
        )
    }

    @Test(
        arguments: [
            (##"{"/":"*"}"##, 0), (##"{"/":"/x"}"##, 1), (##"{"/":"*","#":"a"}"##, 1), (##"{"/":"/x","#":"a"}"##, 2),
            (##"{"/":"*","?":"a"}"##, 1), (##"{"/":"/x","?":"a"}"##, 2), (##"{"/":"*","?":{"a":"b"}}"##, 3),
            (##"{"/":"/x","?":{"a":"b","c":"*"},"#":"a"}"##, 7), (##"{"/":"*","percentEncoded":false}"##, 8),
            (##"{"/":"/x","percentEncoded":false}"##, 9),
        ]
    )
    func `How long a link may be is reckoned with the steps of each component of all rules`(
        _ rule: String,
        _ steps: Int
    ) throws {
        let rules = [String](repeating: rule, count: 1100).joined(separator: ",")
        let text = #"{"applinks":{"details":[{"appIDs":["T.a"],"components":[\#(rules)]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let found = matcher.file.findings.map(\.message).filter { $0.contains("too complex together") }
        guard steps > 0 else { return #expect(found.isEmpty) }
        let limit = "URLs of more than about \(MatchWork.limit / (steps * 1100)) bytes open no app."
        #expect(found == ["The patterns are too complex together: \(limit)"])
    }

    @Test func `A file may need as many steps as leave room for a link of 8192 bytes`() throws {
        for (count, isTooMuch) in [(1024, false), (1025, true)] {
            // Several entries count together.
            let entry = { (count: Int) -> String in
                let paths = [String](repeating: #""/x""#, count: count).joined(separator: ",")
                return #"{"appIDs":["T.a"],"paths":[\#(paths)]}"#
            }
            let text = #"{"applinks":{"details":[\#(entry(24)),\#(entry(count - 24))]}}"#
            let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
            #expect(matcher.file.findings.contains { $0.message.contains("too complex together") } == isTooMuch)
        }
    }

    // MARK: JSON

    @Test func `Values are nested up to their limit, and keys that come twice are named with their place`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(try JSONValue.read(nested(JSONValue.maximumDepth)).value.array != nil)
        #expect(throws: JSONReader.Problem.self) { try JSONValue.read(nested(JSONValue.maximumDepth + 1)) }
        let twice = #"{"a":1,"b":[{"c":{"d":1,"d":"x"}}],"a":"later"}"#
        let content = try JSONValue.read(Array(twice.utf8))
        #expect(content.repeatedKeys.map(\.place) == ["b[0].c", "The file"])
        #expect(content.repeatedKeys.map(\.key) == ["d", "a"] && content.value.object?["a"]?.kind == "a number")
    }
}
