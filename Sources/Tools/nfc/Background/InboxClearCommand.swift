// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import TextSafety

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

    private func remove(_ inbox: Inbox<PrivateFolder>) throws(CommandFailure) -> Inbox<PrivateFolder>.Removal {
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

    private func show(_ removal: Inbox<PrivateFolder>.Removal) {
        let entries = removal.entries == 1 ? "1 entry" : "\(removal.entries) entries"
        let files = removal.damaged == 1 ? "1 damaged file" : "\(removal.damaged) damaged files"
        printLine("Removed \(removal.damaged == 0 ? entries : "\(entries) and \(files)").")
        for kept in removal.kept {
            StandardError.writeLine("Error: \(kept.reason) Remove it by hand.")
        }
    }

    private func printJSON(_ removal: Inbox<PrivateFolder>.Removal) {
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
        writer.values(removal.kept.map(\.name))
        writer.endObject()
        writer.printLine()
    }
}
