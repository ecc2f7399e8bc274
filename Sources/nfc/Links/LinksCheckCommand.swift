// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import UniversalLinks

/// `nfc links check`.
struct LinksCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check an association file: what it says, and what in it has no effect.",
        discussion: """
            Examples:
              nfc links check apple-app-site-association
              curl -s https://example.org/.well-known/apple-app-site-association | nfc links check -

            Exit status: 0 when every part of the file has an effect, 1 when some
            has none or the file is none, 2 for wrong usage.
            """
    )

    @OptionGroup var file: AssociationFileOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let file = try await reportingFailure(json: json) { () throws(CommandFailure) in
            LinkMatcher(try self.file.load()).file
        }
        if json {
            printJSON(file)
        } else {
            for details in file.details {
                let apps = details.apps.joined(separator: ", ")
                printLine(
                    RecordText.printable(
                        "\(apps): \(details.rules.count) \(details.rules.count == 1 ? "rule" : "rules")"
                    )
                )
            }
            for remark in file.remarks { printLine(RecordText.printable(remark)) }
        }
        guard file.remarks.isEmpty else { throw ExitCode(1) }
    }

    private func printJSON(_ file: AssociationFile) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", file.remarks.isEmpty)
        writer.key("details")
        writer.beginArray()
        for details in file.details {
            writer.beginObject()
            writer.key("apps")
            writer.beginArray()
            for app in details.apps { writer.value(app) }
            writer.endArray()
            writer.member("rules", details.rules.count)
            writer.endObject()
        }
        writer.endArray()
        writer.key("remarks")
        writer.beginArray()
        for remark in file.remarks { writer.value(remark) }
        writer.endArray()
        writer.endObject()
        writer.printLine()
    }
}
