// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import TextSafety
import UniversalLinks

struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "Show the apps that tags can open, and choose between them and the browser.",
        discussion: """
            An app is a desktop entry, applications/NAME.desktop, with a description,
            nfc/apps/NAME.json. Both are in a data folder: $XDG_DATA_HOME, which is
            ~/.local/share, or one of $XDG_DATA_DIRS, such as /usr/share.

              {"app_id": "ABCDE12345.org.example.reader",
               "associated_domains": ["applinks:example.org"]}

            If the desktop entry has Implements=org.opencorenfc.UserActivity1, the app
            gets the whole message over the bus. Otherwise it gets only the link, in
            place of %u in its Exec line. With DBusActivatable=true the bus starts it.

            Examples:
              nfc apps
              nfc apps choose example.org browser
            """,
        subcommands: [AppsListCommand.self, AppsChooseCommand.self],
        defaultSubcommand: AppsListCommand.self
    )
}

struct AppsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the apps, how each is started, and which links each gets.",
        discussion: """
            Examples:
              nfc apps
              nfc apps list --json

            Exit status: 0 when every description is valid, 1 when one is not.
            """
    )

    @Flag(help: "Print one JSON object per app.")
    var json = false

    func run() async throws {
        let user = UserEnvironment()
        let found = user.apps()
        let cache = try user.cache()
        let choices = LinkChoices(of: user.folders)
        for app in found.apps {
            let way = Result { () throws(DeliveryError) in try user.deliverer.way(to: app) }
            let domains = app.associatedDomains.map { domain -> (AssociatedDomain, Links?) in
                (domain, domain.service == "applinks" ? links(domain, app, choices, cache) : nil)
            }
            printResult(json: json, object(app, way, domains), lines(app, way, domains))
        }
        for problem in found.problems {
            printResult(
                json: json,
                ["ok": false, "error": "bad-description", "path": problem.path, "message": problem.reason],
                ["\(problem.path): \(problem.reason)"]
            )
        }
        if found.apps.isEmpty, found.problems.isEmpty, !json { printLine("No app is installed. See: nfc apps --help") }
        guard found.problems.isEmpty else { throw ExitCode(1) }
    }

    private typealias Way = Result<LinkDeliverer.Way, DeliveryError>

    private func lines(_ app: InstalledApp, _ way: Way, _ domains: [(AssociatedDomain, Links?)]) -> [String] {
        let start =
            switch way {
            case .success(.bus): "started by the bus"
            case .success(.command): "started by its command, with the message"
            case .success(.link): "started by its command, with only the link"
            case .failure(let error): error.reason
            }
        var lines = ["\(app.name)  \(app.id)  (\(app.desktopID).desktop)", "  \(start)"]
        for (domain, links) in domains {
            lines.append("  \(domain.entry)")
            lines += (links?.lines ?? []).map { "    \($0)" }
        }
        return lines + app.schemes.map { "  \($0): only where custom schemes are allowed" }
    }

    private func object(_ app: InstalledApp, _ way: Way, _ domains: [(AssociatedDomain, Links?)]) -> JSONObject {
        let domains = domains.map { domain, links -> JSONObject in
            let object: JSONObject = ["entry": domain.entry, "domain": domain.domain]
            guard let links else { return object }
            return object + [
                "opens": links.opensBrowser ? "browser" : "app", "source": links.source?.rawValue, "age_s": links.age,
                "failure": links.failure, "rules": links.rules,
            ]
        }
        let (start, problem): (String?, String?) =
            switch way {
            case .success(let way): (way.rawValue, nil)
            case .failure(let error): (nil, error.reason)
            }
        return [
            "ok": true, "app_id": app.id, "name": app.name, "desktop_id": app.desktopID,
            "dbus_activatable": app.isBusActivated, "started_by": start, "message": problem,
            "associated_domains": domains, "schemes": app.schemes,
        ]
    }

    private struct Links {
        var opensBrowser: Bool
        var age: Int?
        var failure: String?
        var source: AssociationFileOptions.Source?
        var rules: [String] = []
        var hasFile = false

        var lines: [String] {
            var lines = opensBrowser ? ["you chose the browser for this domain"] : []
            if source == .local { lines.append("a local association file (developer mode); see nfc links list") }
            if let age { lines.append("the site answered \(ageText(seconds: Int64(age)))") }
            if let failure { lines.append("the last try failed: \(failure)") }
            if !hasFile { lines.append("no association file; to get it: nfc links fetch") }
            if hasFile, rules.isEmpty { lines.append("the association file gives this app no links") }
            return lines + rules
        }
    }

    private func links(
        _ entry: AssociatedDomain,
        _ app: InstalledApp,
        _ choices: LinkChoices,
        _ cache: LinkCache<PrivateFolder>
    ) -> Links {
        let domain = entry.domain
        // The form that `nfc apps choose` accepts.
        var links = Links(opensBrowser: choices.opensBrowser(for: (entry.isWildcard ? "*." : "") + domain))
        let association = cache.association(of: domain)
        links.source = LinkStatus(domain: domain, association: association, now: UserEnvironment.now).source
        links.age = association?.answered.map { Int(UserEnvironment.now - $0) }
        links.failure = association?.failure
        guard let matcher = cache.matchers(of: [domain])[domain] else { return links }
        links.hasFile = true
        for (index, details) in matcher.file.details.enumerated() where details.apps.contains(app.id) {
            for rule in details.rules.indices {
                links.rules.append(matcher.name(LinkMatcher.RulePosition(details: index, rule: rule)))
            }
        }
        return links
    }
}

struct AppsChooseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "choose",
        abstract: "Choose whether the browser or the app opens the links of a domain.",
        discussion: """
            As on a phone, the browser stays the choice until you choose the app again.

            Examples:
              nfc apps choose example.org browser
              nfc apps choose '*.example.org' app

            Exit status: 0 when the choice is saved, 1 when no app has the domain.
            """
    )

    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case app, browser
    }

    @Argument(help: "The domain, or '*.' and a domain for all its subdomains.")
    var domain: String

    @Argument(help: "app or browser.")
    var choice: Choice

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let user = UserEnvironment()
        let before = LinkChoices(of: user.folders)
        var choices = before
        let name = choices.choose(domain, isBrowser: choice == .browser)
        // A wildcard entry for the domain also matches a name that starts with '*.', and no other entry does.
        let isListed = name.map { name in user.apps().apps.contains { $0.entry(for: name) != nil } } ?? false
        // An earlier choice can be undone even if the app was removed.
        guard let name, isListed || before.opensBrowser(for: name) else {
            throw CommandFailure("not-listed", "No installed app opens links of \(domain). See: nfc apps")
        }
        try choices.save(in: user.folders)
        let target = choice == .browser ? "the browser" : "the installed app"
        printResult(
            json: json,
            ["ok": true, "domain": name, "opens": choice.rawValue],
            ["Links of \(name) open in \(target)."]
        )
    }
}
