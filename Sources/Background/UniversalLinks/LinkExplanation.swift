// SPDX-License-Identifier: Apache-2.0

/// The result of an association file for a URL, rule by rule, in the order in which the rules are evaluated.
public struct LinkExplanation: Sendable, Hashable {
    /// The result of a rule.
    public enum Verdict: Sendable, Hashable {
        /// The rule matches, and its app opens the URL.
        case matches
        /// The rule matches, so the apps of its entry don't open the URL.
        case excludes
        /// The rule does not match, because of these components.
        case differs([RuleComponent])
        /// An earlier rule has decided for the URL or for the apps of this entry.
        case notReached
        /// No app of the entry is installed.
        case notAsked
        /// The rule was not compared, because the file is too complex for a URL of this length.
        case notCompared

        /// The name of the verdict in machine-readable output.
        public var name: String {
            switch self {
            case .matches: "matches"
            case .excludes: "excludes"
            case .differs: "differs"
            case .notReached: "not-reached"
            case .notAsked: "not-asked"
            case .notCompared: "not-compared"
            }
        }
    }

    /// An entry of `details`.
    public struct Entry: Sendable, Hashable {
        /// Its apps, in the file's order.
        public var apps: [String]
        /// The apps of the entry that count as installed.
        public var installed: Set<String>
        /// The verdict of each rule, in the file's order.
        public var verdicts: [Verdict]
    }

    /// The entries, in the file's order.
    public var entries: [Entry]
    /// The app that opens the URL, and why.
    public var answer: LinkAnswer

    /// Creates an explanation.
    public init(entries: [Entry], answer: LinkAnswer) {
        self.entries = entries
        self.answer = answer
    }
}

extension LinkMatcher {
    /// Returns the verdict of each rule for a URL of the file's site.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - installed: the identifiers of the installed apps; nil for all apps in the file.
    public func explain(_ url: LinkURL, installed: Set<String>?) -> LinkExplanation {
        let answer = answer(url, installed: installed)
        let installed = installed ?? apps
        let traces = trace(url)
        var excluded: Set<String> = []
        var isDecided = false
        let entries = file.details.indices.map { index in
            let details = file.details[index]
            let asked = details.apps.filter(installed.contains)
            var isReached = !isDecided && asked.contains { !excluded.contains($0) }
            // Entries beyond the limit of states have no traces.
            let trace = index < traces.count ? traces[index] : []
            let verdicts = details.rules.indices.map { number -> LinkExplanation.Verdict in
                guard !asked.isEmpty else { return .notAsked }
                guard isReached else { return .notReached }
                guard number < trace.count, let missing = trace[number] else { return .notCompared }
                guard missing.isEmpty else { return .differs(missing) }
                isReached = false
                guard details.rules[number].excludes else {
                    isDecided = true
                    return .matches
                }
                excluded.formUnion(details.apps)
                return .excludes
            }
            return LinkExplanation.Entry(apps: details.apps, installed: Set(asked), verdicts: verdicts)
        }
        return LinkExplanation(entries: entries, answer: answer)
    }
}
