// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import TextSafety
import UniversalLinks

/// `nfc links check`.
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

    @Option(help: "The URL where the file is served, to check its place.")
    var servedAt: String?

    @Flag(help: "Check as for an app that is released to its users.")
    var release = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let app { try AppIdentifier.validate(app) }
    }

    func run() async throws {
        let link = try url.map(Self.link)
        let places = try self.places()
        let loaded = try await reportingFailure(json: json) { () throws(CommandFailure) in try self.file.load() }
        switch loaded.parse() {
        case .success(let file):
            let findings = places + loaded.findings + file.check() + check(file, link)
            let isFine = findings.allSatisfy { $0.severity == .information }
            let what = findings.count == 1 ? "There is 1 finding." : "There are \(findings.count) findings."
            let problem = isFine ? nil : AssociationFileOptions.Problem("findings", what)
            if json { printJSON(file, loaded, findings, problem) } else { show(file, loaded, findings) }
            guard isFine else { throw ExitCode(1) }
        case .failure(let problem):
            guard json else { try problem.failure.report(json: false) }
            printJSON(nil, loaded, places + problem.findings, problem)
            throw ExitCode(1)
        }
    }

    private static func link(_ text: String) throws -> LinkURL {
        do throws(CommandFailure) {
            return try WebLink(text).url
        } catch {
            throw ValidationError("--url: \(error.message)")
        }
    }

    private func places() throws -> [LinkFinding] {
        do throws(LinkURL.Problem) {
            return LinkFinding.ofName(file.file) + (try servedAt.map(LinkFinding.ofPlace) ?? [])
        } catch {
            let place = "https://example.org/.well-known/apple-app-site-association"
            throw ValidationError("--served-at: '\(servedAt ?? "")' is not a site's URL. Give one such as \(place).")
        }
    }

    /// The findings about the link, the app and its associated domains.
    private func check(_ file: AssociationFile, _ link: LinkURL?) -> [LinkFinding] {
        let findings = file.check(app: app, opens: link)
        let installed = app.flatMap { id in UserEnvironment().apps().apps.first { $0.id == id } }
        let own = installed.map { $0.associatedDomains.map(\.entry) + $0.ignoredDomains }
        guard let entries = entitlements.isEmpty ? own : entitlements else { return findings }
        return findings + AssociatedDomain.check(entries, url: link, isRelease: release)
    }

    private func show(_ file: AssociationFile, _ loaded: AssociationFileOptions.Loaded, _ findings: [LinkFinding]) {
        if let note = loaded.note { printLine(note) }
        for details in file.details {
            let names = details.apps.joined(separator: ", ")
            let apps = names.isEmpty ? "\(details.place), which names no app" : names
            let count = details.rules.count
            printLine("\(apps): \(count) \(count == 1 ? "rule" : "rules")")
        }
        for finding in findings {
            printLine("\(finding.id) \(finding.severity.rawValue): \(finding.message)")
        }
    }

    private func printJSON(
        _ file: AssociationFile?,
        _ loaded: AssociationFileOptions.Loaded,
        _ findings: [LinkFinding],
        _ problem: AssociationFileOptions.Problem?
    ) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", problem == nil)
        writer.member("error", problem?.name)
        writer.member("message", problem?.message)
        writer.member("source", loaded.source.rawValue)
        writer.member("domain", loaded.domain)
        writer.key("details")
        writer.beginArray()
        for details in file?.details ?? [] {
            writer.beginObject()
            writer.key("apps")
            writer.values(details.apps)
            writer.member("rules", details.rules.count)
            writer.endObject()
        }
        writer.endArray()
        writer.key("findings")
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            writer.member("id", finding.id)
            writer.member("severity", finding.severity.rawValue)
            writer.member("message", finding.message)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.printLine()
    }
}
