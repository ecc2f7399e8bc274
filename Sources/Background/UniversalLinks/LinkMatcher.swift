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

/// The compiled rules of one entry.
///
/// Most rules differ in the first bytes of the path. These are compared first, as one number for each rule, before
/// anything else is checked.
struct CompiledRules: Sendable {
    /// A class, so that iterating over rules only copies references.
    final class Rule: Sendable {
        let path: LinkPattern
        let query: Query?
        let fragment: LinkPattern?
        let excludes: Bool
        let ignoresCase: Bool
        let decodes: Bool

        init(
            path: LinkPattern,
            query: Query?,
            fragment: LinkPattern?,
            excludes: Bool,
            ignoresCase: Bool,
            decodes: Bool
        ) {
            self.path = path
            self.query = query
            self.fragment = fragment
            self.excludes = excludes
            self.ignoresCase = ignoresCase
            self.decodes = decodes
        }
    }

    enum Query: Sendable {
        case whole(LinkPattern)
        case items([(name: [UInt8], value: LinkPattern)])
    }

    private var rules: [Rule] = []
    private var beginnings: [Beginning] = []

    /// The first bytes of a path, and which of them a rule determines.
    struct Beginning: Sendable {
        /// The number of bytes that are compared at once.
        static let length = 32

        private var bytes = SIMD4<UInt64>()
        private var mask = SIMD4<UInt64>()

        init(_ bytes: ArraySlice<UInt8>) {
            var start = bytes.startIndex
            for word in 0..<4 where start < bytes.endIndex {
                let end = min(start + 8, bytes.endIndex)
                var value: UInt64 = 0
                for index in (start..<end).reversed() { value = value << 8 | UInt64(bytes[index]) }
                self.bytes[word] = value
                mask[word] = end - start == 8 ? .max : 1 << UInt64(8 * (end - start)) - 1
                start = end
            }
        }

        /// Returns whether a path begins with these bytes.
        @inline(__always)
        func begins(_ path: Beginning) -> Bool {
            let differences = (bytes ^ path.bytes) & mask
            return differences[0] | differences[1] | differences[2] | differences[3] == 0
        }
    }

    /// A URL, prepared for comparing rules.
    struct Text {
        let url: LinkURL
        let beginning: Beginning

        init(_ url: LinkURL) {
            self.url = url
            beginning = Beginning(url.bytes[url.path])
        }

        /// Returns a component in the form that a rule compares; empty when the work limit is reached.
        func bytes(_ range: Range<Int>, for rule: Rule, _ work: inout MatchWork) -> ArraySlice<UInt8> {
            guard rule.decodes, url.hasEscapes else { return url.bytes[range] }
            guard work.spend(range.count * MatchWork.decodingSteps) else { return [] }
            let decoded = url.decoded(range)
            return rule.ignoresCase ? CompiledRules.folded(decoded)[...] : decoded[...]
        }
    }

