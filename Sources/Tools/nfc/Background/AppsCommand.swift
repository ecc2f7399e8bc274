// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import TextSafety
import UniversalLinks

/// `nfc apps`.
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

/// `nfc apps list`.
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
        let cache = try await reportingFailure(json: json) { () throws(CommandFailure) in try user.cache() }
        for app in found.apps {
            if json { printJSON(app, user, cache) } else { show(app, user, cache) }
        }
        for problem in found.problems {
            guard json else {
                printLine("\(problem.path): \(problem.reason)")
                continue
            }
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("ok", false)
            writer.member("error", "bad-description")
            writer.member("path", problem.path)
            writer.member("message", problem.reason)
            writer.endObject()
            writer.printLine()
        }
        if found.apps.isEmpty, found.problems.isEmpty, !json { printLine("No app is installed. See: nfc apps --help") }
        guard found.problems.isEmpty else { throw ExitCode(1) }
    }

    private func show(_ app: InstalledApp, _ user: UserEnvironment, _ cache: LinkCache<PrivateFolder>) {
        printLine("\(app.name)  \(app.id)  (\(app.desktopID).desktop)")
        let choices = LinkChoices(of: user.folders)
        switch Result(catching: { () throws(DeliveryError) in try user.deliverer.way(to: app) }) {
        case .success(.bus): printLine("  started by the bus")
        case .success(.command): printLine("  started by its command, and given the message")
        case .success(.link): printLine("  started by its command, and given the link alone")
        case .failure(let error): printLine("  \(error.reason)")
        }
        for domain in app.associatedDomains {
            printLine("  \(domain.entry)")
            guard domain.service == "applinks" else { continue }
            if choices.opensBrowser(for: Self.host(domain)) { printLine("    the browser was chosen for it") }
            for line in links(domain.domain, app, cache).lines { printLine("    \(line)") }
        }
        for scheme in app.schemes { printLine("  \(scheme): only where custom schemes are allowed") }
    }

    /// A domain as `nfc apps choose` takes it.
    private static func host(_ domain: AssociatedDomain) -> String {
        (domain.isWildcard ? "*." : "") + domain.domain
    }

    private func printJSON(_ app: InstalledApp, _ user: UserEnvironment, _ cache: LinkCache<PrivateFolder>) {
        let choices = LinkChoices(of: user.folders)
        let way = Result { () throws(DeliveryError) in try user.deliverer.way(to: app) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("app_id", app.id)
        writer.member("name", app.name)
        writer.member("desktop_id", app.desktopID)
        writer.member("dbus_activatable", app.isBusActivated)
        writer.key("started_by")
        writer.value(try? way.get().rawValue)
        if case .failure(let error) = way {
            writer.member("message", error.reason)
        } else {
            writer.member(null: "message")
        }
        writer.key("associated_domains")
        writer.beginArray()
        for domain in app.associatedDomains {
            writer.beginObject()
            writer.member("entry", domain.entry)
            writer.member("domain", domain.domain)
            if domain.service == "applinks" {
                let links = links(domain.domain, app, cache)
                writer.member("opens", choices.opensBrowser(for: Self.host(domain)) ? "browser" : "app")
                writer.member("source", links.source?.rawValue)
                writer.member("age_s", links.age)
                writer.key("failure")
                writer.value(links.failure)
                writer.key("rules")
                writer.beginArray()
                for rule in links.rules { writer.value(rule) }
                writer.endArray()
            }
            writer.endObject()
        }
        writer.endArray()
        writer.key("schemes")
        writer.beginArray()
        for scheme in app.schemes { writer.value(scheme) }
        writer.endArray()
        writer.endObject()
        writer.printLine()
    }

    /// The links of a domain that an app gets.
    private struct Links {
        var age: Int?
        var failure: String?
        var source: AssociationFileOptions.Source?
        var rules: [String] = []
        var isThere = false

        var lines: [String] {
            var lines: [String] = []
            if source == .local { lines.append("a local association file (developer mode); see nfc links list") }
            if let age {
                lines.append("the site answered \(ageText(seconds: Int64(age)))")
            }
            if let failure { lines.append("the last try failed: \(failure)") }
            if !isThere { lines.append("no association file; nfc links fetch gets it") }
            if isThere, rules.isEmpty { lines.append("the association file gives this app no links") }
            return lines + rules
        }
    }

    private func links(_ domain: String, _ app: InstalledApp, _ cache: LinkCache<PrivateFolder>) -> Links {
        var links = Links()
        let known = cache.association(of: domain)
        links.source = LinkStatus(domain, known, now: UserEnvironment.now).source
        links.age = known?.answered.map { Int(UserEnvironment.now - $0) }
        links.failure = known?.failure
        guard let matcher = cache.matchers(of: [domain])[domain] else { return links }
        links.isThere = true
        for (index, details) in matcher.file.details.enumerated() where details.apps.contains(app.id) {
            for rule in details.rules.indices {
                links.rules.append(matcher.name(LinkMatcher.RulePosition(details: index, rule: rule)))
            }
        }
        return links
    }
}

/// `nfc apps choose`.
struct AppsChooseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "choose",
        abstract: "Choose whether the browser or the app opens the links of a domain.",
        discussion: """
            As on a phone, the browser opens them until the app is chosen again.

            Examples:
              nfc apps choose example.org browser
              nfc apps choose '*.example.org' app

            Exit status: 0 when the choice is saved, 1 when no app has the domain.
            """
    )

    /// What opens links.
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
        let chosen = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let user = UserEnvironment()
            var choices = LinkChoices(of: user.folders)
            let name = choices.choose(domain, isBrowser: choice == .browser)
            // An entry for all hosts below a domain covers the name with '*.' like any of them, and no other entry does.
            let isListed = name.map { name in user.apps().apps.contains { $0.entry(for: name) != nil } } ?? false
            // An earlier choice can be undone after the app is gone.
            guard let name, isListed || choice == .app else {
                throw CommandFailure(.refused, "not-listed", "No installed app has links of \(domain). See: nfc apps")
            }
            do throws(StorageError) {
                try choices.save(in: user.folders)
            } catch {
                throw CommandFailure(error)
            }
            return name
        }
        guard json else {
            let what = choice == .browser ? "the browser" : "the app that has them"
            return printLine("Links of \(chosen) open in \(what).")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("domain", chosen)
        writer.member("opens", choice.rawValue)
        writer.endObject()
        writer.printLine()
    }
}
