// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import TextSafety
import UniversalLinks

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
