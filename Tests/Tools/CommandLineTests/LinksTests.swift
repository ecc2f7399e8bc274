// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc links` {
    private let nfc = Command(name: "nfc")
    private static let file = #"""
        {"applinks":{"details":[{"appIDs":["T.a","T.b"],"components":[{"/":"/x/private/*","exclude":true,"comment":"not yet"},\
        {"/":"/x/*","?":{"id":"??"}}]}]}}
        """#

    @Test func `Match answers each line with an app or null, the rule and why`() throws {
        let aasa = Self.file.replacingOccurrences(of: "\"", with: "\\\"").replacingOccurrences(of: "\\\n", with: "")
        func line(_ url: String) -> String {
            """
            {"aasa":"\(aasa)","domain":"a.example","entitlement":["applinks:a.example"],"url":"\(url)","installed":["T.b"]}
            """
        }
        let lines = [
            line("https://a.example/x/1?id=42"), line("https://a.example/x/private/1"), line("https://b.example/"),
        ]
        let output = try NFCTool.run("links", "match", "--json", lines: lines)
        #expect(output.status == 0)
        try #require(output.lines.count == 3)
        #expect(output.lines[0].hasPrefix(#"{"app":"T.b","rule":"details[0].components[1] "#))
        #expect(output.lines[1].hasPrefix(#"{"app":null,"rule":"details[0].components[0] "#))
        #expect(output.lines[1].contains("not yet"))
        #expect(output.lines[2].contains("b.example"))
    }

    @Test func `Each line is answered by its own file, in words too`() throws {
        func line(_ app: String, _ url: String = "https://a.example/x/1") throws -> String {
            let file = #"{"applinks":{"details":[{"appIDs":["\#(app)"],"components":[{"/":"/x/*"}]}]}}"#
            let question: [String: Any] = [
                "aasa": file, "domain": "a.example", "entitlement": "applinks:a.example", "url": url,
                "installed": ["T.a", "T.b"],
            ]
            return String(decoding: try JSONSerialization.data(withJSONObject: question), as: UTF8.self)
        }
        let lines = try [line("T.a"), line("T.b"), line("T.b", "https://a.example/y"), line("T.a")]
        let input = Data(lines.joined(separator: "\n").utf8)
        let json = try nfc.run(["links", "match", "--json"], input: input)
        #expect(json.status == 0)
        #expect(try json.objects().map { $0["app"] as? String } == ["T.a", "T.b", nil, "T.a"])
        let text = try nfc.run(["links", "match"], input: input)
        let starts = ["x/1  T.a  ", "x/1  T.b  ", "y  no app  ", "x/1  T.a  "].map { "https://a.example/" + $0 }
        #expect(text.lines.count == 4)
        for (line, start) in zip(text.lines, starts) { #expect(line.hasPrefix(start), "\(line)") }
    }

    @Test func `An invalid line is reported by its number`() throws {
        let lines = ["{", #"{"aasa":5}"#, #"{"aasa":"{}"}"#, #"{"aasa":null}"#]
        let output = try NFCTool.run("links", "match", lines: lines)
        #expect(output.status == 1)
        #expect(output.lines.isEmpty)
        #expect(output.errorText.contains("Line 1: ") && output.errorText.contains("Line 3: 'domain' is missing."))
        #expect(output.errorText.contains("Line 4: 'aasa' has the wrong type."), "\(output.errorText)")
    }

    @Test func `Explain shows what each rule lacks`() throws {
        let file = Data(Self.file.replacingOccurrences(of: "\\\n", with: "").utf8)
        let found = try NFCTool.run(["links", "explain", "-", "https://a.example/x/1?id=42"], input: file)
        #expect(found.status == 0)
        #expect(found.lines.last?.hasPrefix("T.a: details[0].components[1]") == true)
        let missed = try NFCTool.run(["links", "explain", "-", "https://a.example/x/1"], input: file)
        #expect(missed.status == 1)
        #expect(missed.lines.contains { $0.hasSuffix("not the query") })
    }

    @Test func `Check reports parts without effect`() throws {
        let good = try NFCTool.run(
            ["links", "check", "-"],
            input: Data(Self.file.replacingOccurrences(of: "\\\n", with: "").utf8)
        )
        #expect(good.status == 0)
        #expect(good.lines == ["T.a, T.b: 2 rules"])
        let file = #"{"applinks":{"apps":["x"],"details":[{"appIDs":["T.a"],"components":[{"/":"/x/*"}]}]}}"#
        let odd = try NFCTool.run(["links", "check", "-", "--json"], input: Data(file.utf8))
        #expect(odd.status == 1)
        #expect(odd.text.contains(#","details":[{"apps":["T.a"],"rules":1}],"findings":["#), "\(odd.text)")
        #expect(odd.text.contains(#"{"id":"AASA007","severity":"warning","message":"applinks.apps is not empty"#))
        #expect(try nfc.run(["links", "check", "/nowhere"]).status == 1)
    }
}
