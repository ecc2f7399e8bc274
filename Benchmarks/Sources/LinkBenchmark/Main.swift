// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniversalLinks

/// Measures how fast links are matched against a file of 100 rules, and against a pattern that is designed to be slow.
@main
struct LinkBenchmark {
    static let usage = """
        Usage: link-benchmark [--json] [--rounds N] [--matches N]
          --json       print one JSON object per line
          --rounds N   measure N times (default 5)
          --matches N  the links per round (default 1000000)

        """

    static func main() throws {
        var json = false
        var rounds = 5
        var matches = 1_000_000
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": json = true
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
            case "--matches": matches = arguments.popFirst().flatMap { Int($0) } ?? matches
            default:
                FileHandle.standardError.write(Data(usage.utf8))
                exit(argument == "--help" ? 0 : 2)
            }
        }
        for round in 1...max(1, rounds) {
            try measureRules(max(1, matches), round: round, json: json)
        }
        for length in [1000, 2000, 4000, 8000, 16000] { try measureSlowPattern(length, json: json) }
    }

    /// 100 rules for the paths of a site, and links that match one of them or none.
    static func measureRules(_ count: Int, round: Int, json: Bool) throws {
        let rules = (0..<100).map { index in
            switch index % 4 {
            case 0: #"{"/":"/section\#(index)/*"}"#
            case 1: #"{"/":"/section\#(index)/page/?*","?":{"id":"*"}}"#
            case 2: #"{"/":"/section\#(index)/*/edit","exclude":true}"#
            default: ##"{"/":"/section\##(index)/a","#":"?*"}"##
            }
        }
        let text = #"{"applinks":{"details":[{"appIDs":["T.app"],"components":[\#(rules.joined(separator: ","))]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let links = (0..<128).map { "https://shop.example.org/section\($0)/page/\($0 * 7)?id=\($0)&source=tag" }
        let clock = ContinuousClock()
        var opened = 0
        let installed: Set<String> = ["T.app"]
        let time = try clock.measure {
            for index in 0..<count {
                let url = try LinkURL(links[index & 127])
                if case .app = matcher.match(url, installed: installed) { opened += 1 }
            }
        }
        let rate = Double(count) / (Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds))
        if json {
            print(
                #"{"round":\#(round),"rules":100,"matches":\#(count),"opened":\#(opened),"per_second":\#(Int(rate))}"#
            )
        } else {
            print("round \(round): \(count) links, \(opened) open the app, \(Int(rate)) a second")
        }
    }

    /// `*a*a*a…*b` against a path of only `a`: twice the length must take twice the time.
    static func measureSlowPattern(_ length: Int, json: Bool) throws {
        let pattern = String(repeating: "*a", count: 60) + "*b"
        let text = #"{"applinks":{"details":[{"appIDs":["T.app"],"components":[{"/":"/\#(pattern)"}]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let url = try LinkURL("https://shop.example.org/" + String(repeating: "a", count: length))
        let clock = ContinuousClock()
        var best = Duration.seconds(1)
        for _ in 0..<20 {
            best = min(best, clock.measure { _ = matcher.match(url, installed: ["T.app"]) })
        }
        let nanoseconds = Double(best.components.attoseconds) / 1e9 / Double(length)
        let each = (nanoseconds * 100).rounded() / 100
        if json {
            print(#"{"pattern":"*a*a…*b","path_octets":\#(length),"ns_per_octet":\#(each)}"#)
        } else {
            print("*a*a…*b against \(length) bytes: \(each) ns per byte")
        }
    }
}
