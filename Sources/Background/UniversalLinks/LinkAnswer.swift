// SPDX-License-Identifier: Apache-2.0

/// Which app opens a URL, and why.
public struct LinkAnswer: Sendable, Hashable {
    /// The identifier of the app; nil when the browser opens the URL.
    public var app: String?
    /// The rule that decided, such as `details[0].components[2] {"/": "/buy/*"}`; nil when no rule did.
    public var rule: String?
    /// A sentence that explains the answer.
    public var why: String

    /// Creates an answer.
    public init(app: String?, rule: String?, why: String) {
        self.app = app
        self.rule = rule
        self.why = why
    }
}

extension LinkMatcher {
    /// Returns which app opens a URL, and why, by entitlement, domain and file.
    ///
    /// - Parameters:
    ///   - text: the URL.
    ///   - domain: the domain that the file was loaded from.
    ///   - entries: the entries of the installed apps in `com.apple.developer.associated-domains`.
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
            let fault = AssociatedDomainCheck(entries: entries).findings.first { $0.severity == .error }
            return LinkAnswer(app: nil, rule: nil, why: why + (fault.map { " \($0.message)" } ?? ""))
        }
        let name = HostName.ascii(domain) ?? domain.lowercased()
        guard entry.domain == name || url.host == name else {
            let why = "The file is of \(domain); for the host \(url.host) the one of \(entry.domain) counts."
            return LinkAnswer(app: nil, rule: nil, why: why)
        }
        return answer(url, installed: installed)
    }

    /// Returns which app opens a URL of the file's site, and why.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - installed: the identifiers of the installed apps; nil for all apps in the file.
    public func answer(_ url: LinkURL, installed: Set<String>?) -> LinkAnswer {
        var work = MatchWork()
        return answer(url, installed: installed, &work)
    }

    /// Returns the same with the remaining work for one link, so that several files share one limit.
    package func answer(_ url: LinkURL, installed: Set<String>?, _ work: inout MatchWork) -> LinkAnswer {
        switch match(url, installed: installed ?? apps, &work) {
        case .app(let app, let position):
            return LinkAnswer(app: app, rule: name(position), why: "\(name(position)) matches.\(note(position))")
        case .excluded(let position):
            let why = "\(name(position)) matches, and excludes the URL.\(note(position))"
            return LinkAnswer(app: nil, rule: name(position), why: why)
        case .noRule:
            let whose = installed == nil ? "the file" : "an installed app"
            return LinkAnswer(app: nil, rule: nil, why: "No rule of \(whose) matches the URL.")
        case .tooComplex:
            let why = "The file's patterns are too complex to compare with a URL of this length, so no app opens it."
            return LinkAnswer(app: nil, rule: nil, why: why)
        case .noApp where file.details.isEmpty:
            return LinkAnswer(
                app: nil,
                rule: nil,
                why: file.findings.last { $0.id == "AASA003" }?.message ?? "The file gives no universal links."
            )
        case .noApp:
            let why = installed == nil ? "The file names no app." : "The file names no app that is installed."
            return LinkAnswer(app: nil, rule: nil, why: why)
        }
    }

    /// All apps in the file.
    var apps: Set<String> { Set(file.details.flatMap(\.apps)) }

    /// Returns the name of a rule: its position in the file, and its content.
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
    /// The rule as in the file, without its comment.
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
