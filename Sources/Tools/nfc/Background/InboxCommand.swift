// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import NDEF
import TextSafety
import UserBus

/// `nfc inbox`.
struct InboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Show, open and clear the tags that were read in the background and not opened.",
        subcommands: [InboxListCommand.self, InboxOpenCommand.self, InboxClearCommand.self]
    )
}

/// `nfc inbox list`.
struct InboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the entries, the oldest first.",
        discussion: """
            Examples:
              nfc inbox list
              nfc inbox list --json

            Exit status: 0, or 1 when the inbox has damaged files.
            """
    )

    @Flag(help: "Print one JSON object per entry.")
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
            let text =
                "\(FileName.shown(name)) in the inbox is damaged, or is not an entry, and can't be opened. "
                + "Remove it: nfc inbox clear --damaged"
            if json {
                CommandFailure(.refused, "damaged-entry", text).printJSON()
            } else {
                StandardError.writeLine(text)
            }
        }
        if content.entries.isEmpty, !json {
            printLine(content.damaged.isEmpty ? "The inbox is empty." : "The inbox has no other entries.")
        }
        guard content.damaged.isEmpty else { throw ExitCode(1) }
    }

    private func show(_ entry: InboxEntry, _ router: LinkRouter) {
        var uri: TagURI?
        if let message = try? NDEFMessage(decoding: entry.message), case .uri(let found) = LinkChoice(message) {
            uri = found
        }
        let route = uri.map(router.route)
        let content = uri.flatMap { NotificationContent($0, router: router) }
        guard json else {
            let age = ageText(seconds: UserEnvironment.now - Int64(entry.id.received / 1000))
            return printLine("\(entry.id)  \(content?.body ?? "Nothing to open")  (\(age))")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("id", entry.id.description)
        writer.member("received_ms", Int(entry.id.received))
        writer.member("announced", entry.isAnnounced)
        writer.key("uri")
        writer.value(uri?.text)
        writer.member("opens", route?.target)
        writer.member("can_open", content?.actionTitle != nil)
        writer.member("message_hex", hex: entry.message)
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc inbox open`.
struct InboxOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an entry in its app or the browser, as its notification would, and remove it from the inbox.",
        discussion: """
            Examples:
              nfc inbox open
              nfc inbox open 019fb0c2d4e11a2b3c4d

            While the screen is locked, nothing opens. If nfcd runs, the entry opens
            when the screen is unlocked.

            An entry opens only once, even when its notification or another command is
            opening it at the same moment.

            Exit status: 0 when the entry was opened, 1 when it was not and stays.
            """
    )

    @Argument(help: "The entry's identifier, 20 digits. Default: the newest entry.")
    var identifier: EntryArgument?

    @Flag(help: "Also open links with an app's own scheme. Phones do this; Apple's documents don't mention it.")
    var allowCustomSchemes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let (delivery, receipt) = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let user = UserEnvironment()
            let inbox = try user.inbox()
            let entry = try choose(inbox)
            switch ScreenLock.ask() {
            case .unlocked: break
            case .locked: throw locked(entry.id)
            case .unknown(let reason):
                throw CommandFailure(
                    .refused,
                    "locked",
                    "The screen counts as locked: \(reason) Try again when it answers."
                )
            }
            let router = try user.router(allowsCustomSchemes: allowCustomSchemes)
            guard let delivery = Delivery(message: entry.message, router: router) else {
                throw CommandFailure(.refused, "nothing-to-open", "The entry has no link that can be opened.")
            }
            let claim = try claim(entry.id, inbox)
            defer { withExtendedLifetime(claim) {} }
            let receipt = try open(delivery, user.deliverer)
            do throws(StorageError) {
                try inbox.remove(entry.id)
            } catch {
                throw CommandFailure(error)
            }
            return (delivery, receipt)
        }
        guard json else { return printLine("Opened in \(Self.text(delivery, receipt))") }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("opened_in", Self.text(delivery, receipt))
        writer.key("app")
        writer.value(receipt.app)
        writer.member("with_message", receipt.hasMessage)
        writer.endObject()
        writer.printLine()
    }

    private func choose(_ inbox: Inbox<DirectoryStore>) throws(CommandFailure) -> InboxEntry {
        let content: Inbox<DirectoryStore>.Content
        do throws(StorageError) {
            content = try inbox.content()
        } catch {
            throw CommandFailure(error)
        }
        guard let wanted = identifier?.id else {
            if let newest = content.entries.last { return newest }
            guard content.damaged.isEmpty else {
                throw CommandFailure(
                    .refused,
                    "damaged-entry",
                    "All entries in the inbox are damaged, so there is nothing to open. See: nfc inbox list"
                )
            }
            throw CommandFailure(.refused, "no-entry", "The inbox is empty, so there is nothing to open.")
        }
        if let entry = content.entries.first(where: { $0.id == wanted }) { return entry }
        guard content.damagedEntries.contains(wanted) else { throw missing(wanted) }
        throw CommandFailure(
            .refused,
            "damaged-entry",
            "The file of entry \(wanted) is damaged, so its link can't be opened. Hold the tag near the reader again, and "
                + "remove the entry: nfc inbox clear \(wanted)"
        )
    }

    /// Claims the entry until it is opened and removed, so that a click and a command at the same time open it once.
    private func claim(_ id: InboxEntry.ID, _ inbox: Inbox<DirectoryStore>) throws(CommandFailure) -> FileClaim {
        do throws(StorageError) {
            return try inbox.claim(id)
        } catch  where error.code == .inUse {
            throw CommandFailure(
                .refused,
                "being-opened",
                "Entry \(id) is already being opened, by its notification or by another nfc inbox open."
            )
        } catch  where error.code == .missing {
            throw missing(id)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func missing(_ id: InboxEntry.ID) -> CommandFailure {
        CommandFailure(
            .refused,
            "no-entry",
            "The inbox has no entry \(id). It may have been opened already. See: nfc inbox list"
        )
    }

    /// The failure while the screen is locked. If the service runs, it opens the entry when the screen is unlocked.
    private func locked(_ id: InboxEntry.ID) -> CommandFailure {
        let answer = try? RunningService.ask("Open", [.string(id.description)])
        let next =
            answer == "locked"
            ? "The link opens when the screen is unlocked." : "Unlock it, then open the entry."
        return CommandFailure(.refused, "locked", "The screen is locked. \(next)")
    }

    private func open(_ delivery: Delivery, _ deliverer: LinkDeliverer) throws(CommandFailure) -> LinkDeliverer.Receipt
    {
        do throws(DeliveryError) {
            return try deliverer.deliver(delivery)
        } catch {
            // Last, because a reason may end with a command to copy.
            let text = "The link was not opened, and its entry stays in the inbox. \(error.reason)"
            throw CommandFailure(.refused, error.code.name, text)
        }
    }

    /// The app or browser that opened the entry, for people.
    static func text(_ delivery: Delivery, _ receipt: LinkDeliverer.Receipt) -> String {
        switch delivery {
        case .app(let app, _): receipt.hasMessage ? app.id : "\(app.id), without the message"
        case .customScheme(let app, _): app.id
        case .browser: "the browser" + (receipt.app.map { ", \($0)" } ?? "")
        case .system(let scheme, _): "the system's app for \(scheme.rawValue)" + (receipt.app.map { ", \($0)" } ?? "")
        }
    }
}

/// `nfc inbox clear`.
struct InboxClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove entries and damaged files from the inbox.",
        discussion: """
            Examples:
              nfc inbox clear
              nfc inbox clear 019fb0c2d4e11a2b3c4d
              nfc inbox clear --damaged

            An identifier can be that of a damaged entry. Empty folders are removed too.

            Exit status: 0 when everything was removed. 1 when the inbox does not have a
            named entry; then nothing is removed. 1 also when something can't be
            removed; the message names it, and the rest is removed.
            """
    )

    @Argument(help: "An entry's identifier, 20 digits. Default: all entries.")
    var identifiers: [EntryArgument] = []

    @Flag(help: "Remove only damaged files.")
    var damaged = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard identifiers.isEmpty || !damaged else {
            throw ValidationError("Give identifiers or --damaged, not both.")
        }
    }

    func run() async throws {
        let removal = try await reportingFailure(json: json) { () throws(CommandFailure) in
            try remove(try UserEnvironment().inbox())
        }
        if json { printJSON(removal) } else { show(removal) }
        guard removal.kept.isEmpty else { throw ExitCode(CommandFailure.Status.refused.rawValue) }
    }

    private func remove(_ inbox: Inbox<DirectoryStore>) throws(CommandFailure) -> Inbox<DirectoryStore>.Removal {
        let known: Set<InboxEntry.ID>
        do throws(StorageError) {
            if damaged { return try inbox.removeDamaged() }
            if identifiers.isEmpty { return try inbox.clear() }
            if let removal = try inbox.remove(Set(identifiers.map(\.id))) { return removal }
            let content = try inbox.content()
            known = Set(content.entries.map(\.id)).union(content.damagedEntries)
        } catch {
            throw CommandFailure(error)
        }
        let missing = identifiers.map(\.id).filter { !known.contains($0) }.map(\.description)
        throw CommandFailure(
            .refused,
            "no-entry",
            "The inbox has no entry \(missing.joined(separator: ", ")), and nothing was removed. See: nfc inbox list"
        )
    }

    private func show(_ removal: Inbox<DirectoryStore>.Removal) {
        let entries = removal.entries == 1 ? "1 entry" : "\(removal.entries) entries"
        let files = removal.damaged == 1 ? "1 damaged file" : "\(removal.damaged) damaged files"
        printLine("Removed \(removal.damaged == 0 ? entries : "\(entries) and \(files)").")
        for kept in removal.kept {
            StandardError.writeLine("Error: \(kept.reason) Remove it by hand.")
        }
    }

    private func printJSON(_ removal: Inbox<DirectoryStore>.Removal) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", removal.kept.isEmpty)
        if !removal.kept.isEmpty {
            writer.member("error", "not-removed")
            writer.member("message", removal.kept.map(\.reason).joined(separator: " ") + " Remove it by hand.")
        }
        writer.member("removed", removal.entries)
        writer.member("damaged", removal.damaged)
        writer.key("kept")
        writer.values(removal.kept.map { FileName.shown($0.name) })
        writer.endObject()
        writer.printLine()
    }
}

/// The identifier of an entry on the command line. It can also be the name of the entry's file, as damaged entries are
/// listed.
struct EntryArgument: ExpressibleByArgument {
    var id: InboxEntry.ID

    init?(argument: String) {
        let suffix = [".entry", ".new"].first(where: argument.hasSuffix) ?? ""
        guard let id = InboxEntry.ID(String(argument.dropLast(suffix.count))) else { return nil }
        self.id = id
    }
}
