// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// The app's functions, for all of its interfaces.
@MainActor
final class MessageReader {
    private(set) var store = MessageStore()
    private var scans = 0
    private var writes = 0
    /// The result of the running scan so far, or of the last one.
    private var result = ScanResult()
    /// The session that runs.
    private var session: NFCNDEFReaderSession?

    /// How a scan ended.
    struct ScanResult {
        /// The numbers of the messages that were added at the end of the list, saved or not.
        var added: [Int] = []
        /// The text of an alert; nil when the scan ended as a person expects.
        var alert: String?
        /// Whether there is no reader.
        var isWithoutReader = false
        /// A sentence about what could not be saved.
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
        let prompt = scans > 0 ? Wording.scanAgain : Wording.scan
        scans += 1
        result = ScanResult()
        defer { session = nil }
        let end = await Scanner.scan(prompt: readsMany ? Wording.scanMany : prompt, readsMany: readsMany) {
            session = $0
        } handle: { [self] messages in
            keep(messages, readsMany: readsMany, limit: limit)
        }
        // A scan of many cards ends only when its time is over.
        let isDone = readsMany && limit == nil && !result.added.isEmpty
        result.alert =
            isDone && end.code == .readerSessionInvalidationErrorSessionTimeout ? nil : Wording.alert(for: end)
        result.isWithoutReader = Wording.isWithoutReader(end.code)
        return result
    }

    /// Adds the messages of a scan to the list.
    ///
    /// - Returns: the answer that the sheet shows.
    private func keep(_ messages: [NFCNDEFMessage], readsMany: Bool, limit: Int?) -> Scanner.Answer {
        let addition = store.append(messages)
        result.added += addition.numbers
        if let failure = addition.failure {
            result.failure = Self.text(for: failure)
            return .failed(Wording.notSaved(failure.cause))
        }
        guard readsMany else { return .goesOn(Wording.found) }
        return limit.map { result.added.count >= $0 } ?? false ? .done(Wording.found) : .goesOn(Wording.scanNext)
    }

    /// Writes a message of the list to a card.
    func write(_ message: StoredMessage) async -> MessageWriter.Result {
        let prompt = writes > 0 ? Wording.writeAgain : Wording.write
        writes += 1
        defer { session = nil }
        return await MessageWriter.write(message.message, prompt: prompt) { session = $0 }
    }

    /// Ends the running scan or write, as Cancel on the sheet does.
    func cancel() {
        session?.invalidate(errorMessage: Wording.cancelled)
    }

    /// The result of receiving a message in the background.
    struct Receipt {
        var number: Int
        /// Why the message could not be saved; nil when it was.
        var failure: String?
    }

    /// Saves a message that came from a card in the background. If it can't be saved but a person can see it now, it stays in
    /// the list.
    ///
    /// - Parameter isNew: whether nobody sees it now.
    func receive(_ message: NFCNDEFMessage, isNew: Bool) -> Receipt? {
        // The service sends a message again if it could not be saved.
        if let number = store.unsavedNumber(of: message) { try? store.remove(number) }
        let addition = store.append([message], isNew: isNew)
        guard let number = addition.numbers.first else { return nil }
        guard let failure = addition.failure else { return Receipt(number: number) }
        guard isNew else { return Receipt(number: number, failure: Self.text(for: failure)) }
        try? store.remove(number)
        return Receipt(number: number, failure: failure.text)
    }

    private static func text(for failure: MessageStore.Failure) -> String {
        "\(failure.text) \(Wording.staysUnsaved)"
    }

    func remove(_ number: Int) throws(MessageStore.Failure) {
        try store.remove(number)
    }

    /// Marks a message as shown. If that can't be saved, the message stays marked as new.
    func markSeen(_ number: Int) {
        try? store.markSeen(number)
    }
}
