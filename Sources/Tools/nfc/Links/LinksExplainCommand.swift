// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import TextSafety
import UniversalLinks

/// `nfc links explain`.
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

    /// The result to print.
    private struct Answer {
        var matcher: LinkMatcher
        var loaded: AssociationFileOptions.Loaded
        var link: WebLink
        var explanation: LinkExplanation
        /// Where the link goes on this machine; nil for a file that was not fetched here.
        var here: (route: LinkRoute, text: String)?
    }

    func validate() throws {
        for app in apps { try AppIdentifier.validate(app) }
    }

    func run() async throws {
        let answer = try await reportingFailure(json: json) { () throws(CommandFailure) in try self.answer() }
        if json { printJSON(answer) } else { show(answer) }
        guard answer.explanation.answer.app != nil else { throw ExitCode(1) }
    }

    private func answer() throws(CommandFailure) -> Answer {
        let (file, loaded) = try self.file.parse()
        let link = try WebLink(url)
        let matcher = LinkMatcher(file)
        var explanation = matcher.explain(link.url, installed: apps.isEmpty ? nil : Set(apps))
        var why = link.obstacle
        if why == nil, let domain = loaded.domain, link.url.host != domain, !link.url.host.hasSuffix(".\(domain)") {
            why = "The file is of \(domain). Links of \(link.url.host) follow another file."
        }
        if let why {
            explanation = LinkExplanation(entries: [], answer: LinkAnswer(app: nil, rule: nil, why: why))
        }
        var here: (LinkRoute, String)?
        if loaded.domain != nil {
            let router = try UserEnvironment().router()
            let route = router.route(link.uri)
            here = (route, NotificationContent(link.uri, router: router)?.body ?? "No app takes it.")
        }
        return Answer(matcher: matcher, loaded: loaded, link: link, explanation: explanation, here: here)
    }

    private func show(_ answer: Answer) {
        if let note = answer.loaded.note { printLine(note) }
        if answer.link.uri.text != url { printLine("Read as \(answer.link.uri.text)") }
        for (index, entry) in answer.explanation.entries.enumerated() {
            let names = entry.apps.map { entry.installed.contains($0) ? $0 : "\($0) (not installed)" }
            let place = answer.matcher.file.details[index].place
            printLine(names.isEmpty ? "\(place)" : "\(place)  \(names.joined(separator: ", "))")
            for (number, verdict) in entry.verdicts.enumerated() {
                let name = answer.matcher.name(LinkMatcher.RulePosition(details: index, rule: number))
                printLine("  \(name)  \(verdict.text)")
            }
        }
        let result = answer.explanation.answer
        printLine("\(result.app ?? "No app"): \(result.why)")
        if let here = answer.here { printLine("On this machine: \(here.text)") }
    }

    private func printJSON(_ answer: Answer) {
        let result = answer.explanation.answer
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", result.app != nil)
        writer.member("error", result.app == nil ? "no-app" : nil)
        writer.member("message", result.app == nil ? result.why : nil)
        result.writeMembers(to: &writer)
        writer.member("url", answer.link.uri.text)
        writer.member("host", answer.link.url.host)
        writer.member("source", answer.loaded.source.rawValue)
        writer.member("domain", answer.loaded.domain)
        writer.key("rules")
        writer.beginArray()
        for (index, entry) in answer.explanation.entries.enumerated() {
            for (number, verdict) in entry.verdicts.enumerated() {
                writer.beginObject()
                writer.member("rule", answer.matcher.name(LinkMatcher.RulePosition(details: index, rule: number)))
                writer.key("apps")
                writer.values(entry.apps)
                writer.member("verdict", verdict.name)
                writer.member("reached", ![.notReached, .notAsked].contains(verdict))
                writer.key("differs_in")
                writer.values(verdict.differences.map(\.rawValue))
                writer.endObject()
            }
        }
        writer.endArray()
        writer.member("opens_here", answer.here?.route.target)
        writer.member("here", answer.here?.text)
        writer.endObject()
        writer.printLine()
    }
}

extension LinkExplanation.Verdict {
    /// The components that keep the rule from matching.
    fileprivate var differences: [RuleComponent] { if case .differs(let missing) = self { missing } else { [] } }

    /// The verdict for people.
    fileprivate var text: String {
        switch self {
        case .matches: "matches"
        case .excludes: "matches, and excludes the link"
        case .differs(let missing): "not the \(missing.map(\.rawValue).joined(separator: ", "))"
        case .notReached: "not reached"
        case .notAsked: "not asked: no app of the entry is installed"
        case .notCompared: "not compared: too complex"
        }
    }
}
