// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import TextSafety
import UniversalLinks

struct LinksCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check an association file, and report the parts that have no effect.",
        discussion: """
            Examples:
              nfc links check apple-app-site-association
              curl -s https://example.org/.well-known/apple-app-site-association | \\
                nfc links check -
              nfc links check aasa --app TEAM.com.example.app --url https://example.org/x \\
                --entitlement applinks:example.org

            Each finding has a stable id: AASA001 to AASA017 are about the file, DOM001
            to DOM010 about the app's associated domains.

            Exit status: 0 when every part of the file has an effect, 1 when a part has
            no effect or the file can't be used, 2 for wrong usage.
            """
    )

    @OptionGroup var file: AssociationFileOptions

    @Option(help: "A tag's link that should open the app.")
    var url: String?

    @Option(help: "The app's identifier, which the file should name.")
    var app: String?

    @Option(
        name: .customLong("entitlement"),
        help: "An associated domain of the app; can be repeated. Default: those of --app, if it is installed."
    )
    var entitlements: [String] = []

    @Option(help: "The URL where the file is served, to check that devices look there.")
    var servedAt: String?

    @Flag(help: "Warn about developer mode, which released apps lack.")
    var release = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let app { try checkAppIdentifier(app) }
        _ = try link
        _ = try places
    }

    func run() async throws {
        let (link, places) = (try link, try places)
        let loaded = try file.load()
        switch loaded.file {
        case .success(let file):
            let findings = places + loaded.findings + file.check() + check(file, link)
            let passes = findings.allSatisfy { $0.severity == .information }
            let count = findings.count == 1 ? "There is 1 finding." : "There are \(findings.count) findings."
            let problem = passes ? nil : AssociationFileOptions.Problem("findings", count)
            printResult(json: json, object(file, loaded, findings, problem), lines(file, loaded, findings))
            guard passes else { throw ExitCode(1) }
        case .failure(let problem):
            guard json else { throw problem }
            object(nil, loaded, places + problem.findings, problem).print()
            throw ExitCode(1)
        }
    }

    private var link: LinkURL? {
        get throws {
            do {
                return try url.map { try WebLink($0).url }
            } catch let failure as CommandFailure {
                throw ValidationError("--url: \(failure.message)")
            }
        }
    }

    private var places: [LinkFinding] {
        get throws {
            do throws(LinkURL.Problem) {
                return LinkFinding.ofName(file.file) + (try servedAt.map(LinkFinding.ofPlace) ?? [])
            } catch {
                let place = "https://example.org/.well-known/apple-app-site-association"
                let message = "--served-at: '\(servedAt ?? "")' is not a site's URL. Give one such as \(place)."
                throw ValidationError(message)
            }
        }
    }

    private func check(_ file: AssociationFile, _ link: LinkURL?) -> [LinkFinding] {
        let findings = file.check(app: app, opens: link)
        let installed = app.flatMap { id in UserEnvironment().apps().apps.first { $0.id == id } }
        let own = installed.map { $0.associatedDomains.map(\.entry) + $0.ignoredDomains }
        guard let entries = entitlements.isEmpty ? own : entitlements else { return findings }
        return findings + AssociatedDomain.check(entries, url: link, isRelease: release)
    }

    private func lines(
        _ file: AssociationFile,
        _ loaded: AssociationFileOptions.Loaded,
        _ findings: [LinkFinding]
    ) -> [String] {
        let apps = file.details.map { details in
            let names = details.apps.joined(separator: ", ")
            let apps = names.isEmpty ? "\(details.place), which names no app" : names
            return "\(apps): \(RecordText.count(details.rules.count, "rule"))"
        }
        return (loaded.note.map { [$0] } ?? []) + apps
            + findings.map { "\($0.id) \($0.severity.rawValue): \($0.message)" }
    }

    private func object(
        _ file: AssociationFile?,
        _ loaded: AssociationFileOptions.Loaded,
        _ findings: [LinkFinding],
        _ problem: AssociationFileOptions.Problem?
    ) -> JSONObject {
        let details = (file?.details ?? []).map { details -> JSONObject in
            ["apps": details.apps, "rules": details.rules.count]
        }
        let found = findings.map { finding -> JSONObject in
            ["id": finding.id, "severity": finding.severity.rawValue, "message": finding.message]
        }
        return [
            "ok": problem == nil, "error": problem?.name, "message": problem?.message,
            "source": loaded.source.rawValue, "domain": loaded.domain, "details": details, "findings": found,
        ]
    }
}

