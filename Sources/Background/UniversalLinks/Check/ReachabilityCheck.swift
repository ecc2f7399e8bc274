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
        private let path: String
        /// The prefix that is enough for a path to match; nil for other patterns.
        private let beginning: String?
        private let isQueryFree: Bool
        private let isFragmentFree: Bool

        init(_ rule: AssociationFile.Rule) {
            self.rule = rule
            var path = (rule.path ?? "*")[...]
            while path.first == "/" { path.removeFirst() }
            while path.last == "/" { path.removeLast() }
            // Consecutive stars are the same as one.
            while path.hasSuffix("**") { path.removeLast() }
            self.path = String(path)
            let literal = path.dropLast()
            let isPlain = path.last == "*" && !literal.contains { "*?$".contains($0) }
            beginning = isPlain ? String(literal) : nil
            isQueryFree =
                switch rule.query {
                case nil, .whole("*"): true
                case .items(let items): items.values.allSatisfy { $0 == "*" }
                case .whole: false
                }
            isFragmentFree = rule.fragment == nil || rule.fragment == "*"
        }

        var takesEverything: Bool { beginning == "" && isQueryFree && isFragmentFree }

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
            guard isAlike, isQueryFree || rule.query == other.rule.query,
                isFragmentFree || rule.fragment == other.rule.fragment
            else {
                return false
            }
            if path == other.path { return true }
            // A slash and a star at the end also match the path before them.
            return beginning.map { other.path.hasPrefix($0) || other.path + "/" == $0 } ?? false
        }
    }
}
