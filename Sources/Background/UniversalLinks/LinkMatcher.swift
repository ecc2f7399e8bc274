// SPDX-License-Identifier: Apache-2.0

/// An association file, compiled to answer quickly which app opens a URL.
public struct LinkMatcher: Sendable {
    /// Where a rule stands in its file.
    public struct RulePosition: Sendable, Hashable {
        /// The index in ``AssociationFile/details``.
        public var details: Int
        /// The index in the entry's rules.
        public var rule: Int

        /// Names a rule.
        public init(details: Int, rule: Int) {
            self.details = details
            self.rule = rule
        }
    }

    /// What the file says of a URL.
    public enum Decision: Sendable, Hashable {
        /// An installed app opens it.
        case app(String, RulePosition)
        /// A rule keeps it from the app that would have been next.
        case excluded(RulePosition)
        /// No rule of an installed app matches.
        case noRule
        /// The rules take too many steps to compare with this URL. No app opens it.
        case tooComplex
        /// The file is for no installed app.
        case noApp
    }

    /// The file.
    public let file: AssociationFile
    private let entries: [CompiledDetails]

    /// The most states that the automata of one file may have together. Rules after that match nothing.
    static let maximumStates = 1 << 18

    /// The length of URLs, in bytes, up to which an author hears nothing of what a match takes.
    private static let usualLength = 8192

    private struct CompiledDetails: Sendable {
        var apps: [String]
        var rules: CompiledRules
    }

    /// Compiles a file.
    ///
    /// - Parameter file: the file; ``AssociationFile/findings`` gets one more for rules that are too long or too complex.
    public init(_ file: AssociationFile) {
        var file = file
        let variables = SubstitutionVariables(file.variables)
        var states = 0
        var entries: [CompiledDetails] = []
        for (index, details) in file.details.enumerated() {
            let rules = CompiledRules(details.rules, variables: variables, states: &states)
            if states > Self.maximumStates {
                file.findings.append(
                    LinkFinding(
                        "AASA002",
                        .error,
                        "details[\(index)] and what follows are too long together, and match nothing."
                    )
                )
                break
            }
            entries.append(CompiledDetails(apps: details.apps, rules: rules))
        }
        let steps = entries.reduce(0) { $0 + $1.rules.stepsPerOctet }
        if steps * Self.usualLength > MatchWork.limit {
            file.findings.append(
                LinkFinding(
                    "AASA002",
                    .error,
                    "The patterns are too complex together: URLs of more than about \(MatchWork.limit / steps) bytes open no app."
                )
            )
        }
        self.file = file
        self.entries = entries
    }

    /// Says which app opens a URL, within a limit of steps that depends on nothing but the URL and the file. The host is the caller's matter, see ``AssociatedDomain``.
    ///
    /// Entries are asked in the file's order, and each app by itself: a rule that excludes a URL from one app leaves it to
    /// the others.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - installed: the identifiers of the installed apps.
    public func match(_ url: LinkURL, installed: Set<String>) -> Decision {
        var work = MatchWork()
        return match(url, installed: installed, &work)
    }

    /// The same, with what is left of the work for one link.
    package func match(_ url: LinkURL, installed: Set<String>, _ work: inout MatchWork) -> Decision {
        let text = CompiledRules.Text(url)
        var excluded: Set<String> = []
        var exclusion: RulePosition?
        var hasApp = false
        for (index, entry) in entries.enumerated() {
            var candidate: String?
            for app in entry.apps where installed.contains(app) {
                hasApp = true
                if !excluded.contains(app) {
                    candidate = app
                    break
                }
            }
            guard let candidate else { continue }
            let rule = entry.rules.firstMatch(text, &work)
            // A rule that was not compared may exclude the URL.
            if work.isExhausted { return .tooComplex }
            guard let rule else { continue }
            let position = RulePosition(details: index, rule: rule.index)
            guard rule.excludes else { return .app(candidate, position) }
            exclusion = exclusion ?? position
            excluded.formUnion(entry.apps)
        }
        if let exclusion { return .excluded(exclusion) }
        return hasApp ? .noRule : .noApp
    }

    /// Says of each rule whether it matches a URL, and which component does not, within the limit of steps of one match.
    ///
    /// - Parameter url: the URL.
    /// - Returns: for each entry, and each of its rules, the components that keep the rule from matching: an empty list for
    ///   one that matches, nil for one that was not compared, because the limit was reached before its end.
    public func trace(_ url: LinkURL) -> [[[RuleComponent]?]] {
        var work = MatchWork()
        return trace(url, &work)
    }

    /// The same, with the work counted: the limit is for all entries together.
    package func trace(_ url: LinkURL, _ work: inout MatchWork) -> [[[RuleComponent]?]] {
        let text = CompiledRules.Text(url)
        return entries.map { $0.rules.trace(text, &work) }
    }
}

/// A component that a rule constrains.
public enum RuleComponent: String, Sendable, Hashable {
    /// The path, key `/`.
    case path
    /// The query, key `?`.
    case query
    /// The fragment, key `#`.
    case fragment
}
