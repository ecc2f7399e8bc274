// SPDX-License-Identifier: Apache-2.0

/// A compiled association file, to find quickly which app opens a URL.
public struct LinkMatcher: Sendable {
    /// Which rule of a file it is. Values of the file that are ignored don't count; ``LinkMatcher/name(_:)`` has the
    /// position in the file itself.
    public struct RulePosition: Sendable, Hashable {
        /// The index in ``AssociationFile/details``.
        public var details: Int
        /// The index in the entry's rules.
        public var rule: Int

        /// Creates a position.
        public init(details: Int, rule: Int) {
            self.details = details
            self.rule = rule
        }
    }

    /// The decision of a file for a URL.
    public enum Decision: Sendable, Hashable {
        /// An installed app opens the URL.
        case app(String, RulePosition)
        /// A rule excludes the URL from the app that would have opened it.
        case excluded(RulePosition)
        /// No rule of an installed app matches.
        case noRule
        /// Comparing the rules with this URL takes too many steps, so no app opens it.
        case tooComplex
        /// The file is not for any installed app.
        case noApp
    }

    /// The file.
    public let file: AssociationFile
    private let entries: [CompiledDetails]

    /// The most states of all automata in a file. The rules beyond this limit match nothing.
    static let maximumStates = 1 << 18

    /// The length of URLs, in bytes, up to which matching must stay within the limit. Otherwise the file gets a
    /// finding.
    private static let usualLength = 8192

    private struct CompiledDetails: Sendable {
        var apps: [String]
        var rules: CompiledRules
    }

    /// Compiles a file.
    ///
    /// - Parameter file: the file. A finding is added to ``AssociationFile/findings`` when its rules are too long or
    ///   too complex.
    public init(_ file: AssociationFile) {
        var file = file
        let variables = SubstitutionVariables(file.variables)
        var states = 0
        var entries: [CompiledDetails] = []
        for details in file.details {
            let rules = CompiledRules(details.rules, variables: variables, states: &states)
            if states > Self.maximumStates {
                file.findings.append(
                    LinkFinding(
                        "AASA002",
                        .error,
                        "\(details.place) and what follows are too long together, and match nothing."
                    )
                )
                break
            }
            entries.append(CompiledDetails(apps: details.apps, rules: rules))
        }
        let steps = entries.reduce(0) { $0 + $1.rules.stepsPerByte }
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

    /// Returns which app opens a URL. The number of steps is limited, and depends only on the URL and the file. The
    /// caller checks the host; see ``AssociatedDomain``.
    ///
    /// Entries are evaluated in the file's order, and separately for each app: a rule that excludes a URL from one app
    /// does not affect the others.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - installed: the identifiers of the installed apps.
    public func match(_ url: LinkURL, installed: Set<String>) -> Decision {
        var work = MatchWork()
        return match(url, installed: installed, &work)
    }

    /// Returns the same with the remaining work for one link.
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
            // A rule that was not compared might exclude the URL.
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

    /// Returns for each rule whether it matches a URL, and which components don't match. The limit of steps is that of
    /// one match.
    ///
    /// - Parameter url: the URL.
    /// - Returns: for each rule of each entry, the components that keep the rule from matching. The list is empty for a
    ///   rule that matches, and nil for a rule that was not compared because the limit was reached before.
    public func trace(_ url: LinkURL) -> [[[RuleComponent]?]] {
        var work = MatchWork()
        return trace(url, &work)
    }

    /// Returns the same with the remaining work, which is shared by all entries.
    package func trace(_ url: LinkURL, _ work: inout MatchWork) -> [[[RuleComponent]?]] {
        let text = CompiledRules.Text(url)
        return entries.map { $0.rules.trace(text, &work) }
    }
}
