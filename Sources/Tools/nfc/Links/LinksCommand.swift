// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import NDEF
import TextSafety
import UniversalLinks

struct LinksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links",
        abstract: "Show which app a link opens, and why.",
        subcommands: [
            LinksListCommand.self, LinksMatchCommand.self, LinksExplainCommand.self, LinksOpenCommand.self,
            LinksCheckCommand.self, LinksFetchCommand.self, LinksAddCommand.self, LinksRemoveCommand.self,
        ]
    )
}

struct LinksOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a link as if it was read from a tag, and show which app takes it.",
        discussion: """
            The app is the one that the notification for a tag with this link would
            open. For the reasons, see: nfc links explain --help

            Examples:
              nfc links open https://example.org/buy/42
              nfc links open https://example.org/buy/42 --dry-run

            Exit status: 0 when an app takes it, 1 when no app does or it can't be
            opened, 2 for wrong usage.
            """
    )

    @Argument(help: "The link.")
    var url: String

    @Flag(help: "Only show which app would take it.")
    var dryRun = false

    @Flag(help: "Allow links with an app's own scheme, which a phone does not open.")
    var allowCustomSchemes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard MessageOptions.isURI(url) else {
            throw ValidationError("'\(url)' is not a link. A link begins like https://.")
        }
    }

    func run() async throws {
        let user = UserEnvironment()
        let router = try user.router(allowsCustomSchemes: allowCustomSchemes)
        let message = try NDEFMessage([.uri(url)])
        let noApp = CommandFailure("no-app", "No app on this machine opens the link. See: nfc apps")
        guard case .uri(let uri) = LinkChoice(message),
            let delivery = Delivery(message: try message.encoded(), router: router)
        else { throw noApp }
        guard !dryRun else {
            // A notification without a button could not open the link.
            guard NotificationContent(uri, router: router)?.actionTitle != nil else { throw noApp }
            return show(delivery, nil)
        }
        do throws(DeliveryError) {
            show(delivery, try user.deliverer.deliver(delivery))
        } catch {
            throw CommandFailure(error.code.rawValue, "The link was not opened. \(error.reason)")
        }
    }

    /// Prints which app takes the link. Without a receipt it was not opened.
    private func show(_ delivery: Delivery, _ receipt: LinkDeliverer.Receipt?) {
        let target = InboxOpenCommand.text(delivery, receipt)
        printResult(
            json: json,
            [
                "ok": true, "url": url, "opened": receipt != nil, "opened_in": target,
                "app": receipt?.app ?? delivery.app?.id, "with_message": receipt?.hasMessage,
            ],
            ["\(receipt == nil ? "Opens" : "Opened") in \(target)"]
        )
    }
}

extension Delivery {
    /// The installed app that takes the link; nil if the browser or the system takes it.
    fileprivate var app: InstalledApp? {
        switch self {
        case .app(let app, _), .customScheme(let app, _): app
        case .browser, .system: nil
        }
    }
}

struct LinksListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the domains of the installed apps, and the source of each association file.",
        discussion: """
            Examples:
              nfc links list
              nfc links list --json

            Exit status: 0, also when there are no domains.
            """
    )

    @Flag(help: "Print one JSON object per domain.")
    var json = false

    func run() async throws {
        let user = UserEnvironment()
        let cache = try user.cache()
        let apps = user.apps().apps
        let local = LocalAssociations(of: user.folders)?.domains ?? []
        let domains = Set(apps.flatMap(\.linkedDomains) + local).sorted()
        for domain in domains {
            let association = cache.association(of: domain)
            let status = LinkStatus(domain: domain, association: association, now: UserEnvironment.now)
            let apps = apps.filter { $0.linkedDomains.contains(domain) }
            let rows = apps.map { "  \($0.name)  \($0.id)" }
            printResult(
                json: json,
                ["ok": true] + status.object + ["apps": apps.map(\.id)],
                [status.text] + (rows.isEmpty ? ["  no installed app lists it"] : rows)
            )
        }
        if domains.isEmpty, !json { printLine("No installed app lists a domain. See: nfc apps --help") }
    }
}

