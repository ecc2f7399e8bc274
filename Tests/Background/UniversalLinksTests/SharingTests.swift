// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Apps that several entries name, and patterns that are longer than a word of the automaton.
@Suite struct `Entries that share apps, and patterns that fill several words` {
    private func matcher(_ details: String, variables: String = "{}") throws -> LinkMatcher {
        let text = #"{"applinks":{"substitutionVariables":\#(variables),"details":[\#(details)]}}"#
        return LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
    }

    @Test func `An entry that excludes a link for its apps leaves it to the other apps of the entries after it`()
        throws
    {
        let matcher = try matcher(
            #"{"appIDs":["T.a","T.b"],"components":[{"/":"/x","exclude":true}]},"#
                + #"{"appIDs":["T.a","T.c"],"components":[{"/":"/x"}]},"#
                + #"{"appIDs":["T.b"],"components":[{"/":"*"}]}"#
        )
        let url = try LinkURL("https://h.example/x")
        let opened = LinkMatcher.Decision.app("T.c", .init(details: 1, rule: 0))
        let excluded = LinkMatcher.Decision.excluded(.init(details: 0, rule: 0))
        let cases: [(Set<String>, LinkMatcher.Decision)] = [
            (["T.a", "T.c"], opened), (["T.a", "T.b", "T.c"], opened), (["T.c"], opened), (["T.b", "T.c"], opened),
            (["T.a"], excluded), (["T.b"], excluded), (["T.a", "T.b"], excluded),
        ]
        for (installed, decision) in cases {
            #expect(matcher.match(url, installed: installed) == decision, "\(installed.sorted())")
        }
        func verdicts(_ installed: Set<String>) -> [[LinkExplanation.Verdict]] {
            matcher.explain(url, installed: installed).entries.map(\.verdicts)
        }
        #expect(verdicts(["T.a", "T.c"]) == [[.excludes], [.matches], [.notAsked]])
        #expect(verdicts(["T.a", "T.b", "T.c"]) == [[.excludes], [.matches], [.notReached]])
        #expect(verdicts(["T.a", "T.b"]) == [[.excludes], [.notReached], [.notReached]])
        #expect(verdicts(["T.c"]) == [[.notAsked], [.matches], [.notAsked]])
    }

    private func opens(_ rule: String, _ link: String) throws -> Bool {
        let details = #"{"appIDs":["T.a"],"components":[\#(rule)]}"#
        let decision = try matcher(details, variables: #"{"v":["one","two"]}"#).match(
            LinkURL("https://h.example\(link)"),
            installed: ["T.a"]
        )
        return decision == .app("T.a", .init(details: 0, rule: 0))
    }

    @Test(arguments: [Array(58...68), Array(121...132)])
    func `A pattern takes the same, whichever words its parts are in`(_ lengths: [Int]) throws {
        for length in lengths {
            let text = String(repeating: "a", count: length)
            // The path before a slash and a star.
            for (rest, isOpened) in [("", true), ("/", true), ("/y", true), ("y", false)] {
                #expect(try opens(#"{"/":"/?\#(text)/*"}"#, "/x\(text)\(rest)") == isOpened, "\(length) \(rest)")
            }
            #expect(try !opens(#"{"/":"/?\#(text)/*"}"#, "/x\(text.dropLast())"), "\(length)")
            // One character, of one byte or more.
            for (rest, isOpened) in [("yb", true), ("%C3%A9b", true), ("%C3%A9%C3%A9b", false), ("b", false)] {
                let rule = #"{"/":"/?\#(text)?b","percentEncoded":false}"#
                #expect(try opens(rule, "/x\(text)\(rest)") == isOpened, "\(length) \(rest)")
            }
            for (rest, isOpened) in [("b", true), ("yyyb", true), ("yyy", false), ("bbb", true)] {
                #expect(try opens(#"{"/":"/?\#(text)*b"}"#, "/x\(text)\(rest)") == isOpened, "\(length) \(rest)")
            }
            for (rest, isOpened) in [
                ("oneb", true), ("twob", true), ("onetwob", false), ("b", false), ("onb", false), ("onewob", false),
            ] {
                #expect(try opens(#"{"/":"/?\#(text)$(v)b"}"#, "/x\(text)\(rest)") == isOpened, "\(length) \(rest)")
            }
        }
    }

    @Test func `A letter outside ASCII of a variable counts in either case where case is ignored, and else in its own`()
        throws
    {
        let url = (capital: try LinkURL("https://h.example/%C3%89"), small: try LinkURL("https://h.example/%C3%A9"))
        for (letter, isCapital) in [("\u{C9}", true), ("\u{E9}", false)] {
            for ignoresCase in [true, false] {
                let rule = #"{"/":"/$(v)","percentEncoded":false,"caseSensitive":\#(!ignoresCase)}"#
                let details = #"{"appIDs":["T.a"],"components":[\#(rule)]}"#
                let matcher = try matcher(details, variables: #"{"v":["\#(letter)"]}"#)
                let opened = LinkMatcher.Decision.app("T.a", .init(details: 0, rule: 0))
                let (capital, small) = (
                    matcher.match(url.capital, installed: ["T.a"]), matcher.match(url.small, installed: ["T.a"])
                )
                #expect((capital == opened) == (ignoresCase || isCapital), "\(letter) \(ignoresCase)")
                #expect((small == opened) == (ignoresCase || !isCapital), "\(letter) \(ignoresCase)")
            }
        }
    }
}
