// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import UniversalLinks

/// Explains why a tag that was read in the background opened a link or app, or nothing. Lists each condition and rule.
enum LinkReasons {
    /// What became of a tag.
    enum Outcome: String {
        /// A notification offers to open the link.
        case announced
        /// The user opened the notification, and its link was delivered.
        case opened
        /// The tag was read, and there is nothing to announce.
        case nothing
        /// A condition kept the tag from being read.
        case notRead = "not-read"
    }

    /// One condition or rule. `isMet` is true if met, false if it prevented opening, and nil if it did not matter.
    private static func step(_ rule: String, _ isMet: Bool?, _ text: String) -> JSON {
        ["rule": .string(rule), "ok": isMet.map { .bool($0) } ?? .null, "text": .string(text)]
    }

    private static func result(
        _ title: String,
        app: String? = nil,
        url: String? = nil,
        _ outcome: Outcome,
        _ steps: [JSON]
    ) -> JSON {
        [
            "title": .string(title), "outcome": .string(outcome.rawValue), "app": JSON(app), "url": JSON(url),
            "steps": .array(steps),
        ]
    }

    /// Returns an explanation whose outcome has changed, for example because the user opened the notification.
    static func changed(_ why: JSON, to outcome: Outcome, _ title: String) -> JSON {
        var members = why.object ?? [:]
        members["outcome"] = .string(outcome.rawValue)
        members["title"] = .string(title)
        return .object(members)
    }

    /// The explanation for a tag that was read.
    static func why(_ message: [UInt8]?, conditions: ReadingConditions, router: LinkRouter) -> JSON {
        var steps = self.conditions(conditions)
        func nothing(_ rule: String, _ text: String) -> JSON {
            result(text, .nothing, steps + [step(rule, false, text)])
        }
        guard let message else { return nothing("Message", "The tag has no NDEF message.") }
        guard let decoded = try? NDEFMessage(decoding: message) else {
            return nothing("Message", "The message is damaged.")
        }
        let count = decoded.records.count
        steps.append(step("Message", true, "The message has \(count == 1 ? "1 record" : "\(count) records")."))
        let uri: TagURI
        switch LinkChoice(decoded) {
        case .none:
            return nothing("URI record", "No record is a URI record of the NFC Forum, and other records are ignored.")
        case .unusable: return nothing("URI record", "The first URI record can't be read.")
        case .uri(let found): uri = found
        }
        let shown = DisplayText.plain(uri.text, limit: 200)
        steps.append(step("URI record", true, "The first URI record has \(shown)."))
        steps += links(uri, router)
        func announced(_ place: String, app: String? = nil, _ why: String) -> JSON {
            let title = "The notification opens the link in \(place)."
            return result(title, app: app, url: shown, .announced, steps + [step("Decision", true, why)])
        }
        switch router.route(uri) {
        case .app(let app, let why): return announced(app.name, app: app.id, why)
        case .browser(let why): return announced("the browser, because no app opens it", why)
        case .system:
            return announced("the phone's own app", "The phone's own app opens \(uri.scheme): links.")
        case .customScheme(let app):
            return announced(app.name, app: app.id, "\(app.name) has the scheme \(uri.scheme):.")
        case .refused(let refusal):
            return result(refusal.reason, url: shown, .nothing, steps + [step("Decision", false, refusal.reason)])
        }
    }

    /// The explanation for a tag that was not read.
    static func notRead(_ conditions: ReadingConditions, obstacles: [ReadingConditions.Obstacle]) -> JSON {
        let reasons = obstacles.map(\.unmetText).joined(separator: " ")
        return result(reasons, .notRead, self.conditions(conditions))
    }

    private static func conditions(_ conditions: ReadingConditions) -> [JSON] {
        let obstacles = conditions.obstacles
        return ReadingConditions.Obstacle.allCases.map { obstacle in
            let isMet = !obstacles.contains(obstacle)
            return step(obstacle.title, isMet, isMet ? obstacle.metText : obstacle.unmetText)
        }
    }

    /// The steps that show how each app's association file matches the link.
    private static func links(_ uri: TagURI, _ router: LinkRouter) -> [JSON] {
        guard uri.host != nil, let url = try? LinkURL(uri.text) else { return [] }
        var steps: [JSON] = []
        var domains: [String: [InstalledApp]] = [:]
        for app in router.apps {
            if let entry = app.entry(for: url.host) {
                domains[entry.domain, default: []].append(app)
            } else {
                let entries = app.associatedDomains.map(\.entry).joined(separator: ", ")
                steps.append(
                    step(
                        "Associated domain of \(app.name)",
                        nil,
                        entries.isEmpty
                            ? "The app has none."
                            : "None matches \(url.host). The app has \(DisplayText.plain(entries, limit: 200))."
                    )
                )
            }
        }
        for (domain, apps) in domains.sorted(by: { $0.key < $1.key }) {
            for app in apps {
                let entry = app.entry(for: url.host)?.entry ?? domain
                let text = "The app has \(DisplayText.plain(entry, limit: 200))."
                steps.append(step("Associated domain of \(app.name)", true, text))
            }
            guard let matcher = router.associations[domain] else {
                steps.append(step("Association file of \(domain)", nil, "It does not exist."))
                continue
            }
            steps.append(step("Association file of \(domain)", true, "It exists."))
            steps += rules(matcher, url, Set(apps.map(\.id)))
        }
        return steps
    }

    private static func rules(_ matcher: LinkMatcher, _ url: LinkURL, _ installed: Set<String>) -> [JSON] {
        let explanation = matcher.explain(url, installed: installed)
        var steps: [JSON] = []
        for (details, entry) in explanation.entries.enumerated() {
            for (number, verdict) in entry.verdicts.enumerated() {
                guard steps.count < 200 else { return steps }
                let name = matcher.name(LinkMatcher.RulePosition(details: details, rule: number))
                steps.append(
                    step(DisplayText.plain(name, limit: 200), verdict == .matches ? true : nil, words(verdict))
                )
            }
        }
        return steps
    }

    private static func words(_ verdict: LinkExplanation.Verdict) -> String {
        switch verdict {
        case .matches: "The rule matches: its app opens the link."
        case .excludes: "The rule matches and excludes the link from its apps."
        case .differs(let parts): "The rule differs in " + parts.map(\.rawValue).joined(separator: ", ") + "."
        case .notReached: "An earlier rule already decided."
        case .notAsked: "No app of this entry is installed."
        case .notCompared: "The file is too complex to check a link of this length."
        }
    }
}

extension ReadingConditions.Obstacle {
    /// The name of the condition.
    fileprivate var title: String {
        switch self {
        case .unsupported: "Radio"
        case .neverUnlocked: "Unlocked since startup"
        case .displayOff: "Display"
        case .readerSession: "No other session"
        case .wallet: "Wallet"
        case .camera: "Camera"
        case .airplaneMode: "Airplane mode"
        }
    }

    /// A sentence that says why the condition is not met. The phone always has a reader.
    var unmetText: String { self == .unsupported ? "The phone's radio is off." : reason }

    /// A sentence that says that the condition is met.
    fileprivate var metText: String {
        switch self {
        case .unsupported: "The phone's radio is on."
        case .neverUnlocked: "The phone was unlocked since it started."
        case .displayOff: "The display is on."
        case .readerSession: "No app is reading tags."
        case .wallet: "The wallet is not in use."
        case .camera: "The camera is not in use."
        case .airplaneMode: "Airplane mode is off."
        }
    }
}