struct LinksFetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch the association files of the domains that installed apps list.",
        discussion: """
            Only files that are older than a week are fetched again. After a failure,
            a site is not contacted for a minute; each further failure doubles that time,
            up to six hours. With --force it is tried at once. A file stays if its
            site can't be reached. Sites with a file from nfc links add are skipped.

            Examples:
              nfc links fetch
              nfc links fetch example.org --force

            Exit status: 0 when every file exists and is fresh, 1 when a site did not
            give its file, 2 for wrong usage.
            """
    )

    @Argument(help: "Only these domains. An installed app must list them.")
    var domains: [String] = []

    @Flag(help: "Contact the sites now, even if none is due.")
    var force = false

    @Option(help: "The seconds that a site has to answer, 1 to 120.")
    var timeout = 20

    @Flag(help: "In development: allow sites with private addresses.")
    var allowPrivateAddresses = false

    @Option(help: "In development: connect to ADDRESS:PORT instead of the sites.")
    var connectTo: String?

    @Option(help: "In development: trust the certificates in this file instead of the system's.")
    var authorities: String?

    @Flag(help: "Print one JSON object per domain.")
    var json = false

    func validate() throws {
        guard (1...120).contains(timeout) else { throw ValidationError("--timeout must be 1 to 120 seconds.") }
    }

    var options: AssociationFetcher.Options {
        var options = AssociationFetcher.Options()
        options.timeout = .seconds(timeout)
        options.allowsPrivateAddresses = allowPrivateAddresses
        options.connectTo = connectTo
        options.authorities = authorities
        return options
    }

    func run() async throws {
        let user = UserEnvironment()
        let now = UserEnvironment.now
        let (all, wanted) = try choose(user)
        let fetcher = AssociationFetcher(options)
        var asked: Set<String> = []
        let results = try await user.cache().refresh(
            all,
            asking: wanted,
            now: now,
            isForced: force
        ) { domain async throws(FetchError) -> [UInt8] in
            asked.insert(domain)
            return try await fetcher.fetch(domain)
        }
        for result in results {
            let wasAsked = asked.contains(result.domain)
            let status = LinkStatus(domain: result.domain, association: result, now: now, wasAsked: wasAsked)
            printResult(json: json, ["ok": result.failure == nil, "tried": wasAsked] + status.object, [status.text])
        }
        if results.isEmpty, !json { printLine("No installed app lists a domain. See: nfc apps --help") }
        guard results.allSatisfy({ $0.failure == nil }) else { throw ExitCode(1) }
    }

    /// Returns all domains that apps list, and those to fetch.
    private func choose(_ user: UserEnvironment) throws -> (all: [String], asked: [String]) {
        let all = user.apps().domains
        var asked: [String] = []
        for domain in domains {
            guard let name = HostName.ascii(domain), all.contains(name) else {
                let message = "No installed app lists \(domain), so its file is not fetched. See: nfc apps"
                throw CommandFailure("not-listed", message)
            }
            if !asked.contains(name) { asked.append(name) }
        }
        return (all, asked.isEmpty ? all : asked)
    }
}

