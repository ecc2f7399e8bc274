// SPDX-License-Identifier: Apache-2.0
import CoreNFC

/// Scans cards into the app's list of messages, and writes messages from the list to other cards.
///
/// This object is the delegate of each scan session. For a write session, the delegate is ``MessageWriter``.
@MainActor
final class MessageReader: NSObject, NFCNDEFReaderSessionDelegate {
    var store = MessageStore()
    private var hasScanned = false
    /// The running session, and the task that waits for its end.
    private var session: NFCNDEFReaderSession?
    private var waiter: CheckedContinuation<NFCReaderError, Never>?
    /// The running scan: whether it continues after the first card, how many messages to read, and the result so far.
    private var scan = (readsMany: false, limit: Int?.none, result: SessionResult())

    /// Whether this machine has a reader.
    var canScan: Bool { NFCNDEFReaderSession.readingAvailable }

    /// The title of the alert shown when a session ends because of an error.
    var endTitle: String { canScan ? Wording.endedTitle : Wording.unavailableTitle }

    // MARK: Sessions

    /// Scans, and adds the messages to the list. `limit` is the number of messages to read; nil means no limit.
    func scan(readsMany: Bool, limit: Int? = nil) async -> SessionResult {
        let prompt = readsMany ? Wording.scanMany : hasScanned ? Wording.scanAgain : Wording.scan
        scan = (readsMany, limit, SessionResult())
        let end = await run(self, prompt, readsOne: !readsMany)
        var result = scan.result
        // After a scan that failed, the user tries the same card again.
        if !result.added.isEmpty { hasScanned = true }
        // A scan of many cards normally ends by timeout.
        let isDone = readsMany && limit == nil && !result.added.isEmpty
        if result.alert == nil, !(isDone && end.code == .readerSessionInvalidationErrorSessionTimeout) {
            result.alert = Wording.alert(for: end)
        }
        if !result.added.isEmpty {
            result.note =
                result.added.count == 1 ? "1 message was added." : "\(result.added.count) messages were added."
        }
        result.lacksReader = Wording.meansNoReader(end.code)
        return result
    }

    /// Writes a message from the list to a card.
    func write(_ message: StoredMessage) async -> SessionResult {
        let writer = MessageWriter(message.message) { [self] error in sessionEnded(error) }
        let end = await run(writer, Wording.write, readsOne: false)
        var result = writer.result
        result.alert = result.note.isEmpty ? Wording.alert(for: end) : nil
        result.lacksReader = Wording.meansNoReader(end.code)
        return result
    }

    /// Ends the running scan or write, like Cancel on the scanning sheet.
    func cancel() {
        // The text is clear without the symbol. nfclint:disable SRC015
        session?.invalidate(errorMessage: Wording.cancelled)
    }

    /// Runs a session until it ends.
    private func run(
        _ delegate: any NFCNDEFReaderSessionDelegate,
        _ prompt: String,
        readsOne: Bool
    ) async -> NFCReaderError {
        // The user interface offers this action only if the machine has a reader. nfclint:disable SRC001
        let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: readsOne)
        session.alertMessage = prompt
        self.session = session
        defer { self.session = nil }
        return await withCheckedContinuation { continuation in
            waiter = continuation
            session.begin()
        }
    }

    private func sessionEnded(_ error: any Error) {
        // The framework reports no other errors.
        waiter?.resume(
            returning: error as? NFCReaderError ?? NFCReaderError(.readerSessionInvalidationErrorUserCanceled)
        )
        waiter = nil
    }

    // MARK: NFCNDEFReaderSessionDelegate

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        do throws(Failure) {
            scan.result.added += try store.append(messages, from: .scan)
        } catch {
            scan.result.alert = error.text
            // The text is clear without the symbol. nfclint:disable SRC015
            return session.invalidate(errorMessage: Wording.notSaved)
        }
        let isLast = !scan.readsMany || scan.limit.map { scan.result.added.count >= $0 } ?? false
        session.alertMessage = isLast ? Wording.found : Wording.scanNext
        // A scan of one card ends by itself.
        if isLast, scan.readsMany { session.invalidate() }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        self.session = nil
        sessionEnded(error)
    }
}

/// How a scan or a write ended.
struct SessionResult {
    /// The numbers of the messages that were added to the list.
    var added: [Int] = []
    /// Whether the message was written to a card.
    var isWritten = false
    /// A sentence that says what was added or written, or why the card was refused. Empty if nothing happened.
    var note = ""
    /// The text of an alert; nil if the session ended normally.
    var alert: String?
    /// Whether there is no reader.
    var lacksReader = false
}
