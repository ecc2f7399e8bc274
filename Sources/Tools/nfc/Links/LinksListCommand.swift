// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
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
