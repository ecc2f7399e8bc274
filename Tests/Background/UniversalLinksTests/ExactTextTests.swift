// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Texts that look the same, such as an `é` of one character and one of two, are different keys and patterns.
@Suite struct `Texts that look the same` {
    private func file(_ rules: String, variables: String = "{}") throws -> AssociationFile {
        let details = #"[{"appIDs":["T.a"],"components":[\#(rules)]}]"#
        let text = #"{"applinks":{"substitutionVariables":\#(variables),"details":\#(details)}}"#
        return try AssociationFile(parsing: Data(text.utf8))
    }

    private func opens(_ file: AssociationFile, _ link: String) throws -> Bool {
        LinkMatcher(file).answer(try LinkURL("https://h.example\(link)"), installed: ["T.a"]).app == "T.a"
    }

    @Test func `Items of a query with two such names have a pattern each`() throws {
        let file = try file(#"{"?":{"\u00e9":"a","e\u0301":"b"},"percentEncoded":false}"#)
        #expect(file.check().isEmpty)
        #expect(try opens(file, "/?%C3%A9=a&e%CC%81=b"))
        for query in ["%C3%A9=a&e%CC%81=a", "%C3%A9=b&e%CC%81=b", "%C3%A9=a", "e%CC%81=b"] {
            #expect(try !opens(file, "/?\(query)"), "\(query)")
        }
    }

    @Test(arguments: [(#"\u00e9"#, "1", "2"), (#"e\u0301"#, "2", "1")])
    func `Variables with two such names have their own values`(name: String, value: String, other: String) throws {
        let variables = #"{"\u00e9":["1"],"e\u0301":["2"]}"#
        let file = try file(#"{"/":"/$(\#(name))","percentEncoded":false}"#, variables: variables)
        #expect(try opens(file, "/\(value)") && !opens(file, "/\(other)"))
        // The other one is not used.
        #expect(file.check().map(\.id) == ["AASA010"])
    }

    @Test func `The name of a variable may have any letters where those of the path are escaped`() throws {
        let variables = #"{"\u00e9":["1"]}"#
        #expect(try file(#"{"/":"/$(\u00e9)"}"#, variables: variables).check().isEmpty)
        for path in [#"/\u00e9/$(\u00e9)"#, #"/$(\u00e9)/\u00e9"#] {
            let found = try file(#"{"/":"\#(path)"}"#, variables: variables).check()
            #expect(found.map(\.id) == ["AASA013"], "\(path)")
        }
    }

    @Test(arguments: [
        (##"{"/":"/\u00e9",*"##, ##"{"/":"/e\u0301",*"##), (##"{"/":"/\u00e9/*",*"##, ##"{"/":"/e\u0301/x",*"##),
        (##"{"/":"/x","#":"\u00e9",*"##, ##"{"/":"/x","#":"e\u0301",*"##),
        (##"{"/":"/x","?":"\u00e9",*"##, ##"{"/":"/x","?":"e\u0301",*"##),
        (##"{"/":"/x","?":{"a":"\u00e9"},*"##, ##"{"/":"/x","?":{"a":"e\u0301"},*"##),
        (##"{"/":"/x","?":{"\u00e9":"1"},*"##, ##"{"/":"/x","?":{"e\u0301":"1"},*"##),
    ])
    func `A rule does not cover one that only looks the same`(one: String, other: String) throws {
        let rules = [one, other].map { $0.replacing(",*", with: #","percentEncoded":false}"#) }
        #expect(try file(rules.joined(separator: ",")).check().isEmpty)
        #expect(try file([rules[0], rules[0]].joined(separator: ",")).check().map(\.id) == ["AASA011"])
    }

    @Test func `A mark after the bracket of a variable belongs to the path`() throws {
        let file = try file(#"{"/":"/$(a)\u0301","percentEncoded":false}"#, variables: #"{"a":["x"]}"#)
        #expect(file.check().isEmpty)
        #expect(try opens(file, "/x%CC%81"))
    }

    // MARK: Letters of either case

    /// Opens links with a rule that ignores case and resolves escapes.
    private func opensInAnyCase(_ rule: String, _ link: String, variables: String = "{}") throws -> Bool {
        let file = try file("{\(rule),\"caseSensitive\":false,\"percentEncoded\":false}", variables: variables)
        return try opens(file, link)
    }

    @Test(arguments: ["/%C3%9C", "/%C3%BC"])
    func `Without case the values of variables match in either case`(link: String) throws {
        for value in [#"\u00dc"#, #"\u00fc"#] {
            #expect(try opensInAnyCase(#""/":"/$(v)""#, link, variables: #"{"v":["\#(value)"]}"#), "\(value)")
        }
    }

    @Test func `Without case the name of a variable keeps its letters, and those around it do not`() throws {
        let rule = #""/":"/\u00c9$(\u00c9)\u00c9""#
        for link in ["/%C3%A9x%C3%A9", "/%C3%89X%C3%89"] {
            #expect(try opensInAnyCase(rule, link, variables: #"{"\u00c9":["x"]}"#), "\(link)")
        }
        #expect(try !opensInAnyCase(rule, "/%C3%A9x%C3%A9", variables: #"{"\u00e9":["x"]}"#))
    }

    @Test(arguments: ["%E1%BA%9E", "%C3%9F"])
    func `Without case the name of an item may have fewer bytes in the other case`(name: String) throws {
        let rule = #""?":{"\u1e9e":"1"}"#
        #expect(try opensInAnyCase(rule, "/?\(name)=1") && !opensInAnyCase(rule, "/?\(name)=2"))
    }
}
