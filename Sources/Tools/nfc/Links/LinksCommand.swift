// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import TextSafety
import UniversalLinks

/// `nfc links list`.
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
        let cache = try await reportingFailure(json: json) { () throws(CommandFailure) in try user.cache() }
        let apps = user.apps().apps
        let local = LocalAssociations(of: user.folders)?.domains ?? []
        let domains = Set(apps.flatMap(\.linkedDomains) + local).sorted()
        for domain in domains {
            let status = LinkStatus(domain, cache.association(of: domain), now: UserEnvironment.now)
            let apps = apps.filter { $0.linkedDomains.contains(domain) }
            if json { printJSON(status, apps) } else { show(status, apps) }
        }
        if domains.isEmpty, !json { printLine("No installed app lists a domain. See: nfc apps --help") }
    }

    private func show(_ status: LinkStatus, _ apps: [InstalledApp]) {
        printLine(status.text)
        for app in apps { printLine("  \(app.name)  \(app.id)") }
        if apps.isEmpty { printLine("  no installed app lists it") }
    }

    private func printJSON(_ status: LinkStatus, _ apps: [InstalledApp]) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        status.write(to: &writer)
        writer.key("apps")
        writer.values(apps.map(\.id))
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc links fetch`.
struct LinksFetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch the association files of the domains that installed apps list.",
        discussion: """
            Only files that are older than a week are fetched again. After a failure,
            a site is not asked for a minute; each further failure doubles that time,
            up to six hours. With --force it is asked at once. A file stays when its
            site can't be reached. Sites with a file from nfc links add are not asked.

            Examples:
              nfc links fetch
              nfc links fetch example.org --force

            Exit status: 0 when every file exists and is fresh, 1 when a site did not
            give its file, 2 for wrong usage.
            """
    )

    @Argument(help: "Only these domains. An installed app must list them.")
    var domains: [String] = []

    @Flag(help: "Ask the sites now, even if no try is due.")
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
        guard (1...120).contains(timeout) else { throw ValidationError("--timeout takes 1 to 120 seconds.") }
    }

    /// How the sites are asked.
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
        var asked: Set<String> = []
        let results = try await reportingFailure(json: json) { () async throws(CommandFailure) in
            let (all, wanted) = try choose(user)
            let fetcher = AssociationFetcher(options)
            let cache = try user.cache()
            do throws(StorageError) {
                return try await cache.refresh(
                    all,
                    asking: wanted,
                    now: now,
                    isForced: force
                ) { domain async throws(FetchError) -> [UInt8] in
                    asked.insert(domain)
                    return try await fetcher.fetch(domain)
                }
            } catch {
                throw CommandFailure(error)
            }
        }
        for result in results { show(result, now, wasAsked: asked.contains(result.domain)) }
        if results.isEmpty, !json { printLine("No installed app lists a domain. See: nfc apps --help") }
        guard results.allSatisfy({ $0.failure == nil }) else { throw ExitCode(1) }
    }

    /// All domains that apps list, and those of them that the command asks.
    private func choose(_ user: UserEnvironment) throws(CommandFailure) -> (all: [String], asked: [String]) {
        var all: [String] = []
        for domain in user.apps().apps.flatMap(\.linkedDomains) where !all.contains(domain) { all.append(domain) }
        var asked: [String] = []
        for domain in domains {
            guard let name = HostName.ascii(domain), all.contains(name) else {
                throw CommandFailure(
                    .refused,
                    "not-listed",
                    "No installed app lists \(domain), so its file is not fetched. See: nfc apps"
                )
            }
            if !asked.contains(name) { asked.append(name) }
        }
        return (all, asked.isEmpty ? all : asked)
    }

    private func show(_ result: CachedAssociation, _ now: Int64, wasAsked: Bool) {
        let status = LinkStatus(result.domain, result, now: now, wasAsked: wasAsked)
        guard json else { return printLine(status.text) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", result.failure == nil)
        writer.member("tried", wasAsked)
        status.write(to: &writer)
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc links add`.
struct LinksAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "In development: use a local association file instead of the one on a domain's site.",
        discussion: """
            Use it to try an app before its site exists. While there is a local file,
            the site is not asked, and every list marks the file as developer mode. The
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
        let (name, size, apps) = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let name = try LocalLinks.name(domain)
            var options = AssociationFileOptions()
            options.file = file
            let (_, loaded) = try options.parse()
            let user = UserEnvironment()
            do throws(StorageError) {
                try LocalAssociations(making: user.folders).add(loaded.bytes, for: name)
            } catch {
                throw CommandFailure(error)
            }
            let apps = user.apps().apps.filter { $0.linkedDomains.contains(name) }
            return (name, loaded.bytes.count, apps.map(\.id))
        }
        guard json else {
            printLine("Developer mode: links of \(name) follow the local file, and its site is not asked.")
            if apps.isEmpty { printLine("No installed app lists \(name) yet. See: nfc apps --help") }
            return printLine("To use the site's own file again: nfc links remove \(name)")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("domain", name)
        writer.member("source", AssociationFileOptions.Source.local.rawValue)
        writer.member("size", size)
        writer.key("apps")
        writer.values(apps)
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc links remove`.
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
        let name = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let name = try LocalLinks.name(domain)
            do throws(StorageError) {
                if try LocalAssociations(of: UserEnvironment().folders)?.remove(name) == true { return name }
            } catch {
                throw CommandFailure(error)
            }
            throw CommandFailure(.refused, "not-added", "\(name) has no local file. See: nfc links list")
        }
        guard json else {
            // A site that no app lists is not asked.
            let isListed = UserEnvironment().apps().apps.contains { $0.linkedDomains.contains(name) }
            let step =
                isListed ? "To get the site's own file: nfc links fetch \(name)" : "No installed app lists the domain."
            return printLine("The local file of \(name) is removed. \(step)")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("domain", name)
        writer.endObject()
        writer.printLine()
    }
}

/// Code that the commands about local association files share.
enum LocalLinks {
    /// The domain in ASCII.
    static func name(_ domain: String) throws(CommandFailure) -> String {
        do throws(HostName.DomainProblem) {
            return try HostName.domain(domain)
        } catch {
            throw CommandFailure(.refused, "bad-domain", "'\(domain)' \(error.description)")
        }
    }
}

/// The status of a domain's association file, as text and as JSON.
struct LinkStatus {
    let domain: String
    /// The saved answer; nil when the site was never asked.
    let known: CachedAssociation?
    private let now: Int64
    /// Whether the site was asked just now, by this command.
    private let wasAsked: Bool

    /// - Parameters:
    ///   - domain: the domain.
    ///   - known: the saved answer; nil when the site was never asked.
    ///   - now: the seconds since 1970.
    ///   - wasAsked: whether the site was asked just now, by this command.
    init(_ domain: String, _ known: CachedAssociation?, now: Int64, wasAsked: Bool = false) {
        self.domain = domain
        self.known = known
        self.now = now
        self.wasAsked = wasAsked
    }

    /// Where the file came from; nil when there is none.
    var source: AssociationFileOptions.Source? {
        guard let known, known.file != nil else { return nil }
        return known.isLocal ? .local : .site
    }

    /// A line for people.
    var text: String {
        guard let known else { return "\(domain)  no file; to get it: nfc links fetch" }
        let size = known.file.map { "\($0.count) bytes" } ?? "no file"
        guard !known.isLocal else {
            return "\(domain)  \(size), a local file (developer mode; to remove it: nfc links remove \(domain))"
        }
        let age = known.answered.map { ", the site answered \(ageText(seconds: now - $0))" } ?? ""
        guard let failure = known.failure else { return "\(domain)  \(size)\(age)" }
        let tried =
            wasAsked
            ? "the try just now failed" : "the last try, \(ageText(seconds: now - known.asked)), failed"
        return "\(domain)  \(size)\(age); \(tried): \(failure) \(nextTryText(known))"
    }

    private func nextTryText(_ known: CachedAssociation) -> String {
        guard let next = known.nextTry(at: now) else { return "" }
        let when = next <= now ? "now" : "in \(durationText(seconds: next - now))"
        return "The next try is due \(when). To try at once: nfc links fetch \(domain) --force"
    }

    /// Writes the members of an object.
    func write(to writer: inout JSONWriter) {
        writer.member("domain", domain)
        writer.member("source", source?.rawValue)
        writer.member("size", known?.file?.count)
        writer.member("age_s", known?.answered.map { Int(now - $0) })
        writer.member("next_try_s", known?.nextTry(at: now).map { Int(max(0, $0 - now)) })
        let parts = known?.failureParts
        writer.member("error", parts?.code)
        writer.member("message", parts?.reason)
    }
}
