// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundStorage
import BackgroundTagReading
import Foundation
import PrivateStorage
import UserBus

/// `nfc inbox open`.
struct InboxOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an entry as its notification would: in its app, or the browser. It then leaves the inbox.",
        discussion: """
            Examples:
              nfc inbox open
              nfc inbox open 019fb0c2d4e11a2b3c4d

            Exit status: 0 when it is open, 1 when it could not be opened and stays.
            """
    )

    @Argument(help: "The entry's identifier; without one, the newest.")
    var identifier: EntryArgument?

    @Flag(help: "Open an app by its own scheme, as phones do and Apple's documents don't.")
    var allowCustomSchemes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let answer = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let user = UserEnvironment()
            let inbox = try user.inbox()
            let entry = try choose(inbox)
            let router = try user.router(allowsCustomSchemes: allowCustomSchemes)
            guard let delivery = Delivery(message: entry.message, router: router) else {
                throw CommandFailure(.refused, "nothing-to-open", "The entry has nothing that can be opened.")
            }
            let answer = try open(delivery)
            do throws(StorageError) {
                try inbox.remove(entry.id)
            } catch {
                throw CommandFailure(error)
            }
            return answer
        }
        guard json else { return printLine(RecordText.printable("Opened in \(answer)")) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("opened_in", answer)
        writer.endObject()
        writer.printLine()
    }

    private func choose(_ inbox: Inbox<DirectoryStore>) throws(CommandFailure) -> InboxEntry {
        let entries: [InboxEntry]
        do throws(StorageError) {
            entries = try inbox.content().entries
        } catch {
            throw CommandFailure(error)
        }
        let entry = identifier.map { wanted in entries.first { $0.id == wanted.id } } ?? entries.last
        guard let entry else { throw CommandFailure(.refused, "no-entry", "The inbox has no such entry.") }
        return entry
    }

    /// - Returns: what it was opened in, for people.
    private func open(_ delivery: Delivery) throws(CommandFailure) -> String {
        switch delivery {
        case .app(let app, let payload):
            do throws(BusError) {
                return try UserBus().deliver(payload, to: app) ? app.id : "\(app.id), without the message"
            } catch {
                throw CommandFailure(.refused, "not-delivered", error.reason)
            }
        case .customScheme(let app, let uri):
            do throws(BusError) {
                try UserBus().open(uri, in: app)
            } catch {
                throw CommandFailure(.refused, "not-delivered", error.reason)
            }
            return app.id
        case .browser(let url):
            try DesktopOpener.open(url)
            return "the browser"
        case .system(let scheme, let uri):
            try DesktopOpener.open(uri)
            return "the system's app for \(scheme.rawValue)"
        }
    }
}

/// Opens URIs in the apps that the desktop has for them.
enum DesktopOpener {
    /// Opens a URI with `xdg-open`, as one argument of its own: no shell sees it.
    static func open(_ uri: String) throws(CommandFailure) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let paths = folders.filter { $0.hasPrefix("/") }.map { "\($0)/xdg-open" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw CommandFailure(
                .refused,
                "no-opener",
                "There is no xdg-open. Install it with: apt-get install xdg-utils"
            )
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [uri]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.standardError
        do {
            try process.run()
        } catch {
            throw CommandFailure(.refused, "no-opener", "\(path) can't be run.")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0, process.terminationReason == .exit else {
            throw CommandFailure(.refused, "not-opened", "The desktop has no app for it.")
        }
    }
}
