// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import TextSafety

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
