// SPDX-License-Identifier: Apache-2.0

/// A compiled association file, which quickly finds the app that opens a URL.
public struct LinkMatcher: Sendable {
    /// Identifies a rule of a file. Ignored values are not counted. ``LinkMatcher/name(_:)`` returns the position in
    /// the file itself.
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

    /// A file's decision for a URL.
    public enum Decision: Sendable, Hashable {
        /// An installed app opens the URL.
        case app(String, RulePosition)
        /// A rule excludes the URL from the app that would have opened it.
        case excluded(RulePosition)
        /// No rule of an installed app matches.
        case noRule
        /// Comparing the rules with this URL would take too many steps, so no app opens it.
        case tooComplex
        /// The file contains no installed app.
        case noApp
    }

    /// The file.
    public let file: AssociationFile
    private let rules: [[CompiledRule]]

    /// Compiles a file.
    public init(_ file: AssociationFile) {
        self.file = file
        let variables = SubstitutionVariables(file.variables)
        rules = file.details.map { details in details.rules.map { CompiledRule($0, variables: variables) } }
    }

    /// Returns which installed app opens a URL. The number of steps is limited, and depends only on the URL and the
    /// file. The caller must check the host; see ``AssociatedDomain``.
    ///
    /// Entries are evaluated in the file's order, and separately for each app. A rule that excludes a URL from one app
    /// does not affect other apps.
    public func match(_ url: LinkURL, installed: Set<String>) -> Decision {
        var work = MatchWork()
        return match(url, installed: installed, &work)
    }

    /// Returns the same, using the remaining steps for one link.
    package func match(_ url: LinkURL, installed: Set<String>, _ work: inout MatchWork) -> Decision {
        let forms = URLForms(url)
        var excludedApps: Set<String> = []
        var exclusion: RulePosition?
        var hasApp = false
        for (index, details) in file.details.enumerated() {
            let askedApps = details.apps.filter(installed.contains)
            hasApp = hasApp || !askedApps.isEmpty
            guard let candidate = askedApps.first(where: { !excludedApps.contains($0) }) else { continue }
            let found = rules[index].firstIndex { $0.matches(forms, &work) || work.isExhausted }
            // A rule that was not compared could exclude the URL.
            if work.isExhausted { return .tooComplex }
            guard let found else { continue }
            let position = RulePosition(details: index, rule: found)
            guard details.rules[found].excludes else { return .app(candidate, position) }
            exclusion = exclusion ?? position
            excludedApps.formUnion(details.apps)
        }
        if let exclusion { return .excluded(exclusion) }
        return hasApp ? .noRule : .noApp
    }

    /// Returns the components of a URL that do not match, for each rule of each entry. The list is empty for a rule
    /// that matches, and nil for a rule that was not compared because the limit of steps was reached.
    public func trace(_ url: LinkURL) -> [[[RuleComponent]?]] {
        var work = MatchWork()
        return trace(url, &work)
    }

    /// Returns the same, using the remaining steps, which all entries share.
    package func trace(_ url: LinkURL, _ work: inout MatchWork) -> [[[RuleComponent]?]] {
        let forms = URLForms(url)
        return rules.map { rules in
            rules.map { rule in
                let differing = RuleComponent.allCases.filter { !rule.matches($0, forms, &work) }
                return work.isExhausted ? nil : differing
            }
        }
    }
}

/// Limits the work of comparing one URL with the rules of files, so that neither a file nor a URL can block the caller.
///
/// The limit counts steps, not time, so a URL and a file give the same answer on every machine. A step compares one
/// piece of a pattern with a text, or the name of a query item with the name in a rule.
package struct MatchWork {
    /// The maximum number of steps for one match. It takes about a tenth of a second, and is several hundred times the
    /// number of steps for the largest files of real sites.
    package static let limit = 1 << 23

    /// The number of steps taken, up to the limit.
    package private(set) var steps = 0

    /// Whether the limit was reached. Later comparisons have no valid result, and no app opens the URL.
    package private(set) var isExhausted = false

    /// Starts with all steps. Share one value among all comparisons of one link, even with several files.
    package init() {}

    /// Takes some of the remaining steps. Returns false when the limit is reached.
    mutating func spend(_ count: Int) -> Bool {
        if count > Self.limit - steps { isExhausted = true }
        if !isExhausted { steps += count }
        return !isExhausted
    }
}