struct LinksAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "In development: use a local association file instead of the one on a domain's site.",
        discussion: """
            Use it to try an app before its site exists. While there is a local file,
            the site is not used, and every list marks the file as developer mode. The
            file is copied. Add it again after you have changed it.

            Examples:
              nfc links add example.org apple-app-site-association
              nfc links check example.org
              nfc links remove example.org

            Exit status: 0 when the file is used, 1 when it is not an association file
            or can't be saved, 2 for wrong usage.
            """
    )

    @Argument(help: "The domain, such as example.org.")
    var domain: String

    @Argument(help: "The association file; - for standard input.")
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let name = try asciiDomain(domain)
        var options = AssociationFileOptions()
        options.file = file
        let loaded = try options.load()
        _ = try loaded.file.get()
        let user = UserEnvironment()
        try LocalAssociations(making: user.folders).add(loaded.bytes, for: name)
        let apps = user.apps().apps.filter { $0.linkedDomains.contains(name) }.map(\.id)
        let source = AssociationFileOptions.Source.local.rawValue
        printResult(
            json: json,
            ["ok": true, "domain": name, "source": source, "size": loaded.bytes.count, "apps": apps],
            ["Developer mode: links of \(name) follow the local file, and its site is not contacted."]
                + (apps.isEmpty ? ["No installed app lists \(name) yet. See: nfc apps --help"] : [])
                + ["To use the site's own file again: nfc links remove \(name)"]
        )
    }
}

struct LinksRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a local association file, and use the one on the domain's site again.",
        discussion: """
            Example:
              nfc links remove example.org

            Exit status: 0 when it is removed, 1 when there was none, 2 for wrong usage.
            """
    )

    @Argument(help: "The domain, such as example.org.")
    var domain: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let name = try asciiDomain(domain)
        let user = UserEnvironment()
        guard try LocalAssociations(of: user.folders)?.remove(name) == true else {
            throw CommandFailure("not-added", "\(name) has no local file. See: nfc links list")
        }
        // Files are fetched only for domains that an installed app lists.
        let isListed = user.apps().apps.contains { $0.linkedDomains.contains(name) }
        let step =
            isListed ? "To get the site's own file: nfc links fetch \(name)" : "No installed app lists the domain."
        printResult(json: json, ["ok": true, "domain": name], ["The local file of \(name) is removed. \(step)"])
    }
}

private func asciiDomain(_ domain: String) throws -> String {
    do throws(HostName.DomainProblem) {
        return try HostName.domain(domain)
    } catch {
        throw CommandFailure("bad-domain", "'\(domain)' \(error.description)")
    }
}

/// The status of a domain's association file, as text and JSON.
struct LinkStatus {
    let domain: String
    /// The saved answer; nil if the site was never contacted.
    let association: CachedAssociation?
    /// The current time in seconds since 1970.
    let now: Int64
    /// Whether this command has just contacted the site.
    var wasAsked = false

    var source: AssociationFileOptions.Source? {
        guard let association, association.file != nil else { return nil }
        return association.isLocal ? .local : .site
    }

    var text: String {
        guard let association else { return "\(domain)  no file; to get it: nfc links fetch" }
        let size = association.file.map { "\($0.count) bytes" } ?? "no file"
        guard !association.isLocal else {
            return "\(domain)  \(size), a local file (developer mode; to remove it: nfc links remove \(domain))"
        }
        let age = association.answered.map { ", the site answered \(ageText(seconds: now - $0))" } ?? ""
        guard let failure = association.failure else { return "\(domain)  \(size)\(age)" }
        let tried =
            wasAsked
            ? "the attempt just now failed" : "the last attempt, \(ageText(seconds: now - association.asked)), failed"
        return "\(domain)  \(size)\(age); \(tried): \(failure) \(nextTryText(association))"
    }

    private func nextTryText(_ association: CachedAssociation) -> String {
        guard let next = association.nextTry(at: now) else { return "" }
        let when = next <= now ? "now" : "in \(durationText(seconds: next - now))"
        return "The next attempt is due \(when). To try at once: nfc links fetch \(domain) --force"
    }

    var object: JSONObject {
        let problem = association?.failureParts
        return [
            "domain": domain, "source": source?.rawValue, "size": association?.file?.count,
            "age_s": association?.answered.map { Int(now - $0) },
            "next_try_s": association?.nextTry(at: now).map { Int(max(0, $0 - now)) },
            "error": problem?.code, "message": problem?.reason,
        ]
    }
}
