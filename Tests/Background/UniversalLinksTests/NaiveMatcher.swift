// SPDX-License-Identifier: Apache-2.0
import Foundation
import PropertyTesting
import UniversalLinks

/// A rule, with the simplest matching: recursion over characters.
struct NaiveRule: Sendable {
    var path: String?
    var query: Query?
    var fragment: String?
    var excludes: Bool
    var isCaseSensitive: Bool
    var isPercentEncoded: Bool

    enum Query: Sendable {
        case whole(String)
        case items([String: String])
    }

    init(_ draws: inout Draws) {
        path = draws.happens(onceIn: 5) ? nil : Self.path(&draws)
        switch draws.int(in: 0...3) {
        case 2: query = .whole(Self.pattern(&draws))
        case 3:
            let items = draws.array(count: 1...2) { ($0.element(of: ["a", "B", "%61"]), Self.pattern(&$0)) }
            query = .items(Dictionary(items) { first, _ in first })
        default: query = nil
        }
        fragment = draws.happens(onceIn: 4) ? Self.pattern(&draws) : nil
        excludes = draws.happens(onceIn: 4)
        isCaseSensitive = !draws.happens(onceIn: 3)
        isPercentEncoded = !draws.happens(onceIn: 3)
    }

    private static func path(_ draws: inout Draws) -> String {
        let parts = draws.array(count: 0...3) { pattern(&$0) }
        return (draws.happens(onceIn: 4) ? "" : "/") + parts.joined(separator: "/")
            + (draws.happens(onceIn: 4) ? "/*" : "") + (draws.happens(onceIn: 6) ? "/" : "")
    }

    private static func pattern(_ draws: inout Draws) -> String {
        let pieces = ["a", "b", "A", "1", "*", "?", "%61", "%2F", "=", "$(digit)", "$(own)", "$(none)"]
        return draws.array(count: 0...4) { $0.element(of: pieces) }.joined()
    }

    /// The rule as an association file has it.
    var json: [String: Any] {
        var object: [String: Any] = [:]
        object["/"] = path
        switch query {
        case .whole(let pattern): object["?"] = pattern
        case .items(let items): object["?"] = items
        case nil: break
        }
        object["#"] = fragment
        if excludes { object["exclude"] = true }
        if !isCaseSensitive { object["caseSensitive"] = false }
        if !isPercentEncoded { object["percentEncoded"] = false }
        return object
    }

    static func app(_ index: Int) -> String { "ABCDE12345.app\(index)" }

    /// A file with an entry for each list of rules.
    static func file(_ rules: [[NaiveRule]]) throws -> AssociationFile {
        let details = rules.enumerated().map { index, rules in
            ["appIDs": [app(index)], "components": rules.map(\.json)] as [String: Any]
        }
        let links: [String: Any] = ["details": details, "substitutionVariables": ["own": own]]
        return try AssociationFile(parsing: JSONSerialization.data(withJSONObject: ["applinks": links]))
    }

    /// Which app opens a link, rule by rule.
    static func decision(_ rules: [[NaiveRule]], _ link: NaiveLink) -> LinkMatcher.Decision {
        var exclusion: LinkMatcher.RulePosition?
        for (index, rules) in rules.enumerated() {
            guard let rule = rules.firstIndex(where: { $0.matches(link) }) else { continue }
            let position = LinkMatcher.RulePosition(details: index, rule: rule)
            if !rules[rule].excludes { return .app(app(index), position) }
            exclusion = exclusion ?? position
        }
        return exclusion.map { .excluded($0) } ?? .noRule
    }

    func matches(_ link: NaiveLink) -> Bool {
        let pattern = Self.slashesOut(path ?? "*")
        // A path pattern without a slash at the beginning gets one.
        let whole = pattern.isEmpty ? "" : "/" + pattern
        let subject = compared(link.pathWithoutEnd)
        // Several stars are one.
        let parent = whole.wholeMatch(of: /(.*\/)\*+/).map { String($0.1.dropLast()) }
        guard covers(whole, subject) || parent.map({ covers($0, subject) }) == true else { return false }
        if let fragment, !covers(fragment, compared(link.fragment)) { return false }
        switch query {
        case nil: return true
        case .whole(let pattern): return covers(pattern, compared(link.query))
        case .items(let items): return items.allSatisfy { matches($0.key, $0.value, link.query) }
        }
    }

    private func matches(_ name: String, _ pattern: String, _ query: String) -> Bool {
        let values = query.split(separator: "&").compactMap { item -> String? in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard folded(compared(parts[0])) == folded(name) else { return nil }
            return compared(parts.count > 1 ? parts[1] : "")
        }
        return (values.isEmpty ? [""] : values).allSatisfy { covers(pattern, $0) }
    }

    private func folded(_ text: String) -> String { isCaseSensitive ? text : text.lowercased() }

    /// A component of a URL as the rule compares it.
    private func compared(_ text: String) -> String {
        guard !isPercentEncoded else { return text }
        return text.replacing("%61", with: "a").replacing("%2F", with: "/").replacing("%3F", with: "?")
    }

    private static func slashesOut(_ pattern: String) -> String {
        var rest = Substring(pattern)
        while rest.hasPrefix("/") { rest.removeFirst() }
        while rest.hasSuffix("/") { rest.removeLast() }
        return String(rest)
    }

    private func covers(_ pattern: String, _ text: String) -> Bool {
        // A variable without values matches nothing.
        if pattern.contains("$(none)") { return false }
        return Self.covers(Array(folded(pattern))[...], Array(folded(text))[...])
    }

    private static func covers(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        for (name, values) in variables where pattern.starts(with: name) {
            let rest = pattern.dropFirst(name.count)
            return values.contains { covers(Array($0) + rest, text) }
        }
        switch first {
        case "*": return (0...text.count).contains { covers(pattern.dropFirst(), text.dropFirst($0)) }
        case "?": return !text.isEmpty && covers(pattern.dropFirst(), text.dropFirst())
        default: return text.first == first && covers(pattern.dropFirst(), text.dropFirst())
        }
    }

    private static func covers(_ pattern: [Character], _ text: ArraySlice<Character>) -> Bool {
        covers(pattern[...], text)
    }

    private static let variables: [(name: String, values: [String])] = [
        ("$(digit)", (0...9).map(String.init)), ("$(own)", Self.own),
    ]

    /// The values of the file's own variable.
    static let own = ["b", "a*1", ""]
}

/// A link in its parts.
struct NaiveLink: Sendable {
    var path: String
    var query: String
    var fragment: String

    init(_ draws: inout Draws) {
        func text(_ draws: inout Draws, _ pieces: [String]) -> String {
            draws.array(count: 0...4) { $0.element(of: pieces) }.joined()
        }
        let pieces = ["a", "b", "A", "1", "%61", "%2F", "%3F", "*"]
        path = draws.array(count: 0...3) { "/" + text(&$0, pieces) }.joined() + (draws.happens(onceIn: 5) ? "/" : "")
        query = draws.array(count: 0...3) { draws in
            draws.element(of: ["a", "B", "%61", "b", ""]) + draws.element(of: ["=", "", "=="]) + text(&draws, pieces)
        }.joined(separator: "&")
        fragment = text(&draws, pieces)
    }

    var text: String {
        "https://example.com" + path + (query.isEmpty ? "" : "?" + query) + (fragment.isEmpty ? "" : "#" + fragment)
    }

    var pathWithoutEnd: String {
        var rest = Substring(path)
        while rest.hasSuffix("/") { rest.removeLast() }
        return String(rest)
    }
}
