// SPDX-License-Identifier: Apache-2.0

/// Which app opens a URL, and why.
public struct LinkAnswer: Sendable, Hashable {
    /// The identifier of the app; nil when the browser opens the URL.
    public var app: String?
    /// The deciding rule, such as `details[0].components[2] {"/": "/buy/*"}`; nil when no rule decided.
    public var rule: String?
    /// A sentence that explains the answer.
    public var why: String

    /// Creates an answer.
    public init(app: String? = nil, rule: String? = nil, why: String) {
        self.app = app
        self.rule = rule
        self.why = why
    }
}

extension LinkMatcher {
    /// Returns which app opens a URL, and why, based on the app's entries, the domain and the file.
    ///
    /// - Parameters:
    ///   - text: the URL.
    ///   - domain: the domain from which the file was loaded.
    ///   - entries: the installed apps' entries in `com.apple.developer.associated-domains`.
    ///   - installed: the identifiers of the installed apps.
    public func answer(_ text: String, domain: String, entries: [String], installed: Set<String>) -> LinkAnswer {
        let url: LinkURL
        do throws(LinkURL.Problem) {
            url = try LinkURL(text)
        } catch {
            return LinkAnswer(why: error.description)
        }
        guard let entry = AssociatedDomain.applying(entries, host: url.host) else {
            let why = "No applinks entry of the app's associated domains covers the host \(url.host)."
            let fault = AssociatedDomain.check(entries).first { $0.severity == .error }
            return LinkAnswer(why: why + (fault.map { " \($0.message)" } ?? ""))
        }
        let name = HostName.ascii(domain) ?? domain.lowercased()
        guard entry.domain == name || url.host == name else {
            let why = "This is the file of \(domain), but links of \(url.host) follow the file of \(entry.domain)."
            return LinkAnswer(why: why)
        }
        return answer(url, installed: installed)
    }

    /// Returns which app opens a URL on the file's site, and why. Nil for `installed` means all apps in the file.
    public func answer(_ url: LinkURL, installed: Set<String>?) -> LinkAnswer {
        var work = MatchWork()
        return answer(url, installed: installed, &work)
    }

    /// Returns the same, using the remaining steps for one link, so that several files share one limit.
    package func answer(_ url: LinkURL, installed: Set<String>?, _ work: inout MatchWork) -> LinkAnswer {
        switch match(url, installed: installed ?? apps, &work) {
        case .app(let app, let position):
            return LinkAnswer(app: app, rule: name(position), why: "\(name(position)) matches.\(note(position))")
        case .excluded(let position):
            let why = "\(name(position)) matches, and excludes the URL.\(note(position))"
            return LinkAnswer(rule: name(position), why: why)
        case .noRule:
            let whose = installed == nil ? "the file" : "an installed app"
            return LinkAnswer(why: "No rule of \(whose) matches the URL.")
        case .tooComplex:
            let why = "The file's patterns are too complex to compare with a URL of this length, so no app opens it."
            return LinkAnswer(why: why)
        case .noApp where file.details.isEmpty:
            let problem = file.findings.last { $0.id == "AASA003" }?.message
            return LinkAnswer(why: problem ?? "The file provides no universal links.")
        case .noApp:
            return LinkAnswer(why: "The file names no app\(installed == nil ? "" : " that is installed").")
        }
    }

    var apps: Set<String> { Set(file.details.flatMap(\.apps)) }

    /// Returns a rule's position in the file, followed by the rule's content.
    public func name(_ position: RulePosition) -> String {
        let details = file.details[position.details]
        let rule = details.rules[position.rule]
        return "\(details.place).\(rule.place) \(rule)"
    }

    private func note(_ position: RulePosition) -> String {
        let rule = file.details[position.details].rules[position.rule]
        return rule.comment.map { " Its comment: \($0)" } ?? ""
    }
}

extension AssociationFile.Rule: CustomStringConvertible {
    /// The rule as written in the file, without its comment.
    public var description: String {
        if isLegacy { return "\"\(excludes ? "NOT " : "")\(path ?? "")\"" }
        var parts: [String] = []
        if let path { parts.append("\"/\": \"\(path)\"") }
        switch query {
        case .whole(let pattern): parts.append("\"?\": \"\(pattern)\"")
        case .items(let items):
            let pairs = items.map { "\"\($0.name)\": \"\($0.pattern)\"" }
            parts.append("\"?\": {\(pairs.joined(separator: ", "))}")
        case nil: break
        }
        if let fragment { parts.append("\"#\": \"\(fragment)\"") }
        if excludes { parts.append("\"exclude\": true") }
        if !isCaseSensitive { parts.append("\"caseSensitive\": false") }
        if !isPercentEncoded { parts.append("\"percentEncoded\": false") }
        return "{\(parts.joined(separator: ", "))}"
    }
}

/// The verdict of each rule of an association file for a URL, in the order of evaluation.
public struct LinkExplanation: Sendable, Hashable {
    /// The verdict of a rule.
    public enum Verdict: Sendable, Hashable {
        /// The rule matches, so its app opens the URL.
        case matches
        /// The rule matches, so the apps of its entry don't open the URL.
        case excludes
        /// The rule does not match, because of these components.
        case differs([RuleComponent])
        /// An earlier rule has already decided for the URL, or for the apps of this entry.
        case notReached
        /// No app of the entry is installed.
        case notAsked
        /// The rule was not compared, because the file is too complex for such a long URL.
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
        /// The entry's apps, in the file's order.
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
    /// Returns the verdict of each rule for a URL on the file's site. Nil for `installed` means all apps in the file.
    public func explain(_ url: LinkURL, installed: Set<String>?) -> LinkExplanation {
        let answer = answer(url, installed: installed)
        let installed = installed ?? apps
        let traces = trace(url)
        var excludedApps: Set<String> = []
        var isDecided = false
        let entries = file.details.indices.map { index in
            let details = file.details[index]
            let askedApps = details.apps.filter(installed.contains)
            var isReached = !isDecided && askedApps.contains { !excludedApps.contains($0) }
            let verdicts = details.rules.indices.map { number -> LinkExplanation.Verdict in
                guard !askedApps.isEmpty else { return .notAsked }
                guard isReached else { return .notReached }
                guard let missing = traces[index][number] else { return .notCompared }
                guard missing.isEmpty else { return .differs(missing) }
                isReached = false
                guard details.rules[number].excludes else {
                    isDecided = true
                    return .matches
                }
                excludedApps.formUnion(details.apps)
                return .excludes
            }
            return LinkExplanation.Entry(apps: details.apps, installed: Set(askedApps), verdicts: verdicts)
        }
        return LinkExplanation(entries: entries, answer: answer)
    }
}

/// A component of the URL that a rule can constrain.
public enum RuleComponent: String, Sendable, Hashable, CaseIterable {
    /// The path, key `/`.
    case path
    /// The query, key `?`.
    case query
    /// The fragment, key `#`.
    case fragment
}
