// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundStorage
import BackgroundTagReading
import PrivateStorage

/// `nfc apps choose`.
struct AppsChooseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "choose",
        abstract: "Choose whether the browser or the app opens the links of a domain.",
        discussion: """
            As on a phone, the browser opens them until the app is chosen again.

            Examples:
              nfc apps choose example.org browser
              nfc apps choose '*.example.org' app

            Exit status: 0 when it is kept, 1 when no installed app has the domain.
            """
    )

    /// What opens links.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case app, browser
    }

    @Argument(help: "The domain, or '*.' and a domain for all below it.")
    var domain: String

    @Argument(help: "app or browser.")
    var choice: Choice

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let chosen = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let user = UserEnvironment()
            var choices = LinkChoices(of: user.folders)
            let name = choices.choose(domain, isBrowser: choice == .browser)
            let host = name.map { $0.hasPrefix("*.") ? "x" + $0.dropFirst() : $0 }
            // What was once chosen can be taken back when the app is gone.
            let isListed = host.map { host in user.apps().apps.contains { $0.entry(for: host) != nil } } ?? false
            guard let name, isListed || choice == .app else {
                throw CommandFailure(.refused, "not-listed", "No installed app has links of \(domain). See: nfc apps")
            }
            do throws(StorageError) {
                try choices.save(in: user.folders)
            } catch {
                throw CommandFailure(error)
            }
            return name
        }
        guard json else {
            let what = choice == .browser ? "the browser" : "the app that has them"
            return printLine(RecordText.printable("Links of \(chosen) open in \(what)."))
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("domain", chosen)
        writer.member("opens", choice.rawValue)
        writer.endObject()
        writer.printLine()
    }
}