    /// Converts letters outside ASCII to lower case, one character to one character. The automaton handles ASCII
    /// letters.
    static func folded(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
        var result = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let lower = scalar.properties.lowercaseMapping.unicodeScalars
            result.unicodeScalars.append(lower.count == 1 && !scalar.isASCII ? lower.first ?? scalar : scalar)
        }
        return Array(result.utf8)
    }

    /// Compiles rules.
    ///
    /// - Parameters:
    ///   - rules: the rules of an entry.
    ///   - variables: the file's variables.
    ///   - states: the number of states in the file so far. It is increased.
    init(_ rules: [AssociationFile.Rule], variables: SubstitutionVariables, states: inout Int) {
        for rule in rules {
            let ignoresCase = !rule.isCaseSensitive
            func pattern(_ text: String, isPath: Bool = false) -> LinkPattern {
                let options = LinkPattern.Options(ignoresCase: ignoresCase, isPath: isPath, variables: variables)
                let pattern = LinkPattern(text, options)
                states += pattern.stateCount
                return pattern
            }
            let path = pattern(rule.path ?? "*", isPath: true)
            let query: Query? =
                switch rule.query {
                case .whole(let text): .whole(pattern(text))
                case .items(let items):
                    .items(
                        items.map { item -> (name: [UInt8], value: LinkPattern) in
                            let name = Array(item.name.utf8)
                            return (ignoresCase ? Self.folded(name) : name, pattern(item.pattern))
                        }
                    )
                case nil: nil
                }
            self.rules.append(
                Rule(
                    path: path,
                    query: query,
                    fragment: rule.fragment.map { pattern($0) },
                    excludes: rule.excludes,
                    ignoresCase: ignoresCase,
                    decodes: !rule.isPercentEncoded
                )
            )
            // A path whose escapes are decoded may begin with other bytes than its pattern.
            beginnings.append(Beginning(rule.isPercentEncoded ? path.fixedBeginning[...] : []))
            if states > LinkMatcher.maximumStates { return }
        }
    }

    /// Returns the first rule that matches; nil when none does, or when the work limit is reached.
    func firstMatch(_ text: Text, _ work: inout MatchWork) -> (index: Int, excludes: Bool)? {
        for index in rules.indices where beginnings[index].begins(text.beginning) {
            let isMatch = matches(rules[index], text, &work)
            if work.isExhausted { return nil }
            if isMatch { return (index, rules[index].excludes) }
        }
        return nil
    }

    /// The most steps for each byte of a URL, for all rules together.
    var stepsPerByte: Int {
        rules.reduce(0) { sum, rule in
            var steps = rule.path.stepsPerByte + (rule.fragment?.stepsPerByte ?? 0)
            switch rule.query {
            case nil: break
            case .whole(let pattern): steps += pattern.stepsPerByte
            case .items(let items): for item in items { steps += item.value.stepsPerByte + Self.scanningSteps }
            }
            return sum + steps + (rule.decodes ? MatchWork.decodingSteps : 0)
        }
    }

    /// The number of steps for each byte of a query to find its items.
    private static let scanningSteps = 2

    private func matches(_ rule: Rule, _ text: Text, _ work: inout MatchWork) -> Bool {
        matchesPath(rule, text, &work) && matchesFragment(rule, text, &work) && matchesQuery(rule, text, &work)
    }

    /// Returns the components that keep each rule from matching; nil for a rule after the work limit was reached.
    func trace(_ text: Text, _ work: inout MatchWork) -> [[RuleComponent]?] {
        rules.map { rule in
            var missing: [RuleComponent] = []
            if !matchesPath(rule, text, &work) { missing.append(.path) }
            if !matchesQuery(rule, text, &work) { missing.append(.query) }
            if !matchesFragment(rule, text, &work) { missing.append(.fragment) }
            return work.isExhausted ? nil : missing
        }
    }

    private func matchesPath(_ rule: Rule, _ text: Text, _ work: inout MatchWork) -> Bool {
        if rule.path.matchesEverything { return true }
        return rule.path.matches(text.bytes(text.url.path, for: rule, &work), &work)
    }

    private func matchesFragment(_ rule: Rule, _ text: Text, _ work: inout MatchWork) -> Bool {
        guard let fragment = rule.fragment else { return true }
        return fragment.matches(text.bytes(text.url.fragment, for: rule, &work), &work)
    }

    private func matchesQuery(_ rule: Rule, _ text: Text, _ work: inout MatchWork) -> Bool {
        switch rule.query {
        case nil: true
        case .whole(let pattern): pattern.matches(text.bytes(text.url.query, for: rule, &work), &work)
        case .items(let items):
            items.allSatisfy { item in matches(item.name, item.value, rule, text, &work) }
        }
    }

    /// Returns whether all items with a name match. An item that is missing or has no value counts as empty.
    private func matches(
        _ name: [UInt8],
        _ value: LinkPattern,
        _ rule: Rule,
        _ text: Text,
        _ work: inout MatchWork
    ) -> Bool {
        let query = text.url.query
        guard work.spend(query.count * Self.scanningSteps) else { return false }
        var start = query.lowerBound
        var isThere = false
        while start < query.upperBound {
            let end = text.url.bytes[start..<query.upperBound].firstIndex(of: 0x26) ?? query.upperBound
            let mark = text.url.bytes[start..<end].firstIndex(of: 0x3D) ?? end
            let found = text.bytes(start..<mark, for: rule, &work)
            let steps = rule.ignoresCase ? name.count : 0
            guard work.spend(steps) else { return false }
            if Self.areEqual(found, name, ignoringCase: rule.ignoresCase) {
                isThere = true
                let bytes = text.bytes(min(mark + 1, end)..<end, for: rule, &work)
                guard value.matches(bytes, &work) else { return false }
            }
            start = end + 1
        }
        return isThere || value.matches([], &work)
    }

    /// Returns whether a text is a name. Without case, the letters outside ASCII of both are already in lower case.
    private static func areEqual(_ text: ArraySlice<UInt8>, _ name: [UInt8], ignoringCase: Bool) -> Bool {
        guard ignoringCase else { return text.elementsEqual(name) }
        return text.count == name.count && zip(text, name).allSatisfy { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}

/// Limits the work of comparing one URL with the rules of files, so that no file and no URL can block the caller.
///
/// It counts steps, not time, so the same URL and the same file give the same answer on every machine. One step is
/// about the work for one byte and one machine word of a pattern.
package struct MatchWork {
    /// The most steps of one match: several hundred times the steps for the largest files of real sites.
    package static let limit = 1 << 23
    /// The number of steps to decode or fold one byte.
    static let decodingSteps = 8

    private var left = limit

    /// The number of steps taken, without those beyond the limit.
    package private(set) var steps = 0

    /// Whether the limit was reached. Comparisons after that have no valid result.
    package private(set) var isExhausted = false

    /// Starts with the whole limit. Share one value for all comparisons of one link, for example with several files.
    package init() {}

    /// Uses steps of the remaining work.
    ///
    /// - Returns: false when the limit is reached.
    mutating func spend(_ steps: Int) -> Bool {
        left -= steps
        if left < 0 { isExhausted = true }
        if !isExhausted { self.steps += steps }
        return !isExhausted
    }
}
