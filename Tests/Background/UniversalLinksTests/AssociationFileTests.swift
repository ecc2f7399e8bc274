// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// What an association file is, and what the check finds in it.
struct AssociationFileTests {
    private func code(_ bytes: some Sequence<UInt8>) -> AssociationFileError.Code? {
        do throws(AssociationFileError) {
            _ = try AssociationFile(parsing: Data(bytes))
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: JSON

    @Test func `Association file: what can't be read has a code and rule AASA001 or AASA002`() {
        let rows: [(String, AssociationFileError.Code)] = [
            ("", .notJSON), ("\r\n\t", .notJSON), ("\t<html>", .notJSON), ("[]", .notAnObject), ("{}\0", .notJSON),
            (#"{"a":NaN}"#, .notJSON), ("{,}", .notJSON), (#"{"a":01}"#, .notJSON), ("{", .notJSON),
            (String(repeating: "[", count: 60_000), .notJSON), (String(repeating: " ", count: 140_000), .tooLarge),
            (String(repeating: #"{"a":"#, count: 20_000) + "1" + String(repeating: "}", count: 20_000), .notJSON),
        ]
        for (text, expected) in rows {
            #expect(code(text.utf8) == expected, "\(text.prefix(20))")
            let error = #expect(throws: AssociationFileError.self) { try AssociationFile(parsing: Data(text.utf8)) }
            #expect(error?.rule == (expected == .tooLarge ? "AASA002" : "AASA001"))
        }
        #expect(code([0x7B, 0x22, 0xFF, 0x22, 0x7D]) == .notJSON)
        #expect(code([0x30, 0x82, 1, 2]) == .signed)
        #expect(code([0x30, 0x80]) == .signed)
        #expect(code([0x30, 0x20]) == .notAnObject)
    }

    @Test func `Association file: 128 KB is read, one byte more is tooLarge`() {
        let text = #"{"applinks":{"details":[]}}"#
        let full = text + String(repeating: " ", count: AssociationFile.maximumSize - text.utf8.count)
        #expect(code(full.utf8) == nil)
        #expect(code((full + " ").utf8) == .tooLarge)
    }

    @Test func `JSON: escapes are whole characters, or the file is refused`() {
        let rows = Row.table(
            #"""
            + \ud7ff .
            + \ue000 .
            + \ud800\udc00 .
            + \udbff\udfff .
            + \ud000\ud83d\ude00 .
            - \ud800 .
            - \udbff .
            - \udc00 .
            - \udfff .
            - \ud83d\u0061 .
            - \ud83dx .
            - \u+123 .
            - \u12g4 .
            - \u123 .
            - \x .
            """#
        )
        for row in rows { #expect((code(#"{"x":"\#(row.subject)"}"#.utf8) == nil) == row.isPositive, "\(row)") }
    }

    @Test func `JSON: a byte order mark, exponents and nulls are read`() throws {
        let start = "\u{FEFF}{\"applinks\":{\"details\":[{\"appID\":\"T.a\",\"paths\":[\"\\/\\u00e9\\ud83d\\ude00\"],"
        let file = try AssociationFile(parsing: Data((start + "\"x\":[-0.5e999999,1E+5,null]}]}}").utf8))
        #expect(file.details.first?.rules.first?.path == "/\u{E9}\u{1F600}")
    }

    @Test func `JSON: 128 levels are read, repeated keys are reported with their place`() throws {
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
        }
        #expect(code(nested(128).utf8) == nil)
        #expect(code(nested(129).utf8) == .notJSON)
        let twice = #"{"a":1,"b":[{"c":{"d":1,"d":"x"}}],"applinks":{"details":[]},"a":"later","applinks":1}"#
        let file = try AssociationFile(parsing: Data(twice.utf8))
        let repeated = file.findings.map(\.message).filter { $0.contains("more than once") }
        #expect(repeated.map { $0.prefix { $0 != "h" } } == ["b[0].c ", "T", "T"])
        // The first section counts.
        #expect(file.findings.last?.message == "applinks.details is empty, so the file provides no universal links.")
    }

    // MARK: Findings

    /// Rules of the components of one entry, and the rules of the check that they break, without AASA.
    static let rules = Row.table(
        ##"""
        # Right: an exclusion before the rest, lengths, items, a comment, escapes, paths beside each other.
        + {"/":"/x/p/*","exclude":true},{"/":"/x/????/$(lang)","?":{"id":"??"}},{"/":"/a*"},{"/":"/"} .
        + {"/":"/ab"},{"/":"/ac"},{"/":"/abc"},{"/":"/ab/c"} .
        + {"/":"/x","?":{"\u00e9":"1"},"percentEncoded":false} .
        + {"/":"/%2","percentEncoded":false} .
        + {"/":"/x","#":"%20"} .
        + {"/":"/x:/y"} .
        + {"/":"/x?id"} .
        # Unreached: an earlier rule covers it.
        + {"/":"*"},{"/":"/x"} 011
        + {"/":"/*","exclude":true},{"/":"/x"} 011
        + {"/":"/x/*"},{"/":"/x/y*"} 011
        + {"/":"/x/**"},{"/":"/x/y"} 011
        + {"/":"/x/*"},{"/":"/x"} 011
        + {"/":"/x"},{"/":"/x/"} 011
        + {"/":"/X/*","caseSensitive":false},{"/":"/x/y"} 011
        + {"/":"/x/*"},{"/":"/x/y","caseSensitive":false} .
        + {"/":"/x/y"},{"/":"/x/y","percentEncoded":false} .
        + {"/":"/x","#":"*"},{"/":"/x","#":"f"} 011
        + {"/":"/x","#":"f"},{"/":"/x","#":"g"} .
        + {"/":"/x","?":"*"},{"/":"/x","?":"r"} 011
        + {"/":"/x","?":"q"},{"/":"/x","?":"r"} .
        + {"/":"/x","?":{"a":"*","b":"*"}},{"/":"/x","?":{"c":"1"}} 011
        + {"/":"/x","?":{"a":"*","b":"1"}},{"/":"/x","?":{"c":"1"}} .
        # Looks the same, but has other bytes.
        + {"/":"/\u00e9","percentEncoded":false},{"/":"/e\u0301","percentEncoded":false} .
        + {"?":{"a":"\u00e9"},"percentEncoded":false},{"?":{"a":"e\u0301"},"percentEncoded":false} .
        + {"?":{"\u00e9":"1"},"percentEncoded":false},{"?":{"e\u0301":"1"},"percentEncoded":false} .
        # Variables that are not defined.
        + {"/":"/$(nobody)/x"} 009
        + {"/":"/$(lang/x"} 009
        + {"/":"/$(a)/$(lang)/$(b)"} 009,009
        + {"/":"/x","?":{"a":"1","b":"$(no)"}} 009
        + {"/":"/x","?":"$(no)"} 009
        + {"/":"/x","#":"$(no)"} 009
        + {"/":"/$()"} 009
        # A query, a fragment or a URL in a path.
        + {"/":"/x?id=1"} 012
        + {"/":"/x?a.b-c_[0]=1"} 012
        + {"/":"/x?a/b=1"} .
        + {"/":"/x#y"} 012
        + {"/":"https://h.example/x"} 012
        # Letters and escapes that never match.
        + {"/":"/caf\u00e9"} 013
        + {"/":"/x","#":"\u00e9"} 013
        + {"/":"/x","?":{"\u00e9":"1"}} 013
        + {"/":"/a%20b","percentEncoded":false} 013
        + {"/":"/x","#":"%2f","percentEncoded":false} 013
        + {"/":"/x","#":"%2G","percentEncoded":false} .
        # Keys, types, and a NOT that excludes nothing.
        + {"path":"/typo"} 014
        + {"/":"/x","caseSENSITIVE":true} 014
        + {"/":"NOT /x"} 015
        + {"/":5} 014
        + {"/":"/x","exclude":"no"} 014
        + {"/":"/x","?":5} 008
        + {"/":"/x","?":{"a":5}} 008
        """##
    )

    @Test(arguments: rules) func `Check of components: the rule that is broken is found`(_ row: Row) throws {
        let found = try associationFile(rules: row.subject).check().map { $0.id.dropFirst(4) }
        #expect(found.joined(separator: ",") == row.last)
    }

    @Test func `Check of paths: a NOT that excludes nothing is found`() throws {
        let wrong = ["not /x/*", "NOT  /x/*", "NOT/x/*", "Not /x", " NOT /x", "NOT", "NOT\\t/x", "not-x"]
        for path in wrong {
            #expect(
                try associationFile(rules: "\"\(path)\"", list: "paths").check().map(\.id) == ["AASA015"],
                "\(path)"
            )
        }
        for path in ["NOT /x", "NOTE/x", "NOT1", "nothing", "Not"] {
            #expect(try associationFile(rules: "\"\(path)\"", list: "paths").check().isEmpty, "\(path)")
        }
    }

    @Test func `Check of variables: undefined, unused, empty and replaced ones are found`() throws {
        let rows: [(variables: String, path: String, rules: [String])] = [
            (#"{"a":["1"]}"#, "/$(a)", []), (#"{"a":[]}"#, "/$(a)", ["AASA010"]),
            (#"{"a":["1"]}"#, "/x", ["AASA010"]), (#"{"lang":["1"]}"#, "/$(lang)", ["AASA010"]),
            (#"{"a":["$(b)"]}"#, "/$(a)", ["AASA009"]), (#"{"":["x"]}"#, "/$()", ["AASA009", "AASA009"]),
            (#"{"\u00e9":["1"]}"#, #"/$(\u00e9)"#, []), (#"{"\u00e9":["1"]}"#, #"/\u00e9/$(\u00e9)"#, ["AASA013"]),
        ]
        for (variables, path, rules) in rows {
            let other = #""substitutionVariables":\#(variables),"#
            let found = try associationFile(rules: #"{"/":"\#(path)"}"#, other: other).check()
            #expect(found.map(\.id) == rules, "\(variables) \(path)")
        }
    }

    /// Files, and the rules of the check that they break, without AASA.
    static let shapes = Row.table(
        #"""
        + {} 003
        + {"applinks":{}} 003
        + {"applinks":5} 003
        + {"applinks":{"details":[]}} 003
        + {"applinks":{"details":"x"}} 003
        + {"AppLinks":{}} 014,003
        + {"applinks":{"Details":[]}} 014,003
        + {"applinks":{"apps":["x"],"details":[{"appIDs":["T.a"],"components":[{}]}]}} 007
        + {"applinks":{"details":[{"components":[{}]}]}} 004
        + {"applinks":{"details":[{"appID":"T.a","appIDs":["T.a"],"components":[{}]}]}} 004
        + {"applinks":{"details":[{"appIDs":["a"],"components":[{}]}]}} 005
        + {"applinks":{"details":[{"appIDs":["T.a"],"components":[{}],"paths":["*"]}]}} 006
        + {"applinks":{"details":[{"appIDs":["T.a"]}]}} 003
        + {"applinks":{"details":[{"AppIDs":["T.a"],"components":[{}]}]}} 004,014
        + {"applinks":{"details":[{"appIDs":"T.a","components":[{}]}]}} 003,004
        + {"applinks":{"details":[{"appID":"T.a","paths":["/x",5]}]}} 003
        + {"applinks":{"details":[{"appID":"T.a","Components":[{}]}]}} 014,003
        + {"applinks":{"details":[{"appID":"T.a","components":{}}]}} 003,003
        + {"applinks":{"details":[{"appID":"T.a","paths":["*"],"paths":["/x"]}]}} 014
        + {"applinks":{"defaults":{"CaseSensitive":true},"details":[{"appID":"T.a","paths":["*"]}]}} 014
        + {"applinks":{"defaults":{"exclude":1},"details":[{"appID":"T.a","paths":["*"]}]}} 014
        + {"webcredentials":{"App":[]},"applinks":{"details":[{"appID":"T.a","paths":["*"]}]}} 014
        + {"applinks":{"details":[{"appIDs":["T.a"],"components":[{}]},{"appIDs":["T.a"],"components":[{"/":"/x"}]}]}} 011
        + {"applinks":{"details":[{"appIDs":["T.a"],"components":[{}]},{"appIDs":["T.a","T.b"],"paths":["/x"]}]}} .
        """#
    )

    @Test(arguments: shapes) func `Check of a file: wrong keys, types and entries are found`(_ row: Row) throws {
        let found = try AssociationFile(parsing: Data(row.subject.utf8)).check().map { $0.id.dropFirst(4) }
        #expect(found.joined(separator: ",") == row.last)
    }

    @Test func `Check of a file: findings name positions of the file, also after ignored values`() throws {
        func places(_ entries: String) throws -> [String] {
            try associationFile(entries: entries).check().map { String($0.message.prefix { $0 != " " }) }
        }
        let rules = #"5,{"/":"*"},null,{"/":"/x"}"#
        #expect(
            try places(#"["none",{"appIDs":["T.a"],"components":[\#(rules)]}]"#) == [
                "details[0]", "details[1].components[0]", "details[1].components[2]", "details[1].components[3]",
            ]
        )
        #expect(
            try places(#"[{"appID":"T.a","paths":[1,"*",2,"/x"]}]"#) == [
                "details[0].paths[0]", "details[0].paths[2]", "details[0].paths[3]",
            ]
        )
        let all = #"{"appIDs":["T.a"],"components":[{}]}"#
        #expect(try places(#"[null,\#(all),false,\#(all)]"#).last == "details[3]")
        // A dictionary of apps, as before iOS 9.3.
        let old = #"{"T.a":{"paths":["/y"]},"T.b":{"paths":["*","/x"]}}"#
        #expect(try places(old).last == "details.T.b.paths[1]")
        let answer = LinkMatcher(try associationFile(entries: old)).answer(try link("/y"), installed: nil)
        #expect(answer.rule == #"details.T.a.paths[0] "/y""#)
    }

    @Test func `Check of a link: a link that the app does not get is AASA016`() throws {
        let file = try associationFile(rules: #"{"/":"/x"}"#)
        for (app, path, rules) in [
            ("T.a", "/x", []), ("T.a", "/y", ["AASA016"]), (nil, "/x", []), (nil, "/y", ["AASA016"]),
        ] as [(String?, String, [String])] {
            #expect(file.check(app: app, opens: try link(path)).map(\.id) == rules, "\(path)")
        }
        #expect(file.check(app: "T.b", opens: nil).map(\.id) == ["AASA005"])
    }

    @Test func `Check of a place: only /.well-known over HTTPS is right`() throws {
        let rows: [(String, [LinkFinding.Severity])] = [
            ("https://h.example/.well-known/apple-app-site-association", []),
            ("https://h.example/.well-known/apple-app-site-association/", [.error]),
            ("http://h.example/.well-known/apple-app-site-association", [.error]),
            ("https://h.example/.well-known/apple-app-site-association.json", [.error]),
            ("https://h.example/apple-app-site-association", [.warning]), ("https://h.example/x", [.error]),
            ("http://h.example/apple-app-site-association", [.error, .warning]),
        ]
        for (place, severities) in rows {
            let found = try LinkFinding.ofPlace(place)
            #expect(found.map(\.severity) == severities, "\(place)")
            #expect(found.allSatisfy { $0.id == "AASA017" })
        }
        #expect(LinkFinding.ofName("x/apple-app-site-association.json").map(\.id) == ["AASA017"])
    }

    @Test func `Application identifier: valid only as a prefix, a full stop and a bundle ID`() {
        for text in ["T.a", "ABCDE12345.org.example.My-App", "0.z.Z9", "T.a_b"] {
            #expect(AssociationFile.isIdentifier(text), "\(text)")
        }
        for text in ["", "T", ".", "T.", ".a", "T..a", "T.a.", "T.\u{E9}", "T.a/b", "T.a b", "T.*"] {
            #expect(!AssociationFile.isIdentifier(text), "\(text)")
        }
    }

    @Test func `Association file: apps of other services are read`() throws {
        let text = #"{"webcredentials":{"apps":["T.a"]},"appclips":{"apps":["T.a.Clip"]}}"#
        let file = try AssociationFile(parsing: Data(text.utf8))
        #expect(file.otherServices == ["webcredentials": ["T.a"], "appclips": ["T.a.Clip"]])
    }
}
