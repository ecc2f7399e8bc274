// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// What of a link is its path, its query, its items and its fragment, and what each is compared with.
@Suite struct `The parts of a link` {
    private func opens(_ rules: String, _ link: String, variables: String = "{}") throws -> Bool {
        let details = #"[{"appIDs":["T.a"],"components":[\#(rules)]}]"#
        let text = #"{"applinks":{"substitutionVariables":\#(variables),"details":\#(details)}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        return matcher.answer(try LinkURL("https://h.example\(link)"), installed: ["T.a"]).app == "T.a"
    }

    @Test(
        arguments: [
            // Items have no order; a query that is compared as a whole has one.
            (#"{"?":{"a":"1","b":"2"}}"#, "/x?b=2&c=3&a=1", true), (#"{"?":{"b":"2","a":"1"}}"#, "/x?a=1&b=2", true),
            (#"{"?":"a=1&b=2"}"#, "/x?a=1&b=2", true), (#"{"?":"a=1&b=2"}"#, "/x?b=2&a=1", false),
            // Only an ampersand separates items, and only the first equals sign ends a name.
            (#"{"?":{"a":"1=2"}}"#, "/x?a=1=2", true), (#"{"?":{"b":"2"}}"#, "/x?a=1;b=2", false),
            (#"{"?":{"a":"1;b=2"}}"#, "/x?a=1;b=2", true), (#"{"?":{"b":"2"}}"#, "/x?a=1&&b=2", true),
            // A name is compared as a whole.
            (#"{"?":{"a":"1"}}"#, "/x?aa=1", false), (#"{"?":{"aa":"1"}}"#, "/x?a=1", false),
            (#"{"?":{"":"1"}}"#, "/x?=1", true),
            // A plus sign is no space.
            (#"{"?":{"a":"b c"},"percentEncoded":false}"#, "/x?a=b+c", false),
            (#"{"?":{"a":"b+c"},"percentEncoded":false}"#, "/x?a=b+c", true),
        ]
    )
    func `A query has items`(_ rules: String, _ link: String, _ isOpened: Bool) throws {
        #expect(try opens(rules, link) == isOpened)
    }

    @Test(
        arguments: [
            // What an escape stands for separates nothing.
            (#"{"?":{"a":"1&b=2"},"percentEncoded":false}"#, "/x?a=1%26b=2", true),
            (#"{"?":{"b":"2"},"percentEncoded":false}"#, "/x?a=1%26b=2", false),
            (#"{"?":{"a=b":"1"},"percentEncoded":false}"#, "/x?a%3Db=1", true),
            (##"{"/":"/a#b","percentEncoded":false}"##, "/a%23b", true),
            (##"{"#":"b","percentEncoded":false}"##, "/a%23b", false),
            // Each escape is resolved once, and what is none stays.
            (#"{"/":"/%41","percentEncoded":false}"#, "/%2541", true),
            (#"{"/":"/A","percentEncoded":false}"#, "/%2541", false),
            (#"{"/":"/%zz","percentEncoded":false}"#, "/%zz", true),
            (#"{"/":"/%4g%41","percentEncoded":false}"#, "/%4g%2541", true),
            (#"{"/":"/a%2","percentEncoded":false}"#, "/a%2", true),
            (#"{"/":"/a%","percentEncoded":false}"#, "/a%", true),
            // An escape ends with its part.
            (#"{"/":"/a%","?":"41","percentEncoded":false}"#, "/a%?41", true),
            // Otherwise they are compared as they are written.
            (#"{"/":"/a%20b"}"#, "/a%20b", true), (#"{"?":{"a":"%41"}}"#, "/x?a=A", false),
            (##"{"#":"%41"}"##, "/x#%41", true), (##"{"#":"A"}"##, "/x#%41", false),
            (##"{"#":"A","percentEncoded":false}"##, "/x#%41", true),
        ]
    )
    func `Escapes are resolved in each part by itself`(_ rules: String, _ link: String, _ isOpened: Bool) throws {
        #expect(try opens(rules, link) == isOpened)
    }

    @Test(
        arguments: [
            // A fragment has all that follows the first number sign.
            (##"{"#":"a?b=1"}"##, "/x#a?b=1", true), (##"{"#":"a#b"}"##, "/x#a#b", true),
            (##"{"#":"a/b"}"##, "/x#a/b", true), (#"{"?":"?*"}"#, "/x#a?b=1", false),
            (#"{"/":"/x"}"#, "/x#/y", true), (##"{"/":"/x","#":"f"}"##, "/x/?q#f", true),
            // A part that is there and empty is as good as none.
            (#"{"?":"?*"}"#, "/x?", false), (#"{"?":""}"#, "/x?", true), (##"{"#":"?*"}"##, "/x#", false),
            (##"{"#":""}"##, "/x#", true), (##"{"#":""}"##, "/x", true), (##"{"#":""}"##, "/x#f", false),
            (##"{"?":"","#":""}"##, "/x?#", true),
            // A link may have no path.
            (#"{"/":"/","?":{"a":"1"}}"#, "?a=1", true), (##"{"/":"/","#":"f"}"##, "#f", true),
            (#"{"/":"/?*"}"#, "?a=1", false), (#"{"/":"/*"}"#, "", true),
            // A slash at the end of a query or of a fragment counts.
            (#"{"?":"a=1/"}"#, "/x?a=1", false), (##"{"#":"f"}"##, "/x#f/", false), (##"{"#":"f/"}"##, "/x#f/", true),
            // So does one inside a path, and none at its end.
            (#"{"/":"/a//b"}"#, "/a/b", false), (#"{"/":"/a/b"}"#, "/a//b", false), (#"{"/":"/a/b"}"#, "/a/b///", true),
        ]
    )
    func `Each part begins and ends where it should`(_ rules: String, _ link: String, _ isOpened: Bool) throws {
        #expect(try opens(rules, link) == isOpened)
    }

    @Test(
        arguments: [
            ("/x?web=1", false), ("/x?web=2", true), ("/x", true), ("/x/private", false), ("/x/private/y", false),
            ("/x/privately", true), ("/x#no", false), ("/x?web=2#no", false), ("/y", false),
        ]
    )
    func `The first rule that matches decides, and one that excludes leaves nothing to those behind it`(
        _ link: String,
        _ isOpened: Bool
    ) throws {
        let rules =
            ##"{"?":{"web":"1"},"exclude":true},{"/":"/x/private/*","exclude":true},"##
            + ##"{"#":"no","exclude":true},{"/":"/x*"},{"/":"/x/private/*"},{"/":"*","exclude":true}"##
        #expect(try opens(rules, link) == isOpened)
        // What comes first counts, also where a later rule excludes it.
        #expect(try opens(##"{"/":"/x*"},{"/":"*","exclude":true}"##, link) == link.hasPrefix("/x"))
    }

    @Test(
        arguments: [
            ("Name", "/x", true), ("name", "/x", false), ("NAME", "/x", false), ("Name ", "/x", false),
            ("Name", "/X", true),
        ]
    )
    func `The name of a variable counts as it is written, also where case does not count`(
        _ name: String,
        _ link: String,
        _ isOpened: Bool
    ) throws {
        let rule = #"{"/":"/$(\#(name))","caseSensitive":false}"#
        #expect(try opens(rule, link, variables: #"{"Name":["x"]}"#) == isOpened)
    }

    @Test(
        arguments: [
            ("/de", true), ("/haw", true), ("/DE", false), ("/d", false), ("/qq", false), ("/dede", false),
            ("/de/", true),
        ]
    )
    func `A language has the small letters of its code`(_ link: String, _ isOpened: Bool) throws {
        #expect(try opens(#"{"/":"/$(lang)"}"#, link) == isOpened)
    }

    @Test(arguments: [true, false]) func `A file's own variable takes the place of the predefined one`(
        isCaseSensitive: Bool
    ) throws {
        let rule = #"{"/":"/$(lang)/x","caseSensitive":\#(isCaseSensitive)}"#
        for (link, isOpened) in [
            ("/de/x", true), ("/plattdeutsch/x", true), ("/en/x", false), ("/DE/x", !isCaseSensitive),
            ("/EN/x", false),
        ] {
            let isHere = try opens(rule, link, variables: #"{"lang":["de","plattdeutsch"]}"#)
            #expect(isHere == isOpened, "\(link)")
        }
    }

    @Test func `A value of a variable may be empty, take more than one character, and stand twice in a pattern`() throws
    {
        let variables = #"{"v":["","a*","b?"]}"#
        for (link, isOpened) in [
            ("/-", true), ("/axyz-", true), ("/-a", true), ("/bx-by", true), ("/b-", false), ("/bxy-", false),
            ("/c-", false), ("/ax-c", false),
        ] {
            #expect(try opens(#"{"/":"/$(v)-$(v)"}"#, link, variables: variables) == isOpened, "\(link)")
        }
        // It counts in a query and in a fragment too.
        for rule in [##"{"?":{"q":"$(v)"}}"##, ##"{"?":"q=$(v)"}"##, ##"{"#":"q=$(v)"}"##] {
            let start = rule.contains("#") ? "/x#q=" : "/x?q="
            for (value, isOpened) in [("", true), ("axyz", true), ("bx", true), ("b", false), ("c", false)] {
                #expect(try opens(rule, start + value, variables: variables) == isOpened, "\(rule) \(value)")
            }
        }
    }
}