struct LinksExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show, rule by rule, how an association file handles a link.",
        discussion: """
            Examples:
              nfc links explain apple-app-site-association https://example.org/buy/42
              nfc links explain aasa.json https://example.org/x --app TEAM.com.example.app
              nfc links explain example.org https://example.org/x

            Without --app, all apps in the file count as installed. For a domain whose
            file was fetched, the last line shows where nfcd takes the link now.

            Exit status: 0 when an app opens the link, 1 when no app does or the file
            can't be used, 2 for wrong usage.
            """
    )

    @OptionGroup var file: AssociationFileOptions

    @Argument(help: "The link.")
    var url: String

    @Option(name: .customLong("app"), help: "The identifier of an installed app; can be repeated.")
    var apps: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    private struct Answer {
        var matcher: LinkMatcher
        var loaded: AssociationFileOptions.Loaded
        var link: WebLink
        var explanation: LinkExplanation
        /// Where the link goes on this machine; nil if the association file is not the one that this machine fetched.
        var here: (route: LinkRoute, text: String)?
    }

    func validate() throws {
        for app in apps { try checkAppIdentifier(app) }
    }

    func run() async throws {
        let answer = try answer()
        printResult(json: json, object(answer), lines(answer))
        guard answer.explanation.answer.app != nil else { throw ExitCode(1) }
    }

    private func answer() throws -> Answer {
        let loaded = try file.load()
        let matcher = LinkMatcher(try loaded.file.get())
        let link = try WebLink(url)
        var explanation = matcher.explain(link.url, installed: apps.isEmpty ? nil : Set(apps))
        var why = link.obstacle
        if why == nil, let domain = loaded.domain, link.url.host != domain, !link.url.host.hasSuffix(".\(domain)") {
            why = "This is the file of \(domain). Links of \(link.url.host) follow another file."
        }
        if let why {
            explanation = LinkExplanation(entries: [], answer: LinkAnswer(app: nil, rule: nil, why: why))
        }
        var here: (LinkRoute, String)?
        if loaded.domain != nil {
            let router = try UserEnvironment().router()
            let route = router.route(link.uri)
            here = (route, NotificationContent(link.uri, router: router)?.body ?? "No app opens it.")
        }
        return Answer(matcher: matcher, loaded: loaded, link: link, explanation: explanation, here: here)
    }

    private func lines(_ answer: Answer) -> [String] {
        var lines = answer.loaded.note.map { [$0] } ?? []
        if answer.link.uri.text != url { lines.append("Read as \(answer.link.uri.text)") }
        for (index, entry) in answer.explanation.entries.enumerated() {
            let names = entry.apps.map { entry.installed.contains($0) ? $0 : "\($0) (not installed)" }
            let place = answer.matcher.file.details[index].place
            lines.append(names.isEmpty ? "\(place)" : "\(place)  \(names.joined(separator: ", "))")
            for (number, verdict) in entry.verdicts.enumerated() {
                let name = answer.matcher.name(LinkMatcher.RulePosition(details: index, rule: number))
                lines.append("  \(name)  \(verdict.text)")
            }
        }
        let result = answer.explanation.answer
        lines.append("\(result.app ?? "No app"): \(result.why)")
        return lines + (answer.here.map { ["On this machine: \($0.text)"] } ?? [])
    }

    private func object(_ answer: Answer) -> JSONObject {
        let result = answer.explanation.answer
        let rules = answer.explanation.entries.enumerated().flatMap { index, entry in
            entry.verdicts.enumerated().map { number, verdict -> JSONObject in
                [
                    "rule": answer.matcher.name(LinkMatcher.RulePosition(details: index, rule: number)),
                    "apps": entry.apps, "verdict": verdict.name,
                    "reached": ![.notReached, .notAsked].contains(verdict),
                    "differs_in": verdict.differences.map(\.rawValue),
                ]
            }
        }
        let isOpened = result.app != nil
        return ["ok": isOpened, "error": isOpened ? nil : "no-app", "message": isOpened ? nil : result.why]
            + result.object + [
                "url": answer.link.uri.text, "host": answer.link.url.host, "source": answer.loaded.source.rawValue,
                "domain": answer.loaded.domain, "rules": rules, "opens_here": answer.here?.route.target,
                "here": answer.here?.text,
            ]
    }
}

