// SPDX-License-Identifier: Apache-2.0

/// Finds rules that are never reached, because an earlier rule matches everything that they match (AASA011).
struct ReachabilityCheck {
    let file: AssociationFile

    /// Only this many rules of an entry are compared.
    private static let maximumCount = 2000

    var findings: [LinkFinding] {
        var result: [LinkFinding] = []
        for (index, entry) in file.details.enumerated() {
            let rules = entry.rules.prefix(Self.maximumCount).map(Reach.init)
            if let other = earlierEntry(before: index) {
                result.append(
                    finding(entry.place, "a rule of \(file.details[other].place) matches every URL for its apps.")
                )
            }
            for (number, rule) in rules.enumerated() {
                guard let earlier = rules[..<number].firstIndex(where: { $0.covers(rule) }) else { continue }
                let (own, other) = (entry.rules[number], entry.rules[earlier])
                let what = other.excludes ? "excludes" : "matches"
                let all = rules[earlier].takesEverything ? "every URL" : "all that it matches"
                result.append(finding("\(entry.place).\(own.place)", "\(other.place) \(what) \(all)."))
            }
        }
        return result
    }

    private func finding(_ place: String, _ why: String) -> LinkFinding {
        LinkFinding("AASA011", .warning, "\(place) is never reached: \(why)")
    }

    /// Returns an earlier entry that decides every URL for the apps of this entry.
    private func earlierEntry(before index: Int) -> Int? {
        let apps = Set(file.details[index].apps)
        guard !apps.isEmpty else { return nil }
        return file.details[..<index].firstIndex { entry in
            apps.isSubset(of: entry.apps) && entry.rules.contains { Reach($0).takesEverything }
        }
    }

    /// The URLs that a rule matches, as far as rules can be compared.
    private struct Reach {
        private let rule: AssociationFile.Rule
        /// The path without slashes at its start and end.
        private let path: [UInt8]
        /// The prefix that is enough for a path to match; nil for other patterns.
        private let beginning: [UInt8]?
        /// The pattern of the whole query, or the names and patterns of its items.
        private let query: [ExactText]
        private let fragment: ExactText?
        private let isQueryFree: Bool
        private let isFragmentFree: Bool

        init(_ rule: AssociationFile.Rule) {
            self.rule = rule
            var path = Array((rule.path ?? "*").utf8)[...]
            while path.first == 0x2F { path.removeFirst() }
            while path.last == 0x2F { path.removeLast() }
            // Consecutive stars are the same as one.
            while path.suffix(2).elementsEqual("**".utf8) { path.removeLast() }
            self.path = Array(path)
            let literal = path.dropLast()
            let isPlain = path.last == 0x2A && !literal.contains { "*?$".utf8.contains($0) }
            beginning = isPlain ? Array(literal) : nil
            query =
                switch rule.query {
                case nil: []
                case .whole(let pattern): [ExactText(pattern)]
                case .items(let items): items.flatMap { [ExactText($0.name), ExactText($0.pattern)] }
                }
            fragment = rule.fragment.map(ExactText.init(_:))
            isQueryFree =
                switch rule.query {
                case nil, .whole("*"): true
                case .items(let items): items.allSatisfy { $0.pattern == "*" }
                case .whole: false
                }
            isFragmentFree = rule.fragment == nil || rule.fragment == "*"
        }

        var takesEverything: Bool { beginning?.isEmpty == true && isQueryFree && isFragmentFree }

        func covers(_ other: Reach) -> Bool {
            if takesEverything { return true }
            let isAlike =
                rule.isCaseSensitive == other.rule.isCaseSensitive
                && rule.isPercentEncoded == other.rule.isPercentEncoded
            if !rule.isCaseSensitive, other.rule.isCaseSensitive {
                // A rule that ignores case covers one that does not.
                var folded = (rule, other.rule)
                folded.0.isCaseSensitive = true
                folded.0.path = folded.0.path?.lowercased()
                folded.1.path = folded.1.path?.lowercased()
                return Reach(folded.0).covers(Reach(folded.1))
            }
            guard isAlike, isQueryFree || query == other.query, isFragmentFree || fragment == other.fragment else {
                return false
            }
            if path == other.path { return true }
            // A slash and a star at the end also match the path before them.
            guard let beginning else { return false }
            return other.path.starts(with: beginning) || other.path + [0x2F] == beginning
        }
    }
}
