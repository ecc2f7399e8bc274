// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

@Suite struct `What a check finds` {
    private func findings(_ text: String) throws -> [String] {
        try AssociationFile(parsing: Data(text.utf8)).check().map(\.id)
    }

    private func entry(_ rules: String, list: String = "components", other: String = "") throws -> [String] {
        try findings(#"{"applinks":{\#(other)"details":[{"appIDs":["T.a.b"],"\#(list)":[\#(rules)]}]}}"#)
    }

    @Test func `A file that is right has nothing`() throws {
        let rules =
            #"{"/":"/x/private/*","exclude":true},{"/":"/x/????/$(lang)","?":{"id":"??"}},{"/":"/nothing"},{"/":"/a*"},{"/":"/"}"#
        #expect(try entry(rules).isEmpty)
        #expect(try entry(#""NOT /x/*","/*""#, list: "paths").isEmpty)
        // Paths without a star cover neither their neighbours nor what is behind them.
        #expect(try entry(#"{"/":"/ab"},{"/":"/ac"},{"/":"/abc"},{"/":"/ab/c"}"#).isEmpty)
    }

    @Test(arguments: [
        (#"{"/":"*"},{"/":"/x"}"#, "AASA011"), (#"{"/":"/*","exclude":true},{"/":"/x"}"#, "AASA011"),
        (#"{"/":"/x/*"},{"/":"/x/y*"}"#, "AASA011"), (#"{"/":"/x"},{"/":"/x/"}"#, "AASA011"),
        (#"{"/":"/x/**"},{"/":"/x/y"}"#, "AASA011"), (#"{"/":"/x/*"},{"/":"/x"}"#, "AASA011"),
        (#"{"/":"/X/*","caseSensitive":false},{"/":"/x/y"}"#, "AASA011"),
        (#"{"/":"/$(nobody)/x"}"#, "AASA009"), (#"{"/":"/$(lang/x"}"#, "AASA009"),
        (#"{"/":"/x?id=1"}"#, "AASA012"), (#"{"/":"/x#y"}"#, "AASA012"), (#"{"/":"https://h.example/x"}"#, "AASA012"),
        ("{\"/\":\"/caf\u{e9}\"}", "AASA013"), (#"{"/":"/a%20b","percentEncoded":false}"#, "AASA013"),
        (#"{"path":"/typo"}"#, "AASA014"), (#"{"/":"/x","caseSENSITIVE":true}"#, "AASA014"),
        (#"{"/":"NOT /x"}"#, "AASA015"), (#"{"/":"/x","?":{"a":5}}"#, "AASA008"),
    ])
    func `Each rule is found`(rules: String, id: String) throws {
        #expect(try entry(rules) == [id])
    }

    @Test(arguments: ["not /x/*", "NOT  /x/*", "NOT/x/*", "Not /x", " NOT /x", "NOT", "NOT\\t/x"])
    func `A NOT that excludes nothing is found`(path: String) throws {
        #expect(try entry("\"\(path)\"", list: "paths") == ["AASA015"])
    }

    @Test(arguments: [
        (#"{"a":[]}"#, "/$(a)", ["AASA010"]), (#"{"a":["1"]}"#, "/x", ["AASA010"]),
        (#"{"lang":["1"]}"#, "/$(lang)", ["AASA010"]), (#"{"a":["$(b)"]}"#, "/$(a)", ["AASA009"]),
    ])
    func `Variables are held against the patterns`(variables: String, path: String, expected: [String]) throws {
        let other = #""substitutionVariables":\#(variables),"#
        #expect(try entry(#"{"/":"\#(path)"}"#, other: other) == expected)
    }

    @Test(arguments: [
        (#"{"applinks":{"details":[]}}"#, "AASA003"), ("{}", "AASA003"), (#"{"applinks":{}}"#, "AASA003"),
        (#"{"applinks":{"details":[{"components":[{}]}]}}"#, "AASA004"),
        (#"{"applinks":{"details":[{"appID":"T.a","appIDs":["T.a"],"components":[{}]}]}}"#, "AASA004"),
        (#"{"applinks":{"details":[{"appIDs":["a"],"components":[{}]}]}}"#, "AASA005"),
        (#"{"applinks":{"details":[{"appIDs":["T.a"],"components":[{}],"paths":["*"]}]}}"#, "AASA006"),
        (#"{"applinks":{"apps":["x"],"details":[{"appIDs":["T.a"],"components":[{}]}]}}"#, "AASA007"),
        (
            #"{"applinks":{"details":[{"appIDs":["T.a"],"components":[{}]},{"appIDs":["T.a"],"components":[{"/":"/x"}]}]}}"#,
            "AASA011"
        ),
    ])
    func `The shape of the file is checked`(file: String, id: String) throws {
        #expect(try findings(file) == [id])
    }

    @Test(arguments: [
        ("", "AASA001"), ("<html>", "AASA001"), ("[]", "AASA001"), ("{}\0", "AASA001"), ("{\"a\":NaN}", "AASA001"),
        ("{,}", "AASA001"), ("{\"a\":01}", "AASA001"), ("{\"a\":\"\\ud800\"}", "AASA001"), ("0\u{82}", "AASA001"),
        (String(repeating: "[", count: 60_000), "AASA001"), (String(repeating: " ", count: 140_000), "AASA002"),
    ])
    func `What is no association file breaks a rule too`(text: String, rule: String) {
        let error = #expect(throws: AssociationFileError.self) { try AssociationFile(parsing: Data(text.utf8)) }
        #expect(error?.rule == rule)
    }

    @Test(arguments: [
        (#"{"AppLinks":{}}"#, ["AASA014", "AASA003"]), (#"{"applinks":5}"#, ["AASA003"]),
        (#"{"applinks":{"Details":[]}}"#, ["AASA014", "AASA003"]), (#"{"applinks":{"details":"x"}}"#, ["AASA003"]),
        (#"{"applinks":{"details":[{"AppIDs":["T.a"],"components":[{}]}]}}"#, ["AASA004", "AASA014"]),
        (#"{"applinks":{"details":[{"appIDs":"T.a","components":[{}]}]}}"#, ["AASA003", "AASA004"]),
        (#"{"applinks":{"details":[{"appID":"T.a","paths":["/x",5]}]}}"#, ["AASA003"]),
        (#"{"applinks":{"details":[{"appID":"T.a","Components":[{}]}]}}"#, ["AASA014", "AASA003"]),
        (#"{"applinks":{"details":[{"appID":"T.a","components":{}}]}}"#, ["AASA003", "AASA003"]),
        (#"{"applinks":{"defaults":{"CaseSensitive":true},"details":[{"appID":"T.a","paths":["*"]}]}}"#, ["AASA014"]),
        (#"{"applinks":{"defaults":{"exclude":1},"details":[{"appID":"T.a","paths":["*"]}]}}"#, ["AASA014"]),
        (#"{"webcredentials":{"App":[]},"applinks":{"details":[{"appID":"T.a","paths":["*"]}]}}"#, ["AASA014"]),
        (#"{"applinks":{"details":[{"appID":"T.a","paths":["*"],"paths":["/x"]}]}}"#, ["AASA014"]),
    ])
    func `Keys and types that have no effect are found at every level`(file: String, expected: [String]) throws {
        #expect(try findings(file) == expected)
    }

    @Test func `What is found says what is there, and where`() throws {
        func messages(_ text: String) throws -> [String] {
            try AssociationFile(parsing: Data(text.utf8)).check().map(\.message)
        }
        let type = try messages(#"{"applinks":{"details":"x"}}"#)
        #expect(type == ["applinks.details is a text, and has to be an array, so the file gives no universal links."])
        let spelling = try messages(#"{"AppLinks":{"details":[]}}"#)
        #expect(spelling.first?.hasSuffix("Is \"applinks\" meant?") == true)
        let twice = try messages(#"{"applinks":{"details":[{"appID":"T.a","components":[{"/":"/x","/":"/y"}]}]}}"#)
        #expect(twice.first?.hasPrefix("applinks.details[0].components[0] has the key \"/\" more than once") == true)
        let error = #expect(throws: AssociationFileError.self) {
            try AssociationFile(parsing: Data([UInt8]("{\"a\":\"".utf8) + [0xFF, 0x22, 0x7D]))
        }
        #expect(error?.reason == "The file is not valid JSON: at byte 5 the text is not UTF-8.")
    }

    @Test func `A byte order mark, escapes and numbers of any size are read`() throws {
        let start = "\u{FEFF}{\"applinks\":{\"details\":[{\"appID\":\"T.a\",\"paths\":[\"\\/\\u00e9\\ud83d\\ude00\"],"
        let file = try AssociationFile(parsing: Data((start + "\"x\":[-0.5e999999,null]}]}}").utf8))
        #expect(file.details.first?.rules.first?.path == "/\u{E9}\u{1F600}")
    }

    @Test func `A variable without a name is not valid`() throws {
        let other = #""substitutionVariables":{"":["x"]},"#
        #expect(try entry(#"{"/":"/$()"}"#, other: other) == ["AASA009", "AASA009"])
        let text = #"{"applinks":{\#(other)"details":[{"appID":"T.a","components":[{"/":"/$()"}]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        #expect(matcher.match(try LinkURL("https://h.example/x"), installed: ["T.a"]) == .noRule)
    }

    @Test(arguments: [
        ("https://h.example/.well-known/apple-app-site-association", []),
        ("http://h.example/.well-known/apple-app-site-association", ["AASA017"]),
        ("https://h.example/.well-known/apple-app-site-association.json", ["AASA017"]),
        ("https://h.example/apple-app-site-association", ["AASA017"]), ("https://h.example/x", ["AASA017"]),
    ])
    func `The place at which a file is served is checked`(url: String, expected: [String]) throws {
        #expect(try LinkFinding.ofPlace(url).map(\.id) == expected)
    }

    @Test(arguments: [
        "applinks:1.2.3.4", "applinks:localhost", "applinks:*.localhost", "applinks:[::1]", "applinks:0x7f.1",
        "applinks:com", "applinks:", "applinks:a b.example", "applinks:a.example/x", "applinks:a.example:80",
        "applinks:u@a.example", "applinks:a!.example", "applinks:a..example", "applinks:*", "applinks:*.*.example",
        "a.example", ":a.example", "appclips:*.a.example", "applinks:a.example?x", "applinks:\u{202E}a.example",
        "applinks:a.example", "applinks:*.a.example", "applinks:b\u{FC}cher.example", "applinks:a.example.",
        "APPLINKS:A.Example?mode=managed",
    ])
    func `An entry that has no effect is an error of the check, and no other is`(entry: String) {
        let errors = AssociatedDomainCheck(entries: [entry, "applinks:h.example"]).findings.filter {
            $0.severity == .error
        }
        #expect((AssociatedDomain(entry) == nil) == !errors.isEmpty, "\(errors)")
    }

    @Test func `A domain is in ASCII, and an address or a name without a dot says what it is`() throws {
        #expect(AssociatedDomain("applinks:*.B\u{FC}cher.Example.")?.domain == "xn--bcher-kva.example")
        func message(_ entry: String) -> String? {
            AssociatedDomainCheck(entries: [entry, "applinks:h.example"]).findings.first?.message
        }
        #expect(message("applinks:1.2.3.4")?.contains("\"1.2.3.4\", which is an address.") == true)
        #expect(message("applinks:localhost")?.contains("\"localhost\", which has no dot") == true)
        #expect(AssociatedDomain("applinks:localhost") == nil && AssociatedDomain("applinks:1.2.3.4") == nil)
    }

    @Test func `A link that the app does not get is found`() throws {
        let text = #"{"applinks":{"details":[{"appIDs":["T.a"],"components":[{"/":"/x"}]}]}}"#
        let file = try AssociationFile(parsing: Data(text.utf8))
        #expect(file.check(app: "T.a", opens: try LinkURL("https://h.example/x")).isEmpty)
        #expect(file.check(app: "T.a", opens: try LinkURL("https://h.example/y")).map(\.id) == ["AASA016"])
        #expect(file.check(app: nil, opens: try LinkURL("https://h.example/y")).map(\.id) == ["AASA016"])
        #expect(file.check(app: nil, opens: try LinkURL("https://h.example/x")).isEmpty)
        #expect(file.check(app: "T.b", opens: nil).map(\.id) == ["AASA005"])
        #expect(LinkFinding.ofName("x/apple-app-site-association.json").map(\.id) == ["AASA017"])
    }

    @Test(
        arguments: [
            ([], ["DOM001"]), (["webcredentials:h.example"], ["DOM002", "DOM010"]),
            (["h.example", "applinks:h.example"], ["DOM003"]),
            (["nothing:h.example", "applinks:h.example"], ["DOM003"]),
            (["applinks:https://h.example", "applinks:h.example"], ["DOM004"]),
            (["applinks:h.example:80", "applinks:h.example"], ["DOM004"]),
            (["applinks:a.*.example", "applinks:h.example"], ["DOM005"]),
            (["appclips:*.h.example", "applinks:h.example"], ["DOM005"]),
            (["applinks:*.x.example", "applinks:h.example"], ["DOM006"]),
            (["applinks:h.example?mode=developer"], ["DOM007"]),
            (["applinks:h.example?mode=x", "applinks:h.example"], ["DOM008"]),
            (["applinks:h.example", "applinks:H.example"], ["DOM009"]), (["applinks:o.example"], ["DOM010"]),
            (["applinks:h.example"], []),
        ] as [([String], [String])]
    )
    func `Associated domains are checked`(entries: [String], expected: [String]) throws {
        let check = AssociatedDomainCheck(entries: entries, url: try LinkURL("https://h.example/x"), isRelease: true)
        #expect(check.findings.map(\.id) == expected)
    }
}
