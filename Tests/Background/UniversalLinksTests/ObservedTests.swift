// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Checks single rules against recorded answers of Apple's own tool.
struct ObservedTests {
    struct Probe: Sendable, CustomTestStringConvertible {
        var rule: String
        var url: String
        var matches: Bool
        var testDescription: String { "\(rule) \(url)" }

        init(_ rule: String, _ url: String, _ matches: Bool) {
            self.rule = rule
            self.url = "https://example.com\(url)"
            self.matches = matches
        }
    }

    static let slashes = [
        Probe(#"{"/":"/buy/*"}"#, "/buy", true), Probe(#"{"/":"/buy/*"}"#, "/buy//", true),
        Probe(#"{"/":"/buy/*"}"#, "/buyer", false), Probe(#"{"/":"/buy/*"}"#, "/bu", false),
        Probe(#"{"/":"/a/*/c"}"#, "/a/c", false), Probe(#"{"/":"/id/????"}"#, "/id/481", false),
        Probe(#"{"/":"*abc"}"#, "/xabc", true), Probe(#"{"/":"abc/*"}"#, "/abc", true),
        Probe(#"{"/":"abc"}"#, "/xabc", false), Probe(#"{"/":"abc"}"#, "/abcd", false),
        Probe(#"{"/":"//abc"}"#, "/abc", true), Probe(#"{"/":"/"}"#, "", true), Probe(#"{"/":"/"}"#, "/", true),
        Probe(#"{"/":"/buy/"}"#, "/buy", true), Probe(#"{"/":"/buy/"}"#, "/buy//", true),
    ]

    static let queries = [
        Probe(#"{"?":{"b":"*"}}"#, "/x?a=1", true), Probe(#"{"?":{"b":"?*"}}"#, "/x?a=1", false),
        Probe(#"{"?":{"b":"1"}}"#, "/x?a=1", false), Probe(#"{"?":{"id":"42"}}"#, "/x?id=7&id=42&id=9", false),
        Probe(#"{"?":{"id":"7"}}"#, "/x?id=7&id=7", true), Probe(#"{"?":{"id":""}}"#, "/x?id=7&id=42", false),
        Probe(#"{"?":{"flag":true}}"#, "/x?other=1", true), Probe(#"{"?":{"n":5}}"#, "/x?n=6", true),
        Probe(#"{"?":{"a":"1","flag":true}}"#, "/x?a=2", true), Probe(#"{"?":{"a":["1"]}}"#, "/x?a=2", true),
        Probe(#"{"?":"a=1"}"#, "/x?a=1&b=2", false), Probe(#"{"?":""}"#, "/x", true),
        Probe(#"{"?":"a=1"}"#, "/x", false),
    ]

    static let encodings = [
        Probe(#"{"/":"/a b"}"#, "/a%20b", false), Probe(#"{"/":"/a b","percentEncoded":false}"#, "/a%20b", true),
        Probe(#"{"/":"/a%20b","percentEncoded":false}"#, "/a%20b", false), Probe(#"{"/":"/a/b"}"#, "/a%2Fb", false),
        Probe(#"{"/":"/a/b","percentEncoded":false}"#, "/a%2Fb", true),
        Probe(#"{"/":"/caf\#u{e9}","percentEncoded":false}"#, "/caf%C3%A9", true),
        Probe(#"{"/":"/?/x","percentEncoded":false}"#, "/%C3%A9/x", true),
        Probe(#"{"/":"/?/x","percentEncoded":false}"#, "/%C3%A9%C3%A9/x", false),
        Probe(#"{"/":"/CAF\#u{c9}","percentEncoded":false,"caseSensitive":false}"#, "/caf%C3%A9", true),
        Probe(#"{"/":"/caf%C3%A9"}"#, "/caf\u{e9}", true),
        Probe(#"{"/":"/foo/*","casesensitive":false}"#, "/FOO/1", false), Probe("{}", "/anything", true),
        Probe(#"{"/":"/$(nobody)/x"}"#, "/a/x", false),
        Probe(#"{"/":"/$(upper)/x","caseSensitive":false}"#, "/q/x", true),
    ]

    @Test("Slashes at the ends", arguments: slashes) func slash(_ probe: Probe) throws { try check(probe) }
    @Test("Query items", arguments: queries) func query(_ probe: Probe) throws { try check(probe) }
    @Test("Escapes and case", arguments: encodings) func encoding(_ probe: Probe) throws { try check(probe) }

    private func check(_ probe: Probe) throws {
        let text = #"{"applinks":{"details":[{"appIDs":["A.b"],"components":[\#(probe.rule)]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let answer = matcher.answer(try LinkURL(probe.url), installed: ["A.b"])
        #expect((answer.app != nil) == probe.matches, "\(answer.why)")
    }
}
