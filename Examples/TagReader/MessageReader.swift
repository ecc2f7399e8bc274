// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// What the app does, whichever way it talks to people.
@MainActor
final class MessageReader {
    private(set) var store = MessageStore()
    private var scans = 0
    private var writes = 0

    /// How a scan ended.
    struct ScanResult {
        /// How many messages were added at the end of the list.
        var added = 0
        /// What an alert says; nil when the scan ended as a person expects.
        var alert: String?
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

    /// Scans, and adds what is found to the list.
    ///
    /// - Parameters:
    ///   - readsMany: goes on after the first card.
    ///   - limit: ends after so many messages; nil for no limit.
    func scan(readsMany: Bool, limit: Int? = nil) async -> ScanResult {
        guard canScan else { return ScanResult(alert: Wording.unavailable) }
        let prompt = scans > 0 ? Wording.scanAgain : Wording.scan
        scans += 1
        var result = ScanResult()
        let end = await Scanner.scan(prompt: readsMany ? Wording.scanMany : prompt, readsMany: readsMany) { messages in
            do throws(MessageStore.Failure) {
                for message in messages { try store.append(StoredMessage(message)) }
                result.added += messages.count
            } catch {
                result.failure = error.text
            }
            guard result.failure == nil, let limit else { return result.failure == nil }
            return result.added < limit
        }
        // A scan of many cards has no other end than its time.
        let isDone = readsMany && limit == nil && result.added > 0
        result.alert =
            isDone && end.code == .readerSessionInvalidationErrorSessionTimeout ? nil : Wording.alert(for: end)
        return result
    }

    /// Writes a message of the list to a card.
    func write(_ index: Int) async -> MessageWriter.Result {
        guard canScan else { return .ended(.readerErrorUnsupportedFeature, alert: Wording.unavailable) }
        let prompt = writes > 0 ? Wording.writeAgain : Wording.write
        writes += 1
        return await MessageWriter.write(store.messages[index].message, prompt: prompt)
    }

    /// Keeps a message that came of a card while the app was not in front.
    ///
    /// - Returns: its index; nil when it could not be saved.
    func receive(_ message: NFCNDEFMessage) -> Int? {
        do throws(MessageStore.Failure) {
            // Another run of the app may have changed the list.
            _ = try store.load()
            try store.append(StoredMessage(message))
        } catch {
            return nil
        }
        return store.messages.count - 1
    }

    func remove(_ index: Int) throws(MessageStore.Failure) {
        try store.remove(at: index)
    }
}
