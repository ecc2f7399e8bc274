// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundStorage
import BackgroundTagReading
import LinkDelivery
import PrivateStorage

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
