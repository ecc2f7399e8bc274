// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// The default values of a file and of its entries, and which of several values counts.
@Suite struct `Default values of association files` {
    /// Returns the app that opens a link, of all that the file names.
    private func app(_ details: String, _ link: String, defaults: String = "{}") throws -> String? {
        let text = #"{"applinks":{"defaults":\#(defaults),"details":[\#(details)]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        return matcher.answer(try LinkURL("https://h.example\(link)"), installed: nil).app
    }

    private func entry(_ rules: String, defaults: String = "{}", list: String = "components", app: String = "T.a")
        -> String
    {
        #"{"appIDs":["\#(app)"],"defaults":\#(defaults),"\#(list)":[\#(rules)]}"#
    }

    @Test func `Those of the file and of an entry count together, each for its key`() throws {
        let (coded, cased) = (#"{"percentEncoded":false}"#, #"{"caseSensitive":false}"#)
        let rule = #"{"/":"/a b"}"#
        for (outer, inner) in [(coded, cased), (cased, coded)] {
            #expect(try app(entry(rule, defaults: inner), "/A%20B", defaults: outer) == "T.a")
        }
        #expect(try app(entry(rule, defaults: cased), "/A%20B") == nil)
        #expect(try app(entry(rule), "/A%20B", defaults: cased) == nil)
        // The rule's own value is the last word, and changes nothing of the other.
        let own = entry(#"{"/":"/a b","caseSensitive":true}"#, defaults: coded)
        #expect(try app(own, "/A%20B", defaults: cased) == nil)
        #expect(try app(own, "/a%20b", defaults: cased) == "T.a")
    }

    @Test func `Those of an entry are for its own rules, and none of the entries around it`() throws {
        let entries = [
            entry(#"{"/":"/x"}"#, app: "T.a"), entry(#"{"/":"/y"}"#, defaults: #"{"caseSensitive":false}"#, app: "T.b"),
            entry(#"{"/":"/z"}"#, app: "T.c"),
        ].joined(separator: ",")
        for (link, expected) in [("/X", nil), ("/Y", "T.b"), ("/Z", nil), ("/z", "T.c")] as [(String, String?)] {
            #expect(try app(entries, link) == expected, "\(link)")
        }
    }

    @Test(
        arguments: [
            (#"{"/":"/x"}"#, "{}", "/x", true), (#"{"/":"/x"}"#, "{}", "/y", false),
            (#"{"/":"/x"}"#, #"{"/":"/y"}"#, "/y", true), (#"{"/":"/x"}"#, #"{"/":"/y"}"#, "/x", false),
            (##"{"#":"f"}"##, "{}", "/x#f", true), (##"{"#":"f"}"##, "{}", "/x", false),
            (##"{"#":"f"}"##, ##"{"#":"*"}"##, "/x", true),
            (#"{"?":"q"}"#, "{}", "/x?q", true), (#"{"?":"q"}"#, "{}", "/x?r", false),
            (#"{"?":"q"}"#, #"{"?":{"a":"1"}}"#, "/x?a=1", true),
            (#"{"?":{"a":"1"}}"#, #"{"?":{"b":"2"}}"#, "/x?a=9&b=2", true),
            (#"{"?":{"a":"1"}}"#, #"{"/":"/x"}"#, "/x?a=9", false),
            (#"{"exclude":true}"#, #"{"/":"/x"}"#, "/x", false),
            (#"{"exclude":true}"#, #"{"/":"/x","exclude":false}"#, "/x", true),
        ]
    )
    func `Any key may have one, and a rule's own value takes its place as a whole`(
        _ defaults: String,
        _ rule: String,
        _ link: String,
        _ isOpened: Bool
    ) throws {
        let expected = isOpened ? "T.a" : nil
        #expect(try app(entry(rule), link, defaults: defaults) == expected)
        #expect(try app(entry(rule, defaults: defaults), link) == expected)
    }

    @Test(
        arguments: [
            (#"{"caseSensitive":false}"#, #"{"/":"/x","caseSensitive":"no"}"#, "/X", true),
            (#"{"percentEncoded":false}"#, #"{"/":"/a b","percentEncoded":0}"#, "/a%20b", true),
            (#"{"exclude":true}"#, #"{"/":"/x","exclude":null}"#, "/x", false),
            (#"{"/":"/x"}"#, #"{"/":5}"#, "/y", false), (##"{"#":"f"}"##, ##"{"#":[]}"##, "/x#g", false),
            (#"{"?":"q"}"#, #"{"?":{"a":5}}"#, "/x?r", false), (#"{"?":"q"}"#, #"{"?":5}"#, "/x?q", true),
        ]
    )
    func `One counts where the rule's own value is of the wrong type and so is ignored`(
        _ defaults: String,
        _ rule: String,
        _ link: String,
        _ isOpened: Bool
    ) throws {
        let expected = isOpened ? "T.a" : nil
        #expect(try app(entry(rule), link, defaults: defaults) == expected)
        #expect(try app(entry(rule, defaults: defaults), link) == expected)
        // The same is true of an entry's default before one of the file.
        #expect(try app(entry("{}", defaults: rule), link, defaults: defaults) == expected)
    }

    @Test func `Paths have none`() throws {
        let defaults = #"{"caseSensitive":false,"percentEncoded":false,"exclude":true,"?":"q"}"#
        for (link, expected) in [("/x", "T.a"), ("/X", nil), ("/%78", nil)] as [(String, String?)] {
            #expect(try app(entry(#""/x""#, list: "paths"), link, defaults: defaults) == expected, "\(link)")
            #expect(try app(entry(#""/x""#, defaults: defaults, list: "paths"), link) == expected, "\(link)")
        }
    }

    @Test(arguments: ["[]", "5", #"{"/":"*"}"#, "[5]", "null"])
    func `Paths count only where there are no components at all`(_ components: String) throws {
        let details = #"{"appIDs":["T.a"],"components":\#(components),"paths":["*"]}"#
        #expect(try app(details, "/x") == nil)
    }
}
