// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// What the app does, whichever way it talks to people.
@MainActor
final class MessageReader {
    private(set) var store = MessageStore()
    private var scans = 0
    private var writes = 0
    /// The session that runs.
    private var session: NFCNDEFReaderSession?

    /// How a scan ended.
    struct ScanResult {
        /// The numbers of the messages that were added at the end of the list.
        var added: [Int] = []
        /// What an alert says; nil when the scan ended as a person expects.
        var alert: String?
        /// Whether there is no reader.
        var isWithoutReader = false
        /// What could not be saved.
        var failure: String?
    }

    /// Whether this machine has a reader.
    var canScan: Bool { NFCNDEFReaderSession.readingAvailable }

    /// Opens the saved messages.
    ///
    /// - Returns: a sentence to show, when they could not be read.
    func load() -> String? {
        do {
            return try store.load()
        } catch {
            return error.text
        }
    }

    /// Takes over what other instances of the app have changed.
    ///
    /// - Returns: the numbers of the messages that they added; nil when nothing has changed.
    func reload() -> [Int]? {
        let before = Set(store.messages.map(\.number))
        guard store.reload() else { return nil }
        return store.messages.map(\.number).filter { !before.contains($0) }
    }

    /// Scans, and adds what is found to the list.
    ///
    /// - Parameters:
    ///   - readsMany: goes on after the first card.
    ///   - limit: ends after so many messages; nil for no limit.
    func scan(readsMany: Bool, limit: Int? = nil) async -> ScanResult {
        let prompt = scans > 0 ? Wording.scanAgain : Wording.scan
        scans += 1
        var result = ScanResult()
        defer { session = nil }
        let end = await Scanner.scan(prompt: readsMany ? Wording.scanMany : prompt, readsMany: readsMany) {
            session = $0
        } handle: { messages in
            do throws(MessageStore.Failure) {
                result.added += try store.append(messages)
            } catch {
                result.failure = error.text
            }
            guard result.failure == nil, let limit else { return result.failure == nil }
            return result.added.count < limit
        }
        // A scan of many cards has no other end than its time.
        let isDone = readsMany && limit == nil && !result.added.isEmpty
        result.alert =
            isDone && end.code == .readerSessionInvalidationErrorSessionTimeout ? nil : Wording.alert(for: end)
        result.isWithoutReader = Wording.isWithoutReader(end.code)
        return result
    }

    /// Writes a message of the list to a card.
    func write(_ message: StoredMessage) async -> MessageWriter.Result {
        let prompt = writes > 0 ? Wording.writeAgain : Wording.write
        writes += 1
        defer { session = nil }
        return await MessageWriter.write(message.message, prompt: prompt) { session = $0 }
    }

    /// Ends the scan or the write that runs, as Cancel on the sheet does.
    func cancel() {
        session?.invalidate(errorMessage: Wording.cancelled)
    }

    /// Keeps a message that came of a card while the app was not in front.
    ///
    /// - Parameter isNew: whether nobody can see it now.
    /// - Returns: its number; nil when it could not be saved.
    func receive(_ message: NFCNDEFMessage, isNew: Bool) -> Int? {
        try? store.append([message], isNew: isNew).first
    }

    func remove(_ number: Int) throws(MessageStore.Failure) {
        try store.remove(number)
    }

    /// Notes that a message was shown. When that can't be saved it counts as new still.
    func markSeen(_ number: Int) {
        try? store.markSeen(number)
    }
}
