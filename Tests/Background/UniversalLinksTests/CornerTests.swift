// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Hosts, files and rules at the limits of their ranges.
@Suite struct `Corners of links` {
    private static let app = "T.a"
    /// A text of more bytes than a word of the automaton has states.
    private static let long = String(repeating: "a", count: 100)

    private func matcher(_ rules: String, list: String = "components", other: String = "") throws -> LinkMatcher {
        let text = #"{"applinks":{\#(other)"details":[{"appIDs":["T.a"],"\#(list)":[\#(rules)]}]}}"#
        return LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
    }

    private func opens(_ rules: String, _ link: String, other: String = "") throws -> Bool {
        let found = try matcher(rules, other: other).match(LinkURL("https://h.example\(link)"), installed: [Self.app])
        if case .app = found { return true }
        return false
    }

    private func host(_ link: String) throws -> String { try LinkURL(link).host }

    // MARK: Domains

    @Test func `The longest entry that covers a host applies, wherever it stands`() {
        let entries = ["applinks:*.example", "applinks:*.b.example", "applinks:aa.b.example"]
        for order in [entries, entries.reversed(), [entries[1], entries[2], entries[0]]] {
            #expect(AssociatedDomain.applying(order, host: "aa.b.example")?.entry == "applinks:aa.b.example")
            #expect(AssociatedDomain.applying(order, host: "c.b.example")?.entry == "applinks:*.b.example")
        }
    }

    @Test func `Only a wildcard of links misses its own domain`() {
        func rules(_ entries: [String]) -> [String] { AssociatedDomainCheck(entries: entries).findings.map(\.id) }
        #expect(rules(["applinks:*.b.example"]) == ["DOM006"])
        #expect(rules(["applinks:b.example"]) == [])
        #expect(rules(["applinks:b.example", "webcredentials:*.c.example"]) == [])
    }

    @Test(arguments: ["applinks:a b.example", "applinks:b.example/x", "applinks:b.example:80", "applinks:me@b.example"])
    func `What is more than a domain is named as that`(_ entry: String) throws {
        let texts = AssociatedDomainCheck(entries: [entry, "applinks:c.example"]).findings.map(\.message)
        #expect(texts.contains { $0.contains("more than a domain") }, "\(texts)")
    }

    @Test(arguments: [
        ("a$b.12", HostName.DomainProblem.address), ("a$b.0x1f", .address), ("a$b.0xfg", .notAName),
        ("a$b.c", .notAName), ("a.b.9", .address), ("1.2.3.4", .address), ("[::1]", .address),
        ("localhost", .singleLabel),
    ])
    func `A name that ends in a number is an address to programs`(_ name: String, _ problem: HostName.DomainProblem) {
        #expect(throws: problem) { try HostName.domain(name) }
    }

    @Test(arguments: [
        ("ihqwcrb4cv8a8dqg056pqjye", "他们为什么不说中文"), ("4dbcagdahymbxekheh6e0a7fei0b", "למההםפשוטלאמדבריםעברית"),
        ("i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd", "यहलोगहिन्दीक्योंनहींबोलसकतेहैं"),
        ("n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa", "なぜみんな日本語を話してくれないのか"),
    ])
    func `Labels outside of ASCII have the names of RFC 3492, 7.1`(
        _ encoded: String,
        _ label: String
    ) throws {
        #expect(try host("https://\(label).example/é?x#y") == "xn--\(encoded).example")
    }

    @Test func `A label has up to 63 bytes as it is asked for`() throws {
        let counts = try (1...70).compactMap { count -> Int? in
            let name = try host("https://ü\(String(repeating: "a", count: count)).example/")
            return name.hasPrefix("xn--") ? name.utf8.count - ".example".utf8.count : nil
        }
        #expect(counts.max() == 63)
        #expect(counts == counts.sorted())
    }

    @Test func `A name has up to 253 bytes, and a label in ASCII up to 63`() {
        let label = String(repeating: "a", count: 63)
        #expect(HostName.ascii(label + ".example") == label + ".example")
        #expect(HostName.ascii(label + "a.example") == nil)
        let name = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(name.utf8.count == 253 && HostName.ascii(name) == name)
        #expect(HostName.ascii(name + "b") == nil)
    }

    @Test(arguments: ["127.0.0.01", "01.2.3.4", "1.2.3.4.5", "1.2.3.256", "1.2.3", "0x7f.0.0.1"])
    func `An address that programs may read in another way is none`(_ name: String) {
        #expect(HostName.ascii(name) == nil)
    }