/// A rule in a form that can be compared with URLs.
private struct CompiledRule: Sendable {
    private enum Query: Sendable {
        case whole(LinkPattern)
        case items([(name: [UInt8], value: LinkPattern)])
    }

    private let path: LinkPattern?
    private let query: Query?
    private let fragment: LinkPattern?
    private let ignoresCase: Bool
    private let decodes: Bool

    init(_ rule: AssociationFile.Rule, variables: SubstitutionVariables) {
        let ignoresCase = !rule.isCaseSensitive
        func pattern(_ text: String, isPath: Bool = false) -> LinkPattern {
            LinkPattern(text, isPath: isPath, ignoresCase: ignoresCase, variables: variables)
        }
        path = rule.path.map { pattern($0, isPath: true) }
        query =
            switch rule.query {
            case .whole(let text): .whole(pattern(text))
            case .items(let items):
                .items(
                    items.map { item in
                        let name = Array(item.name.utf8)
                        return (ignoresCase ? LinkPattern.folded(name) : name, pattern(item.pattern))
                    }
                )
            case nil: nil
            }
        fragment = rule.fragment.map { pattern($0) }
        self.ignoresCase = ignoresCase
        decodes = !rule.isPercentEncoded
    }

    func matches(_ forms: URLForms, _ work: inout MatchWork) -> Bool {
        matches(.path, forms, &work) && matches(.fragment, forms, &work) && matches(.query, forms, &work)
    }

    func matches(_ component: RuleComponent, _ forms: URLForms, _ work: inout MatchWork) -> Bool {
        let url = forms.form(ignoresCase: ignoresCase, decodes: decodes)
        switch component {
        case .path: return path?.matches(url.path, &work) ?? true
        case .fragment: return fragment?.matches(url.fragment, &work) ?? true
        case .query:
            switch query {
            case nil: return true
            case .whole(let pattern): return pattern.matches(url.query, &work)
            case .items(let items):
                for item in items where !Self.matches(item.name, item.value, url.items, &work) { return false }
                return true
            }
        }
    }

    /// Returns whether all items with a name match. A missing item, or an item without a value, counts as empty.
    private static func matches(
        _ name: [UInt8],
        _ pattern: LinkPattern,
        _ items: [(name: [UInt8], value: [UInt8])],
        _ work: inout MatchWork
    ) -> Bool {
        guard work.spend(items.count) else { return false }
        var exists = false
        for item in items where item.name == name {
            exists = true
            guard pattern.matches(item.value, &work) else { return false }
        }
        return exists || pattern.matches([], &work)
    }
}

/// A URL in the forms that rules compare. Each form is created when it is first needed.
private final class URLForms {
    final class Form {
        let path: [UInt8]
        let query: [UInt8]
        let fragment: [UInt8]
        let items: [(name: [UInt8], value: [UInt8])]

        init(_ url: LinkURL, ignoresCase: Bool, decodes: Bool) {
            func text(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
                let text = decodes && url.hasEscapes ? LinkURL.decoded(bytes) : Array(bytes)
                return ignoresCase ? LinkPattern.folded(text) : text
            }
            path = text(url.bytes[url.path])
            query = text(url.bytes[url.query])
            fragment = text(url.bytes[url.fragment])
            // Split before decoding, because an escaped separator does not separate.
            let queryBytes = url.bytes[url.query]
            let itemBytes = queryBytes.last == 0x26 ? queryBytes.dropLast() : queryBytes
            let parts = queryBytes.isEmpty ? [] : itemBytes.split(separator: 0x26, omittingEmptySubsequences: false)
            items = parts.map { item in
                let mark = item.firstIndex(of: 0x3D) ?? item.endIndex
                return (text(item[..<mark]), text(item[mark...].dropFirst()))
            }
        }
    }

    private let url: LinkURL
    private var forms: [Form?] = [nil, nil, nil, nil]

    init(_ url: LinkURL) { self.url = url }

    func form(ignoresCase: Bool, decodes: Bool) -> Form {
        let index = (ignoresCase ? 1 : 0) + (decodes ? 2 : 0)
        if let form = forms[index] { return form }
        let form = Form(url, ignoresCase: ignoresCase, decodes: decodes)
        forms[index] = form
        return form
    }
}
