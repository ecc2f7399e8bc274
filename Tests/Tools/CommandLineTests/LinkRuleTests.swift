// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Every rule of `nfc links check`, with what breaks it and what keeps it.
@Suite(.ownThreads) struct `Each rule of nfc links check` {
    struct Row: Sendable, CustomTestStringConvertible {
        var id: String
        var bad: [Input]
        var good: [Input]
        var testDescription: String { id }

        init(_ id: String, bad: [Input], good: [Input]) {
            self.id = id
            self.bad = bad
            self.good = good
        }
    }

    /// A file, and the arguments after `nfc links check FILE`.
    struct Input: Sendable {
        var file: String
        var words: [String]
        /// The associated domains of an installed app; nil where it is not installed.
        var installed: String?
    }

    /// A file of one entry.
    private static func entry(_ rules: String, app: String = #""appIDs":["T.a.b"]"#, other: String = "") -> Input {
        file(#"{"applinks":{\#(other)"details":[{\#(app),\#(rules)}]}}"#)
    }

    private static func file(_ text: String, _ words: String...) -> Input { Input(file: text, words: words) }

    private static func components(_ rules: String, other: String = "") -> Input {
        entry(#""components":[\#(rules)]"#, other: other)
    }

    private static func variables(_ variables: String, _ path: String) -> Input {
        components(#"{"/":"\#(path)"}"#, other: #""substitutionVariables":\#(variables),"#)
    }

    private static let fine = #"{"applinks":{"details":[{"appIDs":["T.a.b"],"components":[{"/":"/x/*"}]}]}}"#

    private static func with(_ words: String...) -> Input { Input(file: fine, words: words) }

    private static func domains(_ entries: String..., url: String? = nil, release: Bool = false) -> Input {
        let words = entries.flatMap { ["--entitlement", $0] } + (url.map { ["--url", $0] } ?? [])
        return Input(file: fine, words: words + (release ? ["--release"] : []))
    }

    private static func installed(_ entries: String) -> Input {
        let app = "TEAM.org.example.reader"
        return Input(file: fine.replacing("T.a.b", with: app), words: ["--app", app], installed: entries)
    }

    static let ofFiles = [
        Row("AASA001", bad: [file(""), file("<html>"), file("[]"), file("{"), file("null")], good: [file(fine)]),
        Row(
            "AASA002",
            bad: [file(fine + String(repeating: " ", count: 128 << 10)), file(String(repeating: "x", count: 1 << 20))],
            good: [file(fine + String(repeating: " ", count: (128 << 10) - fine.utf8.count))]
        ),
        Row(
            "AASA003",
            bad: [
                file("{}"), file(#"{"applinks":{}}"#), file(#"{"applinks":{"details":"x"}}"#),
                file(#"{"applinks":{"details":[]}}"#), entry(#""paths":"/x""#), entry(#""components":[5]"#),
            ],
            good: [file(fine)]
        ),
        Row(
            "AASA004",
            bad: [
                file(#"{"applinks":{"details":[{"components":[{}]}]}}"#),
                entry(#""paths":["*"]"#, app: #""appID":"T.a","appIDs":["T.a"]"#),
            ],
            good: [entry(#""paths":["*"]"#, app: #""appID":"T.a""#)]
        ),
        Row(
            "AASA005",
            bad: [entry(#""paths":["*"]"#, app: #""appID":"nobody""#), with("--app", "T.other")],
            good: [with("--app", "T.a.b")]
        ),
        Row("AASA006", bad: [entry(#""components":[{}],"paths":["*"]"#)], good: [entry(#""paths":["*"]"#)]),
        Row(
            "AASA007",
            bad: [entry(#""paths":["*"]"#, other: #""apps":["T.a"],"#)],
            good: [entry(#""paths":["*"]"#, other: #""apps":[],"#)]
        ),
        Row(
            "AASA008",
            bad: [components(#"{"?":{"a":"1","b":true}}"#), components(#"{"?":5}"#)],
            good: [components(#"{"?":{"a":"1"}}"#)]
        ),
        Row(
            "AASA009",
            bad: [
                components(#"{"/":"/$(nobody)"}"#), components(#"{"/":"/$(lang"}"#), variables(#"{"":["x"]}"#, "/x"),
                variables(#"{"a(":["x"]}"#, "/x"), variables(#"{"a":["$(lang)"]}"#, "/$(a)"),
            ],
            good: [variables(#"{"a":["x*"]}"#, "/$(a)/$(lang)")]
        ),
        Row(
            "AASA010",
            bad: [
                variables(#"{"a":["x"]}"#, "/x"), variables(#"{"a":[]}"#, "/$(a)"),
                variables(#"{"lang":["x"]}"#, "/$(lang)"),
            ],
            good: [variables(#"{"a":["x"]}"#, "/$(a)")]
        ),
        Row(
            "AASA011",
            bad: [
                components(#"{"/":"*"},{"/":"/x"}"#), components(#"{"/":"/x/"},{"/":"/x"}"#),
                components(#"{"exclude":true},{"/":"/x"}"#), entry(#""paths":["*","NOT /x"]"#),
            ],
            good: [components(#"{"/":"/x"},{"/":"*"}"#)]
        ),
        Row(
            "AASA012",
            bad: ["/x?id=*", "/x#top", "https://h.example/x"].map { components(#"{"/":"\#($0)"}"#) },
            good: [components(##"{"/":"/x?","?":"id=*","#":"top"}"##)]
        ),
        Row(
            "AASA013",
            bad: [
                components("{\"/\":\"/caf\u{E9}\"}"), components(#"{"/":"/a%20b","percentEncoded":false}"#),
                components("{\"?\":{\"caf\u{E9}\":\"x\"}}"),
            ],
            good: [
                components(#"{"/":"/caf%C3%A9"}"#), components("{\"/\":\"/caf\u{E9}\",\"percentEncoded\":false}"),
            ]
        ),
        Row(
            "AASA014",
            bad: [
                components(#"{"path":"/typo"}"#), components(#"{"/":"/x","CaseSensitive":true}"#),
                components(#"{"/":"/x","exclude":"true"}"#), file(#"{"AppLinks":{}}"#),
                file(#"{"applinks":{"Details":[]}}"#), entry(#""Components":[{}]"#), entry(#""x":1,"paths":["*"]"#),
                components(#"{"/":"/x","/":"/y"}"#),
            ],
            good: [components(#"{"/":"/x","caseSensitive":false,"exclude":false,"comment":"x"}"#)]
        ),
        Row(
            "AASA015",
            bad: ["not /x", "NOT  /x", "NOT/x", " NOT /x"].map { entry(#""paths":["\#($0)"]"#) }
                + [components(#"{"/":"NOT /x"}"#)],
            good: [entry(#""paths":["NOT /x","/notes"]"#), components(#"{"/":"/not/x"}"#)]
        ),
        Row(
            "AASA016",
            bad: [
                with("--app", "T.a.b", "--url", "https://h.example/y"), with("--url", "https://h.example/y"),
                Input(
                    file: #"{"applinks":{"details":[{"appID":"T.a","paths":["NOT /x","*"]}]}}"#,
                    words: ["--url", "https://h.example/x"]
                ),
            ],
            good: [with("--app", "T.a.b", "--url", "https://h.example/x/1")]
        ),
        Row(
            "AASA017",
            bad: [
                "http://h.example/.well-known/apple-app-site-association",
                "https://h.example/.well-known/apple-app-site-association.json", "https://h.example/x",
            ].map { with("--served-at", $0) },
            good: [with("--served-at", "https://h.example/.well-known/apple-app-site-association")]
        ),
    ]

    static let ofDomains = [
        Row("DOM001", bad: [installed("")], good: [installed(#""applinks:h.example""#)]),
        Row("DOM002", bad: [domains("webcredentials:h.example")], good: [domains("applinks:h.example")]),
        Row(
            "DOM003",
            bad: [
                domains("h.example"), domains("links:h.example"), domains("https://h.example"), installed(#""x.y""#),
            ],
            good: [domains("applinks:h.example", "webcredentials:h.example", "appclips:h.example")]
        ),
        Row(
            "DOM004",
            bad: [
                "https://h.example", "h.example/x", "h.example:443", "h .example", "u@h.example", "", "1.2.3.4",
                "localhost", "[::1]", "h!.example",
            ].map { domains("applinks:\($0)") },
            good: [domains("applinks:h.example"), domains("applinks:b\u{FC}cher.example")]
        ),
        Row(
            "DOM005",
            bad: [domains("applinks:a.*.example"), domains("applinks:*h.example"), domains("appclips:*.h.example")],
            good: [domains("applinks:*.h.example", "applinks:h.example")]
        ),
        Row(
            "DOM006",
            bad: [domains("applinks:*.h.example")],
            good: [domains("applinks:*.h.example", "applinks:h.example")]
        ),
        Row(
            "DOM007",
            bad: [domains("applinks:h.example?mode=developer", release: true)],
            good: [domains("applinks:h.example?mode=developer"), domains("applinks:h.example", release: true)]
        ),
        Row(
            "DOM008",
            bad: [domains("applinks:h.example?mode=x"), domains("applinks:h.example?developer")],
            good: ["developer", "managed", "developer+managed"].map { domains("applinks:h.example?mode=\($0)") }
        ),
        Row(
            "DOM009",
            bad: [
                domains("applinks:h.example", "applinks:H.example"),
                Input(file: fine, words: (0...30).flatMap { ["--entitlement", "applinks:h\($0).example"] }),
            ],
            good: [domains("applinks:h.example", "applinks:g.example")]
        ),
        Row(
            "DOM010",
            bad: [domains("applinks:h.example", url: "https://g.example/x/1")],
            good: [
                domains("applinks:h.example", url: "https://h.example/x/1"),
                domains("applinks:*.h.example", url: "https://g.h.example/x/1"),
            ]
        ),
    ]

    @Test(arguments: ofFiles + ofDomains)
    func `It finds what breaks it, and not what keeps it`(row: Row) throws {
        for input in row.bad {
            #expect(try found(input).contains(row.id), "\(input.file.prefix(200)) \(input.words)")
        }
        for input in row.good {
            #expect(try !found(input).contains(row.id), "\(input.file.prefix(200)) \(input.words)")
        }
    }

    @Test func `The article of links explains every rule`() throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/Framework/CoreNFC/Documentation.docc/TakeLinks.md")
            .standardizedFileURL
        let text = try String(contentsOf: article, encoding: .utf8)
        let ids = (Self.ofFiles + Self.ofDomains).map(\.id)
        #expect(ids.count == 27)
        for id in ids { #expect(text.contains("\n| `\(id)` | "), "\(id)") }
    }

    private func found(_ input: Input) throws -> [String] {
        let user = try User()
        if let installed = input.installed {
            let text = #"{"app_id":"TEAM.org.example.reader","associated_domains":[\#(installed)]}"#
            try user.write("data/nfc/apps/org.example.Reader.json", text)
        }
        try user.write("aasa", input.file)
        let outcome = try user.nfc.run(["links", "check", user.scratch.path("aasa"), "--json"] + input.words)
        let object = try #require(try outcome.objects().first, "\(outcome)")
        #expect(
            Set(object.keys) == ["ok", "error", "message", "source", "domain", "details", "findings"]
        )
        let findings = try #require(object["findings"] as? [[String: Any]])
        let isFine = findings.allSatisfy { $0["severity"] as? String == "information" }
        #expect(object["ok"] as? Bool == isFine && (outcome.status == 0) == isFine)
        #expect((object["error"] is NSNull) == isFine && (object["message"] is NSNull) == isFine)
        return findings.compactMap { $0["id"] as? String }
    }
}
