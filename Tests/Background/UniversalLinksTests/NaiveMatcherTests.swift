// SPDX-License-Identifier: Apache-2.0
import Foundation
import PropertyTesting
import Testing
import UniversalLinks

/// Compares the compiled rules with a simple matcher.
@Suite struct `Rules and a naive matcher` {
    private struct Case: Sendable {
        var rules: [[NaiveRule]]
        var links: [NaiveLink]

        init(_ draws: inout Draws) {
            rules = draws.array(count: 1...2) { $0.array(count: 1...3) { NaiveRule(&$0) } }
            links = draws.array(count: 1...6) { NaiveLink(&$0) }
        }

        func file() throws -> AssociationFile {
            let details = rules.enumerated().map { index, rules in
                ["appIDs": ["ABCDE12345.app\(index)"], "components": rules.map(\.json)] as [String: Any]
            }
            let links: [String: Any] = ["details": details, "substitutionVariables": ["own": NaiveRule.own]]
            return try AssociationFile(parsing: JSONSerialization.data(withJSONObject: ["applinks": links]))
        }

        /// Which app opens a link, rule by rule.
        func decision(_ link: NaiveLink) -> LinkMatcher.Decision {
            var exclusion: LinkMatcher.RulePosition?
            for (index, rules) in rules.enumerated() {
                guard let rule = rules.firstIndex(where: { $0.matches(link) }) else { continue }
                let position = LinkMatcher.RulePosition(details: index, rule: rule)
                if !rules[rule].excludes { return .app("ABCDE12345.app\(index)", position) }
                exclusion = exclusion ?? position
            }
            return exclusion.map { .excluded($0) } ?? .noRule
        }
    }

    @Test func `They agree on every link`() async throws {
        var opened = 0
        var excluded = 0
        try await checkRule(cases: 1_000, of: { Case(&$0) }) { value in
            let matcher = LinkMatcher(try value.file())
            let installed = Set(value.rules.indices.map { "ABCDE12345.app\($0)" })
            for link in value.links {
                let (found, expected) = (
                    matcher.match(try LinkURL(link.text), installed: installed), value.decision(link)
                )
                switch expected {
                case .app: opened += 1
                case .excluded: excluded += 1
                default: break
                }
                if found != expected { return "\(link.text): \(found), and by the naive matcher \(expected)" }
            }
            return nil
        }
        // Of some 3,500 links, enough match for the rule to say something.
        #expect(opened > 250 && excluded > 50, "\(opened) are opened, \(excluded) excluded")
    }
}