    @Test func `A URL has a length, no control character, and the host behind its last at sign`() throws {
        let start = "https://h.example/"
        let full = start + String(repeating: "x", count: LinkURL.maximumLength - start.utf8.count)
        #expect(try host(full) == "h.example")
        #expect(throws: LinkURL.Problem.tooLong) { try LinkURL(full + "x") }
        for character in ["\u{7F}", "\u{1F}", "\u{0}", " "] {
            #expect(throws: LinkURL.Problem.forbiddenCharacter) { try LinkURL(start + character) }
        }
        #expect(try host("https://a@b.example@h.example/x@y") == "h.example")
        #expect(try host("https://u@[2001:DB8::1]:8443/x") == "[2001:db8::1]")
    }

    @Test(arguments: ["HTTPS://h.example/", "hTTp://h.example/"])
    func `A scheme counts in any case`(_ link: String) throws {
        #expect(try host(link) == "h.example")
    }

    @Test(arguments: ["HTTQS://h.example/", "htTXs://h.example/", "ftp://h.example/", "https:/h.example"])
    func `Another scheme opens nothing`(_ link: String) {
        #expect(throws: LinkURL.Problem.scheme) { try LinkURL(link) }
    }

    // MARK: Files

    @Test func `A file may be as long as a phone reads it, and no longer`() throws {
        let text = #"{"applinks":{"details":[]}}"#
        func file(_ count: Int) -> Data { Data((text + String(repeating: " ", count: count - text.utf8.count)).utf8) }
        _ = try AssociationFile(parsing: file(AssociationFile.maximumSize))
        let error = #expect(throws: AssociationFileError.self) {
            try AssociationFile(parsing: file(AssociationFile.maximumSize + 1))
        }
        #expect(error?.code == .tooLarge)
    }

    @Test(arguments: [
        ([0x30, 0x82, 1, 2] as [UInt8], true), ([0x30, 0x80], true), ([0x30, 0x20], false), ([0x30], false),
    ])
    func `A signed file is distinguished from a number`(_ bytes: [UInt8], _ isSigned: Bool) {
        let error = #expect(throws: AssociationFileError.self) { try AssociationFile(parsing: Data(bytes)) }
        #expect((error?.code == .signed) == isSigned)
    }

    @Test(arguments: ["1e5", "1e+5", "1E-5", "-0.5e0", "0"])
    func `A number of JSON may have an exponent with a sign`(_ number: String) throws {
        _ = try AssociationFile(parsing: Data(#"{"applinks":{"details":[],"x":\#(number)}}"#.utf8))
    }

    @Test(arguments: [#"\u+123"#, #"\u 123"#, #"\u12g4"#, #"\u123"#])
    func `An escape of JSON has four digits`(_ escape: String) {
        let text = #"{"x":"\#(escape)"}"#
        let error = #expect(throws: AssociationFileError.self) { try AssociationFile(parsing: Data(text.utf8)) }
        #expect(error?.code == .notJSON)
    }

    @Test func `Keys are checked before types, and variables by their names`() throws {
        func texts(_ text: String) throws -> [String] {
            try AssociationFile(parsing: Data(text.utf8)).check().map(\.message)
        }
        let details = #""details":[{"appIDs":["T.a"],"components":[{"/":"/x"}]}]"#
        let defaults = try texts(#"{"applinks":{"defaults":{"caseSensitive":5,"zzz":1},\#(details)}}"#)
        #expect(defaults.map { $0.contains("unknown key") } == [true, false])
        let variables = try texts(#"{"applinks":{"substitutionVariables":{"b":["1"],"a":["1"]},\#(details)}}"#)
        #expect(variables.map { $0.contains("\"a\"") } == [true, false])
    }

    @Test func `An entry of another type in a dictionary of apps is found`() throws {
        let text = #"{"applinks":{"details":{"T.a":5,"T.b":{"paths":["/x"]}}}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let url = try LinkURL("https://h.example/x")
        #expect(matcher.match(url, installed: ["T.a"]) != .app("T.a", .init(details: 0, rule: 0)))
        #expect(matcher.match(url, installed: ["T.a", "T.b"]) == .app("T.b", .init(details: 1, rule: 0)))
    }

    @Test func `A percent sign at the end is no escape`() throws {
        for path in ["/%", "/%2", "/x%2"] {
            let rules = #"{"/":"\#(path)","percentEncoded":false}"#
            #expect(try matcher(rules).file.check().map(\.id) == [], "\(path)")
        }
        #expect(try matcher(#"{"/":"/%20","percentEncoded":false}"#).file.check().map(\.id) == ["AASA013"])
    }

    // MARK: Rules

    @Test func `The first app of an entry that is installed opens a link`() throws {
        let text = #"{"applinks":{"details":[{"appIDs":["T.a","T.b","T.c"],"components":[{"/":"/x"}]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let url = try LinkURL("https://h.example/x")
        #expect(matcher.match(url, installed: ["T.b", "T.c"]) == .app("T.b", .init(details: 0, rule: 0)))
    }

    @Test func `A rule is named by its list and all that it says`() throws {
        let rules = #"{"/":"/x","exclude":true,"caseSensitive":false,"percentEncoded":false}"#
        #expect(
            try matcher(rules).name(.init(details: 0, rule: 0))
                == #"details[0].components[0] {"/": "/x", "exclude": true, "#
                + #""caseSensitive": false, "percentEncoded": false}"#
        )
        #expect(
            try matcher(#"{"/":"/x"}"#).name(.init(details: 0, rule: 0)) == #"details[0].components[0] {"/": "/x"}"#
        )
        #expect(try matcher(#""/x""#, list: "paths").name(.init(details: 0, rule: 0)).hasPrefix("details[0].paths[0] "))
    }

    @Test func `Each component that differs is reported`() throws {
        let rules = ##"{"/":"/x","?":"q","#":"f"}"##
        let trace = try matcher(rules).trace(LinkURL("https://h.example/x?q#other"))
        #expect(trace == [[[.fragment]]])
        #expect(try matcher(rules).trace(LinkURL("https://h.example/y?r#f")) == [[[.path, .query]]])
    }

    @Test(arguments: [
        // The text before a slash and a star also matches alone, but only in a path.
        (#"{"?":"a/*"}"#, "/?a", false), (#"{"?":"a/*"}"#, "/?a/", true), (#"{"/":"/a/*"}"#, "/a", true),
        (#"{"/":"/ab*"}"#, "/a", false), (#"{"/":"/ab*"}"#, "/ab", true),
        // Stars in a row are one, and others are not.
        (#"{"?":"*a*"}"#, "/?xay", true), (#"{"?":"a**b"}"#, "/?axb", true),
        // A question mark takes one character of several bytes, also in a long pattern and beside a variable.
        (#"{"/":"/?/$(digit)","percentEncoded":false}"#, "/%C3%A9/1", true),
        (#"{"/":"/?/$(digit)","percentEncoded":false}"#, "/%F0%9F%98%80/1", true),
        (#"{"/":"/?/$(digit)","percentEncoded":false}"#, "/%C3%A9%C3%A9/1", false),
        (#"{"/":"/?/\#(long)","percentEncoded":false}"#, "/%C3%A9/\(long)", true),
        (#"{"/":"/?/\#(long)","percentEncoded":false}"#, "/%C3%A9%C3%A9/\(long)", false),
        // It takes a byte that no character has, too.
        (#"{"/":"/?","percentEncoded":false}"#, "/%FF", true),
        // An escape has digits of either case.
        (#"{"/":"/a/b","percentEncoded":false}"#, "/a%2fb", true),
        (#"{"/":"/caf\u00e9","percentEncoded":false}"#, "/caf%c3%a9", true),
        // Every letter has its other case.
        (#"{"/":"/aZz","caseSensitive":false}"#, "/AzZ", true), (#"{"/":"/@[","caseSensitive":false}"#, "/`{", false),
    ])
    func `A pattern covers what it should`(_ rules: String, _ link: String, _ isOpened: Bool) throws {
        #expect(try opens(rules, link) == isOpened)
    }

    @Test func `A name with a bracket is no variable`() throws {
        for name in ["a)b", "a(b", "a$b"] {
            let other = #""substitutionVariables":{"\#(name)":["x"]},"#
            #expect(try !opens(#"{"/":"/$(\#(name))"}"#, "/x", other: other), "\(name)")
        }
    }

    // MARK: Answers

    @Test func `A wildcard covers names below its domain, however short, and not the domain`() throws {
        let entry = try #require(AssociatedDomain("applinks:*.b.example"))
        #expect(entry.covers("a.b.example") && entry.covers("A.B.EXAMPLE") && entry.covers("x.a.b.example"))
        #expect(!entry.covers("b.example") && !entry.covers(".b.example") && !entry.covers("ab.example"))
    }

    @Test func `An answer names the first fault of the entries, and the file that counts`() throws {
        let matcher = try matcher(#"{"/":"/x"}"#)
        func why(_ entries: [String], domain: String = "b.example") -> String {
            matcher.answer("https://h.b.example/x", domain: domain, entries: entries, installed: [Self.app]).why
        }
        let none = why(["applinks:1.2.3.4", "applinks:a b"])
        #expect(none.contains("1.2.3.4") && !none.contains("more than a domain"), "\(none)")
        #expect(why(["applinks:h.b.example"], domain: "other.example").hasPrefix("The file is of other.example;"))
        #expect(why(["applinks:*.b.example"], domain: "other.example").hasPrefix("The file is of other.example;"))
        // The file of the host counts, and that of the entry's domain.
        for domain in ["h.b.example", "b.example"] {
            let answer = matcher.answer(
                "https://h.b.example/x",
                domain: domain,
                entries: ["applinks:*.b.example"],
                installed: [Self.app]
            )
            #expect(answer.app == Self.app, "\(domain): \(answer.why)")
        }
    }

    @Test func `A rule's query is part of its name`() throws {
        let position = LinkMatcher.RulePosition(details: 0, rule: 0)
        #expect(try matcher(#"{"?":{"b":"2","a":"1"}}"#).name(position).contains(#""?": {"a": "1", "b": "2"}"#))
        #expect(try matcher(#"{"?":"x*"}"#).name(position).contains(#""?": "x*""#))
    }

    @Test func `What an entry lacks is said`() throws {
        func texts(_ entry: String) throws -> [String] {
            try AssociationFile(parsing: Data(#"{"applinks":{"details":[\#(entry)]}}"#.utf8)).check().map(\.message)
        }
        #expect(
            try texts(#"{"appIDs":["T.a"]}"#) == ["details[0] has neither components nor paths, so it matches nothing."]
        )
        #expect(try texts(#"{"appIDs":["T.a"],"paths":[]}"#) == ["details[0] has no paths, so it matches nothing."])
        #expect(try texts(#"{"appIDs":[],"paths":["/x"]}"#) == ["details[0] names no app."])
    }

    @Test func `A web page is recognized after any white space`() {
        for space in [" ", "\t", "\n", "\r", "\r\n \t"] {
            let error = #expect(throws: AssociationFileError.self) {
                try AssociationFile(parsing: Data((space + "<html>").utf8))
            }
            #expect(error?.reason == "The file is a page of the web, and not JSON.")
        }
    }

    @Test(arguments: [
        (##"{"/":"/x","#":"*"},{"/":"/x","#":"f"}"##, true), (##"{"/":"/x","#":"f"},{"/":"/x","#":"g"}"##, false),
        (##"{"/":"/x","?":"q"},{"/":"/x","?":"q"}"##, true), (##"{"/":"/x","?":"q"},{"/":"/x","?":"r"}"##, false),
        (##"{"/":"/x","?":"*"},{"/":"/x","?":"r"}"##, true),
        // Items of which each takes anything are as good as none.
        (##"{"/":"/x","?":{"a":"*","b":"*"}},{"/":"/x","?":{"c":"1"}}"##, true),
        (##"{"/":"/x","?":{"a":"*","b":"1"}},{"/":"/x","?":{"c":"1"}}"##, false),
        // A rule that ignores case, or resolves escapes, matches more than one that does not.
        (##"{"/":"/x/*"},{"/":"/x/y","caseSensitive":false}"##, false),
        (##"{"/":"/x/y"},{"/":"/x/y","percentEncoded":false}"##, false),
    ])
    func `A rule that another one covers is found`(_ rules: String, _ isCovered: Bool) throws {
        #expect(try matcher(rules).file.check().map(\.id) == (isCovered ? ["AASA011"] : []))
    }

    @Test func `An entry is reached for an app that the entries before it do not name`() throws {
        func check(_ apps: String) throws -> [String] {
            let text = """
                {"applinks":{"details":[{"appIDs":["T.a"],"components":[{}]},\
                {"appIDs":\(apps),"components":[{"/":"/x"}]}]}}
                """
            return try AssociationFile(parsing: Data(text.utf8)).check().map(\.id)
        }
        #expect(try check(#"["T.a","T.b"]"#) == [] && check(#"["T.a"]"#) == ["AASA011"])
    }

    @Test func `Where an entry has appIDs its appID opens nothing`() throws {
        let text = #"{"applinks":{"details":[{"appID":"T.b","appIDs":["T.a"],"paths":["*"]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let url = try LinkURL("https://h.example/x")
        #expect(matcher.match(url, installed: ["T.a"]) == .app("T.a", .init(details: 0, rule: 0)))
        #expect(matcher.match(url, installed: ["T.b"]) == .noApp)
    }

    @Test func `The comment of the rule that decides is part of the answer`() throws {
        let url = try LinkURL("https://h.example/x")
        for (rest, decision) in [("", "matches."), (#","exclude":true"#, "matches, and excludes the URL.")] {
            let answer = try matcher(#"{"/":"/x","comment":"Why"\#(rest)}"#).answer(url, installed: [Self.app])
            #expect(answer.why == "\(answer.rule ?? "") \(decision) Its comment: Why")
        }
    }

    @Test func `The apps of other services are read from their sections`() throws {
        let text = #"{"webcredentials":{"apps":["T.a"]},"appclips":{"apps":["T.a.Clip"]}}"#
        let file = try AssociationFile(parsing: Data(text.utf8))
        #expect(file.otherServices == ["webcredentials": ["T.a"], "appclips": ["T.a.Clip"]])
    }

    @Test func `Regions are two capital letters`() throws {
        for (text, isOpened) in [("US", true), ("us", false), ("U1", false), ("001", false)] {
            #expect(try opens(#"{"/":"/$(region)"}"#, "/\(text)") == isOpened, "\(text)")
        }
    }

    // MARK: Ends of ranges

    @Test func `Only a wildcard whose domain has no entry of links misses it`() {
        func rules(_ entries: [String]) -> [String] { AssociatedDomainCheck(entries: entries).findings.map(\.id) }
        #expect(rules(["applinks:*.b.example", "applinks:b.example"]) == [])
        #expect(rules(["applinks:*.b.example", "webcredentials:b.example"]) == ["DOM006"])
        #expect(rules(["applinks:*.b.example", "applinks:*.b.example", "applinks:c.example"]).contains("DOM006"))
        let many = (0..<31).map { "applinks:h\($0).example" }
        #expect(rules(Array(many.dropLast())) == [] && rules(many) == ["DOM009"])
    }

    @Test(arguments: [
        (#"\ud7ff"#, true), (#"\ue000"#, true), (#"\ud000"#, true), (#"\ud000\ud83d\ude00"#, true),
        (#"\ud800\udc00"#, true),
        (#"\udbff\udfff"#, true), (#"\ud800"#, false), (#"\udbff"#, false), (#"\udc00"#, false), (#"\udfff"#, false),
        (#"\ud83d\u0061"#, false), (#"\ud83dx"#, false), (#"\u00"#, false), (#"\u00g0"#, false), (#"\x"#, false),
    ])
    func `An escape in JSON is a whole character`(_ escape: String, isWhole: Bool) {
        let text = #"{"applinks":{"details":[{"appIDs":["T.a"],"components":[{"comment":"\#(escape)"}]}]}}"#
        #expect(((try? AssociationFile(parsing: Data(text.utf8))) != nil) == isWhole)
    }

    @Test func `The variables that every file has go from their first letter to their last`() throws {
        for (name, values, others) in [
            ("upper", ["A", "Z"], ["@", "[", "a"]), ("lower", ["a", "z"], ["`", "{", "A"]),
            ("digit", ["0", "9"], ["/0", ":", "a"]),
            ("alpha", ["A", "Z", "a", "z"], ["0"]), ("alnum", ["A", "z", "0", "9"], ["_"]),
            ("xdigit", ["0", "9", "A", "F", "a", "f"], ["G", "g"]),
            ("region", ["AD", "NZ", "ZA", "ZW"], ["Z", "419"]),
        ] {
            for value in values { #expect(try opens("{\"/\":\"/x$(\(name))\"}", "/x" + value), "\(name) \(value)") }
            for value in others { #expect(try !opens("{\"/\":\"/x$(\(name))\"}", "/x" + value), "\(name) \(value)") }
        }
    }
}
