// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import TextSafety

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
