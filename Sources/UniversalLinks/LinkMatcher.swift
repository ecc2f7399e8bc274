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
        /// The file is for no installed app.
        case noApp
    }

    /// The file.
    public let file: AssociationFile
    private let entries: [CompiledDetails]

    /// The most states that the automata of one file may have together. Rules after that match nothing.
    static let maximumStates = 1 << 18

    private struct CompiledDetails: Sendable {
        var apps: [String]
        var rules: CompiledRules
    }

    /// Compiles a file.
    ///
    /// - Parameter file: the file; ``AssociationFile/remarks`` gets one more for a rule that is too long.
    public init(_ file: AssociationFile) {
        var file = file
        let variables = SubstitutionVariables(file.variables)
        var states = 0
        var entries: [CompiledDetails] = []
        for (index, details) in file.details.enumerated() {
            let rules = CompiledRules(details.rules, variables: variables, states: &states)
            if states > Self.maximumStates {
                file.remarks.append("details[\(index)] and what follows are too long together, and match nothing.")
                break
            }
            entries.append(CompiledDetails(apps: details.apps, rules: rules))
        }
        self.file = file
        self.entries = entries
    }

    /// Says which app opens a URL. The host is the caller's matter, see ``AssociatedDomain``.
    ///
    /// Entries are asked in the file's order, and each app by itself: a rule that excludes a URL from one app leaves it to
    /// the others.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - installed: the identifiers of the installed apps.
    public func match(_ url: LinkURL, installed: Set<String>) -> Decision {
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
            guard let candidate, let rule = entry.rules.firstMatch(text) else { continue }
            let position = RulePosition(details: index, rule: rule.index)
            guard rule.excludes else { return .app(candidate, position) }
            exclusion = exclusion ?? position
            excluded.formUnion(entry.apps)
        }
        if let exclusion { return .excluded(exclusion) }
        return hasApp ? .noRule : .noApp
    }

    /// Says of each rule of an entry whether it matches a URL, and which component does not.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - details: the entry's index.
    /// - Returns: for each rule the components that keep it from matching; none for one that matches.
    public func trace(_ url: LinkURL, details: Int) -> [[RuleComponent]] {
        guard entries.indices.contains(details) else { return [] }
        return entries[details].rules.trace(CompiledRules.Text(url))
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
