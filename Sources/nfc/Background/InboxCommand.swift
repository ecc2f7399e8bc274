// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundStorage
import BackgroundTagReading
import LinkDelivery
import NDEF
import PrivateStorage
import TagLink

/// `nfc inbox`.
struct InboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Show, open and clear what was read in the background and not acted on.",
        subcommands: [InboxListCommand.self, InboxOpenCommand.self, InboxClearCommand.self]
    )
}

/// `nfc inbox list`.
struct InboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what was read, the oldest first.",
        discussion: """
            Examples:
              nfc inbox list
              nfc inbox list --json

            Exit status: 0, or 1 when the inbox has damaged files.
            """
    )

    @Flag(help: "Print one JSON object an entry.")
    var json = false

    func run() async throws {
        let user = UserEnvironment()
        let (content, router) = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let inbox = try user.inbox()
            let router = try user.router()
            do throws(StorageError) {
                return (try inbox.content(), router)
            } catch {
                throw CommandFailure(error)
            }
        }
        for entry in content.entries { show(entry, router) }
        for name in content.damaged {
            StandardError.write(
                "The file \(RecordText.printable(name)) of the inbox is damaged; nfc inbox clear removes it.\n"
            )
        }
        if content.entries.isEmpty, !json { printLine("The inbox is empty.") }
        guard content.damaged.isEmpty else { throw ExitCode(1) }
    }

    private func show(_ entry: InboxEntry, _ router: LinkRouter) {
        var uri: TagURI?
        if let message = try? NDEFMessage(decoding: entry.message), case .uri(let found) = LinkChoice(message) {
            uri = found
        }
        let route = uri.map(router.route)
        let content = uri.flatMap { uri in route.flatMap { NotificationContent(uri, route: $0) } }
        guard json else {
            let age = ageText(seconds: UserEnvironment.now - Int64(entry.id.received / 1000))
            return printLine(RecordText.printable("\(entry.id)  \(content?.body ?? "Nothing to open")  (\(age))"))
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", entry.id.description)
        writer.member("received_ms", Int(entry.id.received))
        writer.member("announced", entry.isAnnounced)
        writer.key("uri")
        writer.value(uri?.text)
        writer.key("opens")
        switch route {
        case .app(let app, _): writer.value(app.id)
        case .browser: writer.value("browser")
        case .system(let scheme): writer.value(scheme.rawValue)
        case .customScheme(let app): writer.value(app.id)
        case .refused, nil: writer.value(nil as String?)
        }
        writer.member("message_hex", hex: entry.message)
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc inbox clear`.
struct InboxClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove entries, and files that are damaged.",
        discussion: """
            Examples:
              nfc inbox clear
              nfc inbox clear 019fb0c2d4e11a2b3c4d
            """
    )

    @Argument(help: "An entry's identifier; without one, everything goes.")
    var identifiers: [EntryArgument] = []

    func run() async throws {
        try await reportingFailure(json: false) { () throws(CommandFailure) in
            let inbox = try UserEnvironment().inbox()
            do throws(StorageError) {
                if identifiers.isEmpty { try inbox.clear() }
                for identifier in identifiers { try inbox.remove(identifier.id) }
            } catch {
                throw CommandFailure(error)
            }
        }
    }
}

/// The identifier of an entry on the command line.
struct EntryArgument: ExpressibleByArgument {
    var id: InboxEntry.ID

    init?(argument: String) {
        guard let id = InboxEntry.ID(argument) else { return nil }
        self.id = id
    }
}

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
        let (delivery, receipt) = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let user = UserEnvironment()
            let inbox = try user.inbox()
            let entry = try choose(inbox)
            let router = try user.router(allowsCustomSchemes: allowCustomSchemes)
            guard let delivery = Delivery(message: entry.message, router: router) else {
                throw CommandFailure(.refused, "nothing-to-open", "The entry has nothing that can be opened.")
            }
            let receipt = try open(delivery, user.deliverer)
            do throws(StorageError) {
                try inbox.remove(entry.id)
            } catch {
                throw CommandFailure(error)
            }
            return (delivery, receipt)
        }
        guard json else { return printLine(RecordText.printable("Opened in \(text(delivery, receipt))")) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("opened_in", text(delivery, receipt))
        writer.key("app")
        writer.value(receipt.app)
        writer.member("with_message", receipt.hasMessage)
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

    private func open(_ delivery: Delivery, _ deliverer: LinkDeliverer) throws(CommandFailure) -> LinkDeliverer.Receipt
    {
        do throws(DeliveryError) {
            return try deliverer.deliver(delivery)
        } catch {
            throw CommandFailure(.refused, error.code.name, "\(error.reason) The entry stays in the inbox.")
        }
    }

    /// What it was opened in, for people.
    private func text(_ delivery: Delivery, _ receipt: LinkDeliverer.Receipt) -> String {
        switch delivery {
        case .app(let app, _): receipt.hasMessage ? app.id : "\(app.id), without the message"
        case .customScheme(let app, _): app.id
        case .browser: "the browser" + (receipt.app.map { ", \($0)" } ?? "")
        case .system(let scheme, _): "the system's app for \(scheme.rawValue)" + (receipt.app.map { ", \($0)" } ?? "")
        }
    }
}
