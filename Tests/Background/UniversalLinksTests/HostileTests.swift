// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Checks that no file and no URL takes long, much memory, or the process.
struct HostileTests {
    private func matcher(_ components: String, variables: String = "{}") throws -> LinkMatcher {
        let details = #"[{"appIDs":["A.b"],"components":\#(components)}]"#
        let text = #"{"applinks":{"substitutionVariables":\#(variables),"details":\#(details)}}"#
        return LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
    }

    @Test("A pattern of many stars is compared in one pass")
    func stars() throws {
        let pattern = String(repeating: "*a", count: 2000) + "*b"
        let matcher = try matcher(#"[{"/":"/\#(pattern)"}]"#)
        let path = String(repeating: "a", count: 60_000)
        #expect(matcher.answer(try LinkURL("https://a.b/\(path)"), installed: ["A.b"]).app == nil)
        #expect(matcher.answer(try LinkURL("https://a.b/\(path)b"), installed: ["A.b"]).app == "A.b")
    }

    @Test("Rules that take too many steps together are no match, and the file says so")
    func complexity() throws {
        // 128 KB of patterns, each with the whole URL before it.
        let rules = (0..<400).map { #"{"/":"/\#(String(repeating: "*a", count: 150))*x\#($0)"}"# }.joined(
            separator: ","
        )
        let matcher = try matcher(#"[\#(rules),{"/":"*"}]"#)
        #expect(matcher.file.findings.map(\.message).contains { $0.contains("too complex together") })
        let short = try LinkURL("https://a.b/" + String(repeating: "a", count: 300))
        #expect(matcher.answer(short, installed: ["A.b"]).app == "A.b")
        let long = try LinkURL("https://a.b/" + String(repeating: "a", count: 30_000))
        let start = ContinuousClock.now
        #expect(matcher.match(long, installed: ["A.b"]) == .tooComplex)
        #expect(matcher.answer(long, installed: ["A.b"]).why.contains("too complex"))
        // Some hundredths of a second where it is compiled for speed, and 8 million steps in place of 36.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("The limit of steps is for all entries of a file together, when a link is matched and when it is explained")
    func manyEntries() throws {
        let entry = #"{"appIDs":["ABCDE12345.a.b","ABCDE12345.a.b"],"paths":["*a*a*a*a*a*a*a*a*a*b"]}"#
        let details = Array(repeating: entry, count: 1500).joined(separator: ",")
        let file = try AssociationFile(parsing: Data(#"{"applinks":{"details":[\#(details)]}}"#.utf8))
        let matcher = LinkMatcher(file)
        let url = try LinkURL("https://a.example/" + String(repeating: "a", count: 30_000))
        #expect(matcher.match(url, installed: ["ABCDE12345.a.b"]) == .tooComplex)
        var (matching, tracing) = (MatchWork(), MatchWork())
        _ = matcher.match(url, installed: ["ABCDE12345.a.b"], &matching)
        _ = matcher.trace(url, &tracing)
        // All entries would take more than five times the limit.
        for work in [matching, tracing] { #expect(work.isExhausted && (1...MatchWork.limit).contains(work.steps)) }
        // Nothing is left for the next file.
        #expect(
            matcher.match(try LinkURL("https://a.example/b"), installed: ["ABCDE12345.a.b"], &matching) == .tooComplex
        )
        let trace = matcher.trace(url).flatMap(\.self)
        #expect(trace.count == 1500 && trace.first == [.path] && trace.last == .some(nil))
        // A short link is compared with all of them.
        let short = matcher.trace(try LinkURL("https://a.example/aa")).flatMap(\.self)
        #expect(short.allSatisfy { $0 == [.path] })
    }

    @Test("Escapes that are resolved, and items of queries, count too")
    func otherWork() throws {
        let decoding = Array(repeating: #"{"/":"/b?","percentEncoded":false}"#, count: 3000).joined(separator: ",")
        let escapes = try LinkURL("https://a.b/" + String(repeating: "%61", count: 20_000))
        #expect(try matcher("[\(decoding)]").match(escapes, installed: ["A.b"]) == .tooComplex)
        let names = (0..<5000).map { #""n\#($0)":"*""# }.joined(separator: ",")
        let query = try LinkURL("https://a.b/?" + String(repeating: "q&", count: 20_000))
        #expect(try matcher(#"[{"?":{\#(names)}}]"#).match(query, installed: ["A.b"]) == .tooComplex)
    }

    @Test("A file whose variables multiply is cut off, and says so")
    func variables() throws {
        let values = (0..<1000).map { "\"value\($0)\"" }.joined(separator: ",")
        let rules = Array(repeating: #"{"/":"/$(v)/x"}"#, count: 2000).joined(separator: ",")
        let matcher = try matcher("[\(rules)]", variables: #"{"v":[\#(values)]}"#)
        #expect(matcher.file.findings.map(\.message).contains { $0.contains("too long together") })
        #expect(matcher.answer(try LinkURL("https://a.b/y"), installed: ["A.b"]).app == nil)
        // An explanation has the rules that were cut off, too.
        let verdicts = matcher.explain(try LinkURL("https://a.b/y"), installed: nil).entries.map(\.verdicts)
        #expect(verdicts == [[LinkExplanation.Verdict](repeating: .notCompared, count: 2000)])
    }

    @Test("A pattern with too many states matches nothing")
    func states() throws {
        let matcher = try matcher(#"[{"/":"/\#(String(repeating: "?", count: 20_000))"}]"#)
        let url = try LinkURL("https://a.b/\(String(repeating: "x", count: 20_000))")
        #expect(matcher.answer(url, installed: ["A.b"]).app == nil)
    }

    @Test("Files that are none say why")
    func files() {
        func code(_ data: Data) -> AssociationFileError.Code? {
            do throws(AssociationFileError) {
                _ = try AssociationFile(parsing: data)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(Data(repeating: 0x20, count: 200_000)) == .tooLarge)
        #expect(code(Data("[]".utf8)) == .notAnObject)
        #expect(code(Data([0x30, 0x82, 1, 2])) == .signed)
        #expect(code(Data("{".utf8)) == .notJSON)
        #expect(code(Data(String(repeating: "[", count: 100_000).utf8)) == .notJSON)
        let deep = String(repeating: #"{"a":"#, count: 20_000) + "1" + String(repeating: "}", count: 20_000)
        #expect(code(Data(deep.utf8)) == .notJSON)
    }

    @Test("URLs that are none say why")
    func urls() {
        #expect(throws: LinkURL.Problem.scheme) { try LinkURL("javascript:alert(1)") }
        #expect(throws: LinkURL.Problem.host) { try LinkURL("https:///x") }
        #expect(throws: LinkURL.Problem.forbiddenCharacter) { try LinkURL("https://a.b/x y") }
        #expect(throws: LinkURL.Problem.tooLong) { try LinkURL("https://a.b/" + String(repeating: "x", count: 70_000)) }
    }

    @Test("A rule that excludes a URL from one app leaves it to another")
    func exclusion() throws {
        let text = """
            {"applinks":{"details":[{"appIDs":["A.a"],"components":[{"/":"/x/*","exclude":true}]},\
            {"appIDs":["B.b"],"components":[{"/":"*"}]}]}}
            """
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let url = try LinkURL("https://a.b/x/1")
        #expect(matcher.answer(url, installed: ["A.a", "B.b"]).app == "B.b")
        #expect(matcher.match(url, installed: ["A.a"]) == .excluded(.init(details: 0, rule: 0)))
        #expect(matcher.trace(url)[1] == [[]])
    }
}
