// SPDX-License-Identifier: Apache-2.0
import PropertyTesting
import Testing
import UniversalLinks

/// Which links a rule opens. `+` opens the link at the line's end, `-` does not; a full stop is a link without a path.
struct LinkTests {
    /// Recorded answers of Apple's own tool.
    static let observed = Row.table(
        #"""
        # Slashes
        + {"/":"/buy/*"} /buy
        + {"/":"/buy/*"} /buy//
        - {"/":"/buy/*"} /buyer
        - {"/":"/buy/*"} /bu
        - {"/":"/a/*/c"} /a/c
        - {"/":"/id/????"} /id/481
        + {"/":"*abc"} /xabc
        + {"/":"abc/*"} /abc
        - {"/":"abc"} /xabc
        - {"/":"abc"} /abcd
        + {"/":"//abc"} /abc
        + {"/":"/"} .
        + {"/":"/"} /
        + {"/":"/buy/"} /buy
        + {"/":"/buy/"} /buy//
        # Queries
        + {"?":{"b":"*"}} /x?a=1
        - {"?":{"b":"?*"}} /x?a=1
        - {"?":{"b":"1"}} /x?a=1
        - {"?":{"id":"42"}} /x?id=7&id=42&id=9
        + {"?":{"id":"7"}} /x?id=7&id=7
        - {"?":{"id":""}} /x?id=7&id=42
        + {"?":{"flag":true}} /x?other=1
        + {"?":{"n":5}} /x?n=6
        + {"?":{"a":"1","flag":true}} /x?a=2
        + {"?":{"a":["1"]}} /x?a=2
        - {"?":"a=1"} /x?a=1&b=2
        + {"?":""} /x
        - {"?":"a=1"} /x
        # Escapes and case
        - {"/":"/a b"} /a%20b
        + {"/":"/a b","percentEncoded":false} /a%20b
        - {"/":"/a%20b","percentEncoded":false} /a%20b
        - {"/":"/a/b"} /a%2Fb
        + {"/":"/a/b","percentEncoded":false} /a%2Fb
        + {"/":"/caf\u00e9","percentEncoded":false} /caf%C3%A9
        + {"/":"/?/x","percentEncoded":false} /%C3%A9/x
        - {"/":"/?/x","percentEncoded":false} /%C3%A9%C3%A9/x
        + {"/":"/CAF\u00c9","percentEncoded":false,"caseSensitive":false} /caf%C3%A9
        + {"/":"/caf%C3%A9"} /café
        - {"/":"/foo/*","casesensitive":false} /FOO/1
        + {} /anything
        - {"/":"/$(nobody)/x"} /a/x
        + {"/":"/$(upper)/x","caseSensitive":false} /q/x
        """#
    )

    static let parts = Row.table(
        ##"""
        # Items have no order; a query that is compared as a whole has one.
        + {"?":{"a":"1","b":"2"}} /x?b=2&c=3&a=1
        + {"?":"a=1&b=2"} /x?a=1&b=2
        - {"?":"a=1&b=2"} /x?b=2&a=1
        # Only an ampersand separates items, and only the first equals sign ends a name.
        + {"?":{"a":"1=2"}} /x?a=1=2
        - {"?":{"b":"2"}} /x?a=1;b=2
        + {"?":{"a":"1;b=2"}} /x?a=1;b=2
        + {"?":{"b":"2"}} /x?a=1&&b=2
        + {"?":{"a":"1"}} /x?&a=1&
        - {"?":{"a":"1"}} /x?a=1&a=2&
        - {"?":{"a":"1"}} /x?a=1&a
        - {"?":{"a":"1"}} /x?a=12&
        # A name is compared as a whole; a plus sign is not a space.
        - {"?":{"a":"1"}} /x?aa=1
        - {"?":{"aa":"1"}} /x?a=1
        + {"?":{"":"1"}} /x?=1
        - {"?":{"a":"b c"},"percentEncoded":false} /x?a=b+c
        + {"?":{"a":"b+c"},"percentEncoded":false} /x?a=b+c
        # The first question mark begins the query.
        + {"/":"/x","?":{"a":"b??c"}} /x?a=b??c
        - {"/":"/x?a=b"} /x?a=b?c
        # An escaped separator separates nothing.
        + {"?":{"a":"1&b=2"},"percentEncoded":false} /x?a=1%26b=2
        - {"?":{"b":"2"},"percentEncoded":false} /x?a=1%26b=2
        + {"?":{"a=b":"1"},"percentEncoded":false} /x?a%3Db=1
        + {"/":"/a#b","percentEncoded":false} /a%23b
        - {"#":"b","percentEncoded":false} /a%23b
        # Each escape is resolved once, has digits of either case, and ends with its part; others stay.
        + {"/":"/%41","percentEncoded":false} /%2541
        - {"/":"/A","percentEncoded":false} /%2541
        + {"/":"/%zz","percentEncoded":false} /%zz
        + {"/":"/a%2","percentEncoded":false} /a%2
        + {"/":"/a%","?":"41","percentEncoded":false} /a%?41
        + {"/":"/a/b","percentEncoded":false} /a%2fb
        + {"/":"/?","percentEncoded":false} /%FF
        # Unless they are resolved, they are compared as written.
        + {"/":"/a%20b"} /a%20b
        - {"?":{"a":"%41"}} /x?a=A
        + {"#":"%41"} /x#%41
        - {"#":"A"} /x#%41
        + {"#":"A","percentEncoded":false} /x#%41
        # A fragment is all that follows the first number sign.
        + {"#":"a?b=1"} /x#a?b=1
        + {"#":"a#b"} /x#a#b
        - {"?":"?*"} /x#a?b=1
        + {"/":"/x"} /x#/y
        + {"/":"/x","#":"f"} /x/?q#f
        # An empty part is the same as no part.
        - {"?":"?*"} /x?
        + {"?":""} /x?
        - {"#":"?*"} /x#
        + {"#":""} /x#
        + {"#":""} /x
        - {"#":""} /x#f
        # A link may have no path.
        + {"/":"/","?":{"a":"1"}} ?a=1
        + {"/":"/","#":"f"} #f
        - {"/":"/?*"} ?a=1
        + {"/":"/*"} .
        # A slash at the end counts everywhere but in the path.
        - {"?":"a=1/"} /x?a=1
        - {"#":"f"} /x#f/
        + {"#":"f/"} /x#f/
        - {"/":"/a//b"} /a/b
        - {"/":"/a/b"} /a//b
        + {"/":"/a/b"} /a/b///
        # The text before a slash and a star matches alone, but only in a path.
        - {"?":"a/*"} /?a
        + {"?":"a/*"} /?a/
        - {"/":"/ab*"} /a
        + {"/":"/ab*"} /ab
        # Stars in a row are one.
        + {"?":"*a*"} /?xay
        + {"?":"a**b"} /?axb
        # Without case, letters have their other case and nothing else has one.
        + {"/":"/aZz","caseSensitive":false} /AzZ
        - {"/":"/@[","caseSensitive":false} /`{
        + {"/":"/\u0130","caseSensitive":false,"percentEncoded":false} /%C4%B0
        - {"/":"/\u0130","caseSensitive":false,"percentEncoded":false} /i%CC%87
        # The first rule that matches decides.
        + {"/":"/x*"},{"/":"*","exclude":true} /x/y
        - {"?":{"web":"1"},"exclude":true},{"/":"/x*"} /x?web=1
        + {"?":{"web":"1"},"exclude":true},{"/":"/x*"} /x?web=2
        - {"/":"/x/private/*","exclude":true},{"/":"/x*"} /x/private
        + {"/":"/x/private/*","exclude":true},{"/":"/x*"} /x/privately
        - {"#":"no","exclude":true},{"/":"/x*"} /x#no
        """##
    )

    /// With the variables v of three values, Name and é (one character), and é (two characters).
    static let variables = Row.table(
        ##"""
        # A value may be empty, have wildcards, and be used twice; it counts in each component.
        + {"/":"/$(v)-$(v)"} /-
        + {"/":"/$(v)-$(v)"} /axyz-
        + {"/":"/$(v)-$(v)"} /bx-by
        - {"/":"/$(v)-$(v)"} /b-
        - {"/":"/$(v)-$(v)"} /bxy-
        - {"/":"/$(v)-$(v)"} /ax-c
        + {"?":{"q":"$(v)"}} /x?q=bx
        - {"?":{"q":"$(v)"}} /x?q=b
        + {"?":"q=$(v)"} /x?q=
        - {"?":"q=$(v)"} /x?q=c
        + {"#":"q=$(v)"} /x#q=axyz
        # The name is compared as written, the value without case where the rule says so.
        + {"/":"/$(Name)","caseSensitive":false} /X
        - {"/":"/$(Name)"} /X
        - {"/":"/$(name)","caseSensitive":false} /x
        - {"/":"/$(Name )","caseSensitive":false} /x
        # Names that look the same are different.
        + {"/":"/$(\u00e9)","percentEncoded":false} /1
        - {"/":"/$(\u00e9)","percentEncoded":false} /2
        + {"/":"/$(e\u0301)","percentEncoded":false} /2
        + {"?":{"\u00e9":"a","e\u0301":"b"},"percentEncoded":false} /?%C3%A9=a&e%CC%81=b
        - {"?":{"\u00e9":"a","e\u0301":"b"},"percentEncoded":false} /?%C3%A9=b&e%CC%81=b
        # An item's name may have fewer bytes in its other case.
        + {"?":{"\u1e9e":"1"},"caseSensitive":false,"percentEncoded":false} /?%C3%9F=1
        - {"?":{"\u1e9e":"1"},"caseSensitive":false,"percentEncoded":false} /?%C3%9F=2
        # A mark after the bracket belongs to the path.
        + {"/":"/$(Name)\u0301","percentEncoded":false} /x%CC%81
        # A file's own variable replaces the predefined one; a name with a bracket or a dollar sign is not a variable.
        + {"/":"/$(lang)"} /plattdeutsch
        - {"/":"/$(lang)"} /en
        - {"/":"/$(a)b)"} /x
        - {"/":"/$(a$b)"} /x
        """##
    )

    @Test(arguments: observed) func `Link match: the same answers as Apple's tool gave`(_ row: Row) throws {
        #expect(try opens(row.subject, row.last) == row.isPositive)
    }