extension LinkExplanation.Verdict {
    fileprivate var differences: [RuleComponent] { if case .differs(let missing) = self { missing } else { [] } }

    fileprivate var text: String {
        switch self {
        case .matches: "matches"
        case .excludes: "matches, and excludes the link"
        case .differs(let missing): "not the \(missing.map(\.rawValue).joined(separator: ", "))"
        case .notReached: "not reached"
        case .notAsked: "skipped: none of the entry's apps is installed"
        case .notCompared: "not compared: too complex"
        }
    }
}

/// A web link, whose target is decided by association files. Parsed like a tag's link in the service.
struct WebLink {
    /// The link as shown and passed to apps.
    let uri: TagURI
    /// The link in the form compared with rules.
    let url: LinkURL

    /// Parses a link.
    ///
    /// - Throws: ``CommandFailure`` that says what is wrong, and how nfcd handles such a link.
    init(_ text: String) throws {
        guard let uri = TagURI(text) else { throw Self.failure(Self.fault(of: text)) }
        guard uri.host != nil else { throw Self.failure(Self.way(of: uri)) }
        do throws(LinkURL.Problem) {
            url = try LinkURL(uri.text)
        } catch {
            throw Self.failure(error.description)
        }
        self.uri = uri
    }

    /// Explains why no association file applies to the link; nil if one can.
    var obstacle: String? {
        if LinkScheme(uri) == .map {
            return "Pages of maps.apple.com open only in the maps app or the browser."
        }
        do throws(HostName.DomainProblem) {
            _ = try HostName.domain(url.host)
            return nil
        } catch {
            // Such a host can't be an associated domain itself, but a wildcard may cover it.
            if error == .notAName { return nil }
            return "No app can have \(url.host) as an associated domain: it \(error.description)"
        }
    }

    private static func failure(_ reason: String) -> CommandFailure { CommandFailure("no-link", reason) }

    private static let noScheme = "The link has no scheme. Write https:// before it."

    /// Explains why the service can't parse a text as a link.
    private static func fault(of text: String) -> String {
        guard text.contains(":") else { return noScheme }
        let start = text.lowercased()
        for scheme in ["http:", "https:"] where start.hasPrefix(scheme) && !start.hasPrefix(scheme + "//") {
            return "The link has no // after \"\(scheme)\". A web link begins with \(scheme)//."
        }
        do throws(LinkURL.Problem) {
            _ = try LinkURL(text)
        } catch {
            return error.description
        }
        return "The link's host or port is invalid, or is written so that other programs may read a different host."
    }

    /// Explains how the service handles a link that is not a web link.
    private static func way(of uri: TagURI) -> String {
        // A host followed by a port looks like a scheme.
        if uri.scheme.contains(".") { return noScheme }
        guard let scheme = LinkScheme(uri) else { return LinkRoute.Refusal.customScheme.reason }
        guard SystemLink(uri) != nil else {
            return "The link has no target, so nfcd treats a tag with it as a tag without usable data."
        }
        return
            "No association file decides where the link goes. The desktop's app for \(scheme.rawValue): links opens it."
    }
}

extension LinkRoute {
    /// The link's target, for programs: an app's identifier, `browser`, or the scheme; nil if nothing opens it.
    var target: String? {
        switch self {
        case .app(let app, _), .customScheme(let app): app.id
        case .browser: "browser"
        case .system(let scheme): scheme.rawValue
        case .refused: nil
        }
    }
}

private func checkAppIdentifier(_ app: String) throws {
    guard !AppDescription.isIdentifier(app) else { return }
    throw ValidationError("--app: '\(app)' is not an application identifier such as ABCDE12345.org.example.reader.")
}
