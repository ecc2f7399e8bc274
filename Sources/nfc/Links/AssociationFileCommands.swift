// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
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

/// `nfc links explain`.
struct LinksExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show, rule by rule, what an association file says of a link.",
        discussion: """
            Examples:
              nfc links explain apple-app-site-association https://example.org/buy/42
              nfc links explain aasa.json https://example.org/x --app TEAM.com.example.app

            Without --app all apps of the file count as installed. Exit status: 0
            when an app opens the link, 1 when none does or the file is none, 2 for
            wrong usage.
            """
    )

    @OptionGroup var file: AssociationFileOptions

    @Argument(help: "The link.")
    var url: String

    @Option(name: .customLong("app"), help: "An installed app's identifier; may be given again.")
    var apps: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let (matcher, link) = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let matcher = LinkMatcher(try file.load())
            do throws(LinkURL.Problem) {
                return (matcher, try LinkURL(url))
            } catch {
                throw CommandFailure(.refused, "no-link", error.description)
            }
        }
        let installed = apps.isEmpty ? Set(matcher.file.details.flatMap(\.apps)) : Set(apps)
        let answer = matcher.answer(link, installed: installed)
        if json {
            var writer = JSONWriter()
            answer.write(to: &writer)
            writer.printLine()
        } else {
            for index in matcher.file.details.indices { show(matcher, link, index, installed) }
            printLine(RecordText.printable("\(answer.app ?? "No app"): \(answer.why)"))
        }
        guard answer.app != nil else { throw ExitCode(1) }
    }

    private func show(_ matcher: LinkMatcher, _ link: LinkURL, _ index: Int, _ installed: Set<String>) {
        let details = matcher.file.details[index]
        let names = details.apps.map { installed.contains($0) ? $0 : "\($0) (not installed)" }
        printLine(RecordText.printable("details[\(index)]  \(names.joined(separator: ", "))"))
        for (number, missing) in matcher.trace(link, details: index).enumerated() {
            let verdict = missing.isEmpty ? "matches" : "not the \(missing.map(\.rawValue).joined(separator: ", "))"
            let name = matcher.name(LinkMatcher.RulePosition(details: index, rule: number))
            printLine(RecordText.printable("  \(name)  \(verdict)"))
        }
    }
}

/// The association file that a command is about.
struct AssociationFileOptions: ParsableArguments {
    @Argument(help: "The association file; - for standard input.")
    var file: String

    /// Reads the file.
    func load() throws(CommandFailure) -> AssociationFile {
        let data: Data
        if file == "-" {
            data = Data(StandardInput.all())
        } else if let content = FileManager.default.contents(atPath: file) {
            data = content
        } else {
            throw CommandFailure(
                .usage,
                "no-file",
                "\(file) can't be read. Name an association file, or - for standard input."
            )
        }
        do throws(AssociationFileError) {
            return try AssociationFile(parsing: data)
        } catch {
            throw CommandFailure(.refused, "bad-file", error.reason)
        }
    }
}
