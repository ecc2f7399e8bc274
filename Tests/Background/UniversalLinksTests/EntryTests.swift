// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Entries and rules of the wrong type, what is said of them, and entries with several apps.
@Suite struct `Entries of association files` {
    private func file(_ details: String, other: String = "") throws -> AssociationFile {
        try AssociationFile(parsing: Data(#"{"applinks":{\#(other)"details":\#(details)}}"#.utf8))
    }

    private func messages(_ details: String, other: String = "") throws -> [String] {
        try file(details, other: other).check().map(\.message)
    }

    /// What is said of the rules of an entry.
    private func rules(_ rules: String, other: String = "") throws -> [String] {
        try messages(#"[{"appIDs":["T.a"],"components":[\#(rules)]}]"#, other: other)
    }

    // MARK: Types

    @Test("What is no entry, no app and no rule is named with its place and its type")
    func types() throws {
        let entry = #"{"appIDs":["T.a"],"components":[{}]}"#
        #expect(try messages("[5,\(entry)]") == ["details[0] is a number, no object, and is ignored."])
        #expect(
            try messages(#"[{"appID":true,"components":[{}]}]"#) == [
                "details[0].appID is true or false, and has to be a text.", "details[0] names no app.",
            ]
        )
        #expect(
            try rules(#"null,{"/":"/x"}"#) == ["details[0].components[0] is null, no object, and is ignored."]
        )
        #expect(
            try rules("[]") == [
                "details[0].components[0] is an array, no object, and is ignored.",
                "details[0] has no components, so it matches nothing.",
            ]
        )
        #expect(
            try messages(#"{"nobody":{"paths":["/x"]}}"#) == [
                "details is a dictionary, as before iOS 9.3; its order is that of the identifiers.",
                "\"nobody\" is no application identifier: it is the team's prefix, a full stop, the bundle ID.",
            ]
        )
    }

