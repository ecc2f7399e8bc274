// SPDX-License-Identifier: Apache-2.0

/// What an association file says of a URL, rule by rule, in the order in which they are asked.
public struct LinkExplanation: Sendable, Hashable {
    /// What a rule says.
    public enum Verdict: Sendable, Hashable {
        /// It matches, and its app opens the URL.
        case matches
        /// It matches, and keeps the URL from the apps of its entry.
        case excludes
        /// It does not match, for these components.
        case differs([RuleComponent])
        /// An earlier rule decided already, for the URL or for the apps of this entry.
        case notReached
        /// No app of its entry is installed.
        case notAsked
        /// It was not compared: the file is too complex for a URL of this length.
        case notCompared

        /// The verdict as programs read it.
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

    /// One entry of `details`.
    public struct Entry: Sendable, Hashable {
        /// Its apps, in the file's order.
        public var apps: [String]
        /// Those of them that count as installed.
        public var installed: Set<String>
        /// What each rule says, in the file's order.
        public var verdicts: [Verdict]
    }

    /// The entries, in the file's order.
    public var entries: [Entry]
    /// Which app opens the URL, and why.
    public var answer: LinkAnswer

    /// Creates an explanation.
    public init(entries: [Entry], answer: LinkAnswer) {
        self.entries = entries
        self.answer = answer
    }
}

extension LinkMatcher {
    /// Says rule by rule what the file says of a URL of its site.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - installed: the identifiers of the installed apps; nil for all apps of the file.
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
            // Entries that are too long together have no traces.
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
