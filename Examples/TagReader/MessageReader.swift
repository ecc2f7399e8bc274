// SPDX-License-Identifier: Apache-2.0
import CoreNFC

/// The app's functions, for all of its interfaces: it scans messages into a list, and writes them to cards.
@MainActor
final class MessageReader {
    private(set) var store = MessageStore()
    private var hasScanned = false
    /// The session that runs.
    private var session: NFCNDEFReaderSession?

    /// How a scan ended.
    struct ScanResult {
        /// The numbers of the messages that were added to the list.
        var added: [Int] = []
        /// The text of an alert; nil when the scan ended as a person expects.
        var alert: String?
        /// Whether there is no reader.
        var isWithoutReader = false
    }

    /// Whether this machine has a reader.
    var canScan: Bool { NFCNDEFReaderSession.readingAvailable }

    /// The title of the alert after a session that ended by itself.
    var endTitle: String { canScan ? Wording.endedTitle : Wording.unavailableTitle }

    /// Opens the saved messages.
    ///
    /// - Returns: a sentence to show when they could not be read.
    func load() -> String? {
        do {
            try store.load()
            return nil
        } catch {
            return error.text
        }
    }

    /// Loads the changes of other instances of the app.
    ///
    /// - Returns: the numbers of the messages that they added; nil when nothing has changed.
    func reload() -> [Int]? {
        let before = Set(store.messages.map(\.number))
        guard store.reload() else { return nil }
        return store.messages.map(\.number).filter { !before.contains($0) }
    }

    /// Scans, and adds the messages to the list.
    ///
    /// - Parameters:
    ///   - readsMany: whether to continue after the first card.
    ///   - limit: how many messages to read; nil for no limit.
    func scan(readsMany: Bool, limit: Int? = nil) async -> ScanResult {
        let prompt = readsMany ? Wording.scanMany : hasScanned ? Wording.scanAgain : Wording.scan
        hasScanned = true
        var result = ScanResult()
        let end = await Scanner.scan(prompt: prompt, readsMany: readsMany) {
            session = $0
        } handle: { [self] messages in
            do throws(MessageStore.Failure) {
                result.added += try store.append(messages)
            } catch {
                result.alert = error.text
                return .failed(Wording.notSaved)
            }
            guard readsMany else { return .continues(Wording.found) }
            return limit.map { result.added.count >= $0 } ?? false
                ? .done(Wording.found) : .continues(Wording.scanNext)
        }
        session = nil
        // A scan of many cards ends only when its time is over.
        let isDone = readsMany && limit == nil && !result.added.isEmpty
        if !(isDone && end.code == .readerSessionInvalidationErrorSessionTimeout) {
            result.alert = result.alert ?? Wording.alert(for: end)
        }
        result.isWithoutReader = Wording.isWithoutReader(end.code)
        return result
    }

    /// Writes a message of the list to a card.
    func write(_ message: StoredMessage) async -> MessageWriter.Result {
        defer { session = nil }
        return await MessageWriter.write(message.message, prompt: Wording.write) { session = $0 }
    }

    /// Ends the running scan or write, as Cancel on the sheet does.
    func cancel() { session?.invalidate(errorMessage: Wording.cancelled) }

    /// Saves a message that came from a card in the background.
    ///
    /// - Parameter isNew: whether nobody sees it now.
    /// - Returns: its number.
    func receive(_ message: NFCNDEFMessage, isNew: Bool) throws(MessageStore.Failure) -> Int? {
        try store.append([message], isNew: isNew).first
    }

    func remove(_ number: Int) throws(MessageStore.Failure) { try store.remove(number) }

    /// Marks a message as shown. If that can't be saved, the message stays marked as new.
    func markSeen(_ number: Int) { try? store.markSeen(number) }
}