    @Test(arguments: parts) func `Link match: path, query and fragment are compared with their components`(_ row: Row)
        throws
    {
        #expect(try opens(row.subject, row.last) == row.isPositive)
    }

    @Test(arguments: variables) func `Link: variables of the file are replaced by their values`(_ row: Row) throws {
        let values = #"""
            {"v":["","a*","b?"],"Name":["x"],"\u00e9":["1"],"e\u0301":["2"],"lang":["de","plattdeutsch"],"a)b":["x"],"a$b":["x"]}
            """#
        #expect(try opens(row.subject, row.last, variables: values) == row.isPositive)
    }

    @Test func `Link: predefined variables range from their first value to their last`() throws {
        let rows: [(String, [String], [String])] = [
            ("upper", ["A", "Z"], ["@", "[", "a"]), ("lower", ["a", "z"], ["`", "{", "A"]),
            ("digit", ["0", "9"], ["/0", ":", "a"]), ("alpha", ["A", "Z", "a", "z"], ["0"]),
            ("alnum", ["A", "z", "0", "9"], ["_"]), ("xdigit", ["0", "9", "A", "F", "a", "f"], ["G", "g"]),
            ("region", ["AD", "NZ", "ZA", "ZW"], ["Z", "us", "419"]),
            ("lang", ["de", "haw"], ["DE", "d", "qq", "dede"]),
        ]
        for (name, values, others) in rows {
            for value in values { #expect(try opens(#"{"/":"/x$(\#(name))"}"#, "/x" + value), "\(name) \(value)") }
            for value in others { #expect(try !opens(#"{"/":"/x$(\#(name))"}"#, "/x" + value), "\(name) \(value)") }
        }
    }

    @Test(arguments: [58, 63, 64, 65, 121, 127, 128, 129])
    func `Link: a long pattern matches like a short one`(_ length: Int) throws {
        let text = String(repeating: "a", count: length)
        let rows: [(rule: String, ends: [(String, Bool)])] = [
            (#"{"/":"/?\#(text)/*"}"#, [("", true), ("/", true), ("/y", true), ("y", false)]),
            (#"{"/":"/?\#(text)?b","percentEncoded":false}"#, [("yb", true), ("%C3%A9b", true), ("b", false)]),
            (#"{"/":"/?\#(text)*b"}"#, [("b", true), ("yyyb", true), ("bbb", true), ("yyy", false)]),
            (#"{"/":"/?\#(text)$(v)b"}"#, [("oneb", true), ("twob", true), ("onetwob", false), ("b", false)]),
        ]
        for (rule, ends) in rows {
            for (end, isOpened) in ends {
                let isHere = try opens(rule, "/x\(text)\(end)", variables: #"{"v":["one","two"]}"#)
                #expect(isHere == isOpened, "\(rule) \(end)")
            }
        }
    }

    // MARK: Default values

    /// A default, a rule, and a link.
    static let defaults = Row.table(
        ##"""
        # A rule's own value replaces the default as a whole.
        + {"/":"/x"}|{} /x
        - {"/":"/x"}|{} /y
        + {"/":"/x"}|{"/":"/y"} /y
        - {"/":"/x"}|{"/":"/y"} /x
        - {"#":"f"}|{} /x
        + {"#":"f"}|{"#":"*"} /x
        + {"?":"q"}|{"?":{"a":"1"}} /x?a=1
        + {"?":{"a":"1"}}|{"?":{"b":"2"}} /x?a=9&b=2
        - {"?":{"a":"1"}}|{"/":"/x"} /x?a=9
        - {"exclude":true}|{"/":"/x"} /x
        + {"exclude":true}|{"/":"/x","exclude":false} /x
        # A value of the wrong type is ignored, so that the default counts.
        + {"caseSensitive":false}|{"/":"/x","caseSensitive":"no"} /X
        + {"percentEncoded":false}|{"/":"/a b","percentEncoded":0} /a%20b
        - {"exclude":true}|{"/":"/x","exclude":null} /x
        - {"/":"/x"}|{"/":5} /y
        - {"?":"q"}|{"?":{"a":5}} /x?r
        """##
    )

    @Test(arguments: defaults)
    func `Defaults of an association file or entry: apply to each rule`(_ row: Row) throws {
        let parts = row.subject.split(separator: "|").map(String.init)
        for (outer, inner) in [(parts[0], "{}"), ("{}", parts[0])] {
            let entries = #"[{"appIDs":["T.a"],"defaults":\#(inner),"components":[\#(parts[1])]}]"#
            let file = try associationFile(entries: entries, other: #""defaults":\#(outer),"#)
            let app = LinkMatcher(file).answer(try link(row.last), installed: nil).app
            #expect((app == "T.a") == row.isPositive, "\(entries)")
        }
    }

    @Test func `Defaults: those of the file and of an entry are joined, and an entry's do not reach other entries`()
        throws
    {
        let entries = #"""
            [{"appIDs":["T.a"],"components":[{"/":"/x"}]},
             {"appIDs":["T.b"],"defaults":{"caseSensitive":false},"components":[{"/":"/a b"}],"paths":["*"]},
             {"appIDs":["T.c"],"paths":["/z"]},{"appIDs":["T.d"],"components":[],"paths":["*"]}]
            """#
        let file = try associationFile(entries: entries, other: #""defaults":{"percentEncoded":false,"?":"*"},"#)
        let rows: [(String, String?)] = [("/X", nil), ("/A%20B", "T.b"), ("/%7A", nil), ("/z", "T.c"), ("/y", nil)]
        for (path, app) in rows {
            #expect(LinkMatcher(file).answer(try link(path), installed: nil).app == app, "\(path)")
        }
    }

    // MARK: The naive matcher

    private struct Case: Sendable {
        var rules: [[NaiveRule]]
        var links: [NaiveLink]

        init(_ draws: inout Draws) {
            rules = draws.array(count: 1...2) { $0.array(count: 1...3) { NaiveRule(&$0) } }
            links = draws.array(count: 1...6) { NaiveLink(&$0) }
        }
    }

    @Test func `Link: random rules and links have the answer of a naive matcher`() async throws {
        var opened = 0
        var excluded = 0
        try await checkRule(cases: 1_000, of: { Case(&$0) }) { value in
            let matcher = LinkMatcher(try NaiveRule.file(value.rules))
            let installed = Set(value.rules.indices.map(NaiveRule.app))
            for link in value.links {
                let found = matcher.match(try LinkURL(link.text), installed: installed)
                let expected = NaiveRule.decision(value.rules, link)
                switch expected {
                case .app: opened += 1
                case .excluded: excluded += 1
                default: break
                }
                if found != expected { return "\(link.text): \(found), and by the naive matcher \(expected)" }
            }
            return nil
        }
        // Of about 3,500 links, enough match for the rule to say something.
        #expect(opened > 250 && excluded > 50, "\(opened) are opened, \(excluded) excluded")
    }
}
