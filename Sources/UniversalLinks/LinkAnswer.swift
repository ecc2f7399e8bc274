// SPDX-License-Identifier: Apache-2.0

/// Which app opens a URL, and why.
public struct LinkAnswer: Sendable, Hashable {
    /// The identifier of the app; nil when the browser opens the URL.
    public var app: String?
    /// The rule that decided, such as `details[0].components[2] {"/": "/buy/*"}`; nil when none did.
    public var rule: String?
    /// Why, as a sentence for people.
    public var why: String

    /// Creates an answer.
    public init(app: String?, rule: String?, why: String) {
        self.app = app
        self.rule = rule
        self.why = why
    }
}

extension LinkMatcher {
    /// Says which app opens a URL, and why: the entitlement, the domain, the file.
    ///
    /// - Parameters:
    ///   - text: the URL.
    ///   - domain: the domain from which the file came.
    ///   - entries: what the installed apps have in `com.apple.developer.associated-domains`.
    ///   - installed: the identifiers of the installed apps.
    public func answer(_ text: String, domain: String, entries: [String], installed: Set<String>) -> LinkAnswer {
        let url: LinkURL
        do throws(LinkURL.Problem) {
            url = try LinkURL(text)
        } catch {
            return LinkAnswer(app: nil, rule: nil, why: error.description)
        }
        guard let entry = AssociatedDomain.applying(entries, host: url.host) else {
            let why = "No applinks entry of the app's associated domains is for the host \(url.host)."
            return LinkAnswer(app: nil, rule: nil, why: why)
        }
        guard entry.domain == domain.lowercased() || url.host == domain.lowercased() else {
            let why = "The file is of \(domain); for the host \(url.host) the one of \(entry.domain) counts."
            return LinkAnswer(app: nil, rule: nil, why: why)
        }
        return answer(url, installed: installed)
    }

    /// Says which app opens a URL of the file's site, and why.
    public func answer(_ url: LinkURL, installed: Set<String>) -> LinkAnswer {
        switch match(url, installed: installed) {
        case .app(let app, let position):
            return LinkAnswer(app: app, rule: name(position), why: "\(name(position)) matches.\(note(position))")
        case .excluded(let position):
            let why = "\(name(position)) matches, and excludes the URL.\(note(position))"
            return LinkAnswer(app: nil, rule: name(position), why: why)
        case .noRule:
            return LinkAnswer(app: nil, rule: nil, why: "No rule of an installed app matches the URL.")
        case .noApp where file.details.isEmpty:
            return LinkAnswer(app: nil, rule: nil, why: file.remarks.last ?? "The file gives no universal links.")
        case .noApp:
            return LinkAnswer(app: nil, rule: nil, why: "The file names no app that is installed.")
        }
    }

    /// The name of a rule: its place, and what it says.
    public func name(_ position: RulePosition) -> String {
        let rule = file.details[position.details].rules[position.rule]
        let list = rule.isLegacy ? "paths" : "components"
        return "details[\(position.details)].\(list)[\(position.rule)] \(rule)"
    }

    private func note(_ position: RulePosition) -> String {
        let rule = file.details[position.details].rules[position.rule]
        return rule.comment.map { " Its comment: \($0)" } ?? ""
    }
}

extension AssociationFile.Rule: CustomStringConvertible {
    /// The rule as the file writes it, without its comment.
    public var description: String {
        if isLegacy { return "\"\(excludes ? "NOT " : "")\(path ?? "")\"" }
        var parts: [String] = []
        if let path { parts.append("\"/\": \"\(path)\"") }
        switch query {
        case .whole(let pattern): parts.append("\"?\": \"\(pattern)\"")
        case .items(let items):
            let pairs = items.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \"\($0.value)\"" }
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
