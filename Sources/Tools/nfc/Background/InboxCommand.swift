// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import NDEF
import TagLink
import TextSafety
import UserBus

struct InboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Show, open and clear the tags that were read in the background and not opened.",
        subcommands: [InboxListCommand.self, InboxOpenCommand.self, InboxClearCommand.self]
    )
}

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
        let content = try user.inbox().content()
        let router = try user.router()
        for entry in content.entries { show(entry, router) }
        for name in content.damaged {
            let text =
                "\(name) in the inbox is damaged, or is not an entry, and can't be opened. "
                + "Remove it: nfc inbox clear --damaged"
            if json {
                CommandFailure("damaged-entry", text).print(json: true)
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
        let content = uri.flatMap { NotificationContent($0, router: router) }
        let age = ageText(seconds: UserEnvironment.now - Int64(entry.id.received / 1000))
        printResult(
            json: json,
            [
                "ok": true, "id": entry.id.description, "received_ms": Int(entry.id.received),
                "announced": entry.isAnnounced, "uri": uri?.text, "opens": uri.flatMap { router.route($0).target },
                "can_open": content?.actionTitle != nil, "message_hex": entry.message.hexText(),
            ],
            ["\(entry.id)  \(content?.body ?? "Nothing to open")  (\(age))"]
        )
    }
}

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

            Exit status: 0 when the entry was opened, 1 when it stays in the inbox.
            """
    )

    @Argument(help: "The entry's identifier, 20 digits. Default: the newest entry.")
    var identifier: EntryArgument?

    @Flag(help: "Also open links with an app's own scheme. Phones do this; Apple's documents don't mention it.")
    var allowCustomSchemes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let user = UserEnvironment()
        let inbox = try user.inbox()
        let entry = try choose(inbox)
        switch ScreenLock.ask() {
        case .unlocked: break
        case .locked: throw locked(entry.id)
        case .unknown(let reason):
            throw CommandFailure("locked", "The screen counts as locked: \(reason) Try again when it answers.")
        }
        let router = try user.router(allowsCustomSchemes: allowCustomSchemes)
        guard let delivery = Delivery(message: entry.message, router: router) else {
            throw CommandFailure("nothing-to-open", "The entry has no link that can be opened.")
        }
        let claim = try claim(entry.id, inbox)
        defer { withExtendedLifetime(claim) {} }
        let receipt = try open(delivery, user.deliverer)
        try inbox.remove(entry.id)
        let target = Self.text(delivery, receipt)
        printResult(
            json: json,
            ["ok": true, "opened_in": target, "app": receipt.app, "with_message": receipt.hasMessage],
            ["Opened in \(target)"]
        )
    }

    private func choose(_ inbox: Inbox<PrivateFolder>) throws -> InboxEntry {
        let content = try inbox.content()
        guard let wanted = identifier?.id else {
            if let newest = content.entries.last { return newest }
            guard content.damaged.isEmpty else {
                let message = "All entries in the inbox are damaged, so there is nothing to open. See: nfc inbox list"
                throw CommandFailure("damaged-entry", message)
            }
            throw CommandFailure("no-entry", "The inbox is empty, so there is nothing to open.")
        }
        if let entry = content.entries.first(where: { $0.id == wanted }) { return entry }
        guard content.damagedEntries.contains(wanted) else { throw missing(wanted) }
        throw CommandFailure(
            "damaged-entry",
            """
            The file of entry \(wanted) is damaged, so its link can't be opened. Hold the tag near the reader again, and \
            remove the entry: nfc inbox clear \(wanted)
            """
        )
    }

    /// Claims the entry until it is opened and removed, so that a click and a command can't both open it.
    private func claim(_ id: InboxEntry.ID, _ inbox: Inbox<PrivateFolder>) throws -> FileClaim {
        do throws(StorageError) {
            return try inbox.claim(id)
        } catch {
            if error.code == .missing { throw missing(id) }
            guard error.code == .inUse else { throw error }
            let message = "Entry \(id) is already being opened, by its notification or by another nfc inbox open."
            throw CommandFailure("being-opened", message)
        }
    }

    private func missing(_ id: InboxEntry.ID) -> CommandFailure {
        let message = "The inbox has no entry \(id). It may have been opened already. See: nfc inbox list"
        return CommandFailure("no-entry", message)
    }

    private func locked(_ id: InboxEntry.ID) -> CommandFailure {
        let answer = try? RunningService.ask("Open", [.string(id.description)])
        let next =
            answer == "locked"
            ? "The link opens when the screen is unlocked." : "Unlock it, then open the entry."
        return CommandFailure("locked", "The screen is locked. \(next)")
    }

    private func open(_ delivery: Delivery, _ deliverer: LinkDeliverer) throws -> LinkDeliverer.Receipt {
        do throws(DeliveryError) {
            return try deliverer.deliver(delivery)
        } catch {
            // The reason comes last, because it may end with a command to copy.
            let text = "The link was not opened, and its entry stays in the inbox. \(error.reason)"
            throw CommandFailure(error.code.rawValue, text)
        }
    }

    /// Describes where a link was opened, or would be opened if there is no receipt.
    static func text(_ delivery: Delivery, _ receipt: LinkDeliverer.Receipt?) -> String {
        switch delivery {
        case .app(let app, _): receipt?.hasMessage ?? true ? app.id : "\(app.id), without the message"
        case .customScheme(let app, _): app.id
        case .browser: "the browser" + (receipt?.app.map { ", \($0)" } ?? "")
        case .system(let scheme, _): "the system's app for \(scheme.rawValue)" + (receipt?.app.map { ", \($0)" } ?? "")
        }
    }
}

struct InboxClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove entries and damaged files from the inbox.",
        discussion: """
            Examples:
              nfc inbox clear
              nfc inbox clear 019fb0c2d4e11a2b3c4d
              nfc inbox clear --damaged

            An identifier can also name a damaged entry. Empty folders are removed too.

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
        guard identifiers.isEmpty || !damaged else { throw ValidationError("Give identifiers or --damaged, not both.") }
    }

    func run() async throws {
        let removal = try remove(try UserEnvironment().inbox())

        let entries = removal.entries == 1 ? "1 entry" : "\(removal.entries) entries"
        let files = removal.damaged == 1 ? "1 damaged file" : "\(removal.damaged) damaged files"
        var problem: JSONObject = [:]
        if !removal.kept.isEmpty {
            let message = removal.kept.map(\.reason).joined(separator: " ") + " Remove it by hand."
            problem = ["error": "not-removed", "message": message]
        }
        printResult(
            json: json,
            ["ok": removal.kept.isEmpty] + problem + [
                "removed": removal.entries, "damaged": removal.damaged,
                "kept": removal.kept.map(\.name),
            ],
            ["Removed \(removal.damaged == 0 ? entries : "\(entries) and \(files)")."]
        )
        guard !removal.kept.isEmpty else { return }
        if !json {
            for kept in removal.kept { StandardError.writeLine("Error: \(kept.reason) Remove it by hand.") }
        }
        throw ExitCode(CommandFailure.Status.refused.rawValue)
    }

    private func remove(_ inbox: Inbox<PrivateFolder>) throws -> Inbox<PrivateFolder>.Removal {
        if damaged { return try inbox.removeDamaged() }
        if identifiers.isEmpty { return try inbox.clear() }
        if let removal = try inbox.remove(Set(identifiers.map(\.id))) { return removal }
        let content = try inbox.content()
        let knownIDs = Set(content.entries.map(\.id)).union(content.damagedEntries)
        let missing = identifiers.map(\.id).filter { !knownIDs.contains($0) }.map(\.description)
        throw CommandFailure(
            "no-entry",
            "The inbox has no entry \(missing.joined(separator: ", ")), and nothing was removed. See: nfc inbox list"
        )
    }
}

/// An entry's identifier on the command line. The name of the entry's file is accepted too, because damaged entries are
/// listed by file name.
struct EntryArgument: ExpressibleByArgument {
    var id: InboxEntry.ID

    init?(argument: String) {
        let suffix = [".entry", ".new"].first(where: argument.hasSuffix) ?? ""
        guard let id = InboxEntry.ID(String(argument.dropLast(suffix.count))) else { return nil }
        self.id = id
    }
}
