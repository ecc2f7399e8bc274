// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundStorage
import BackgroundTagReading
import Foundation
import LinkFetching
import PrivateStorage
import TagLink
import UniversalLinks

/// `nfc links fetch`.
struct LinksFetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Get the association files of the domains that installed apps list.",
        discussion: """
            Only files that are older than a week are got again, and those that failed
            more than six hours ago. A file stays when its site can't be reached.

            Examples:
              nfc links fetch
              nfc links fetch example.org --force

            Exit status: 0 when every file is there and fresh, 1 when a site gave
            none, 2 for wrong usage.
            """
    )

    @Argument(help: "Only these domains; an installed app has to list them.")
    var domains: [String] = []

    @Flag(help: "Ask the sites also when their files are fresh.")
    var force = false

    @Option(help: "The seconds that a site has to answer, 1 to 120.")
    var timeout = 20

    @Flag(help: "In development: let a site have a private address.")
    var allowPrivateAddresses = false

    @Option(help: "In development: connect to ADDRESS:PORT in place of the sites.")
    var connectTo: String?

    @Option(help: "In development: trust the certificates of this file in place of the system's.")
    var authorities: String?

    @Flag(help: "Print one JSON object a domain.")
    var json = false

    func validate() throws {
        guard (1...120).contains(timeout) else { throw ValidationError("--timeout takes 1 to 120 seconds.") }
    }

    func run() async throws {
        let user = UserEnvironment()
        let now = UserEnvironment.now
        let results = try await reportingFailure(json: json) { () async throws(CommandFailure) in
            let (all, asked) = try choose(user)
            var options = AssociationFetcher.Options()
            options.timeout = .seconds(timeout)
            options.allowsPrivateAddresses = allowPrivateAddresses
            options.connectTo = connectTo
            options.authorities = authorities
            let fetcher = AssociationFetcher(options)
            let cache = try user.cache()
            do throws(StorageError) {
                return try await cache.refresh(
                    all,
                    asking: asked,
                    now: now,
                    isForced: force
                ) { domain async throws(FetchError) -> [UInt8] in
                    try await fetcher.fetch(domain)
                }
            } catch {
                throw CommandFailure(error)
            }
        }
        for result in results { show(result, now) }
        if results.isEmpty, !json { printLine("No installed app lists a domain. See: nfc apps --help") }
        guard results.allSatisfy({ $0.failure == nil }) else { throw ExitCode(1) }
    }

    /// All domains that apps list, and those of them that are meant.
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

    private func show(_ result: CachedAssociation, _ now: Int64) {
        guard json else {
            let state = result.file.map { "\($0.count) octets" } ?? "no file"
            let age = result.answered.map { ", the site answered \(ageText(seconds: now - $0))" } ?? ""
            let failure = result.failure.map { "; the last try failed: \($0)" } ?? ""
            return printLine(RecordText.printable("\(result.domain)  \(state)\(age)\(failure)"))
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", result.failure == nil)
        writer.member("domain", result.domain)
        writer.key("size")
        if let file = result.file { writer.value(file.count) } else { writer.value(nil as String?) }
        writer.key("age_s")
        if let answered = result.answered { writer.value(Int(now - answered)) } else { writer.value(nil as String?) }
        if let failure = result.failure {
            let parts = failure.split(separator: ":", maxSplits: 1)
            writer.member("error", String(parts[0]))
            writer.member("message", parts.count > 1 ? String(parts[1].drop { $0 == " " }) : failure)
        }
        writer.endObject()
        writer.printLine()
    }
}