    @Test(
        "A value of the wrong type is named with its key",
        arguments: [
            (##"{"/":5}"##, #""/" of * is a number, no text, and is ignored."#),
            (##"{"/":"/x","#":5}"##, ##""#" of * is a number, no text, and is ignored."##),
            (##"{"/":"/x","comment":[]}"##, #""comment" of * is an array, no text, and is ignored."#),
            (##"{"/":"/x","exclude":"no"}"##, #""exclude" of * is a text and is ignored; write true or false."#),
            (
                ##"{"/":"/x","caseSensitive":{}}"##,
                #""caseSensitive" of * is an object and is ignored; write true or false."#
            ),
            (
                ##"{"/":"/x","percentEncoded":0}"##,
                #""percentEncoded" of * is a number and is ignored; write true or false."#
            ),
            (##"{"/":"/x","?":5}"##, #""?" of * is a number, neither a text nor a dictionary, and is ignored."#),
            (##"{"/":"/x","?":{"a":5}}"##, #"A value in "?" of * is no text, so the whole of "?" is ignored."#),
        ]
    )
    func values(rule: String, message: String) throws {
        #expect(try rules(rule) == [message.replacing("*", with: "details[0].components[0]")])
    }

    @Test("What is not known of a rule, or of the values for all, is named before what has the wrong type")
    func order() throws {
        func expected(_ place: String) -> [String] {
            [
                #"\#(place) has the unknown key "Comment", which is ignored. Is "comment" meant?"#,
                #""/" of \#(place) is a number, no text, and is ignored."#,
            ]
        }
        let values = ##""/":5,"#":"f","Comment":"x""##
        #expect(try rules("{\(values)}") == expected("details[0].components[0]"))
        #expect(try rules(#"{"/":"/x"}"#, other: #""defaults":{\#(values)},"#) == expected("applinks.defaults"))
    }

    @Test("A rule whose only key is unknown matches every URL, unless a default says which")
    func unknownKeys() throws {
        let start = #"details[0].components[0] has the unknown key "path", which is ignored"#
        #expect(try rules(#"{"path":"/y"}"#) == [start + ", so the rule matches every URL."])
        #expect(try rules(#"{"path":"/y"}"#, other: #""defaults":{"/":"/x"},"#) == [start + "."])
        #expect(try rules(##"{"path":"/y","#":"f"}"##) == [start + "."])
    }

    @Test("A rule that is never reached is named with the one before it, and what that one does")
    func unreachedRules() throws {
        let start = "details[0].components[1] is never reached: components[0] "
        #expect(try rules(#"{"/":"/x/*","exclude":true},{"/":"/x/y"}"#) == [start + "excludes all that it matches."])
        #expect(try rules(#"{"/":"/x/*"},{"/":"/x/y","exclude":true}"#) == [start + "matches all that it matches."])
        #expect(try rules(#"{"/":"*"},{"/":"/x"}"#) == [start + "matches every URL."])
    }

    @Test("An identifier has a prefix and names of letters, digits, hyphens and low lines, none of them empty")
    func identifiers() {
        for text in ["T.a", "ABCDE12345.org.example.My-App", "0.z.Z9", "T.a_b"] {
            #expect(AssociationFile.isIdentifier(text), "\(text)")
        }
        for text in ["", "T", ".", "T.", ".a", "T..a", "T.a.", "T.\u{E9}", "T.a/b", "T.a b", "T.*"] {
            #expect(!AssociationFile.isIdentifier(text), "\(text)")
        }
    }

    @Test("A file without a byte that counts is empty")
    func emptyFiles() {
        for text in ["", " ", "\r\n\t"] {
            let error = #expect(throws: AssociationFileError.self) { try AssociationFile(parsing: Data(text.utf8)) }
            #expect(error?.code == .notJSON && error?.reason == "The file is empty.")
        }
    }

    @Test("What is wrong with an app's identifier comes before what is wrong with its entry")
    func orderOfFindings() throws {
        let first = "details is a dictionary, as before iOS 9.3; its order is that of the identifiers."
        let second = "is no application identifier: it is the team's prefix, a full stop, the bundle ID."
        #expect(
            try messages(#"{"nobody":{"paths":[]}}"#) == [
                first, "\"nobody\" \(second)", "details.nobody has no paths, so it matches nothing.",
            ]
        )
    }

    // MARK: Links

    @Test("A rule that excludes a URL does so for each app of its entry")
    func exclusion() throws {
        let matcher = LinkMatcher(
            try file(
                #"[{"appIDs":["T.a","T.b"],"components":[{"/":"/x","exclude":true}]},"#
                    + #"{"appIDs":["T.b"],"components":[{"/":"*"}]}]"#
            )
        )
        let (excluded, other) = (try LinkURL("https://h.example/x"), try LinkURL("https://h.example/y"))
        for installed: Set<String> in [["T.a", "T.b"], ["T.b"]] {
            #expect(matcher.match(excluded, installed: installed) == .excluded(.init(details: 0, rule: 0)))
            let explanation = matcher.explain(excluded, installed: installed)
            #expect(explanation.answer.app == nil)
            #expect(explanation.entries.map(\.verdicts) == [[.excludes], [.notReached]])
            #expect(matcher.match(other, installed: installed) == .app("T.b", .init(details: 1, rule: 0)))
        }
    }

    @Test("A variable of the file counts before the one of its name that every file has")
    func variables() throws {
        let matcher = LinkMatcher(
            try file(
                #"[{"appIDs":["T.a"],"components":[{"/":"/$(digit)"}]}]"#,
                other: #""substitutionVariables":{"digit":["x"]},"#
            )
        )
        for (path, isOpened) in [("/x", true), ("/1", false)] {
            let answer = matcher.answer(try LinkURL("https://h.example\(path)"), installed: ["T.a"])
            #expect((answer.app == "T.a") == isOpened, "\(path)")
        }
    }

    @Test("Where a file gives no links the answer says why, and not what else is wrong")
    func noLinks() throws {
        let text = #"{"webcredentials":5,"applinks":{"detail":[]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let answer = matcher.answer(try LinkURL("https://h.example/x"), installed: nil)
        #expect(answer.why == "applinks.details is missing, so the file gives no universal links.")
    }

    @Test("Each verdict has its name")
    func verdicts() {
        let names: [(LinkExplanation.Verdict, String)] = [
            (.matches, "matches"), (.excludes, "excludes"), (.differs([.path]), "differs"),
            (.notReached, "not-reached"), (.notAsked, "not-asked"), (.notCompared, "not-compared"),
        ]
        for (verdict, name) in names { #expect(verdict.name == name) }
    }

    // MARK: Hosts and places

    @Test(
        "A URL whose host is not whole has none",
        arguments: ["[", "[::1", "u@[::1/]", "[::1]e.example", "[::1]]", "", ":80", "u@", "u@:80"]
    )
    func hosts(authority: String) {
        #expect(throws: LinkURL.Problem.host) { try LinkURL("https://\(authority)/x") }
    }

    @Test(
        "An address of IPv6 is an address without its brackets too",
        arguments: ["2001:db8::1", "::", "[::1]", "FE80::1"]
    )
    func addresses(name: String) {
        #expect(throws: HostName.DomainProblem.address) { try HostName.domain(name) }
    }

    @Test("A file at the root of its site is a warning, and at another place an error")
    func places() throws {
        let root = try LinkFinding.ofPlace("https://h.example/apple-app-site-association")
        #expect(root.map(\.severity) == [.warning])
        #expect(root[0].message.hasPrefix("The file is at the root of the site, where not all devices look."))
        let other = try LinkFinding.ofPlace("https://h.example/x")
        #expect(other.map(\.severity) == [.error])
        #expect(other[0].message.hasPrefix("No device looks for the file there."))
        let plain = try LinkFinding.ofPlace("http://h.example/apple-app-site-association")
        #expect(plain.map(\.severity) == [.error, .warning])
    }
}
