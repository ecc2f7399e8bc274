// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// Writes one message to a card. Serves as the delegate of a session that reports tags instead of messages.
@MainActor
final class MessageWriter: NSObject, NFCNDEFReaderSessionDelegate {
    private let message: NFCNDEFMessage
    private let onEnd: (any Error) -> Void
    private(set) var result = SessionResult()

    init(_ message: NFCNDEFMessage, onEnd: @escaping (any Error) -> Void) {
        self.message = message
        self.onEnd = onEnd
    }

    // MARK: NFCNDEFReaderSessionDelegate

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            session.alertMessage = Wording.moreThanOne
            DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
            return
        }
        Task { await write(to: tag, in: session) }
    }

    /// Required by the protocol, but never called: this delegate receives tags instead.
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) { onEnd(error) }

    // MARK: The card

    private func write(to tag: any NFCNDEFTag, in session: NFCNDEFReaderSession) async {
        var problem = Wording.cannotConnect
        do {
            try await session.connect(to: tag)
            problem = Wording.unknownStatus
            let (status, capacity) = try await tag.queryNDEFStatus()
            if let refusal = refusal(status, capacity) { return fail(session, refusal) }
            problem = Wording.writeFailed
            try await tag.writeNDEF(message)
        } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
            return fail(session, Wording.connectionLost)
        } catch NFCReaderError.ndefReaderSessionErrorTagNotWritable {
            return fail(session, Wording.readOnly)
        } catch {
            return fail(session, problem)
        }
        result.isWritten = true
        result.note = Wording.written
        session.alertMessage = Wording.written
        session.invalidate()
    }

    /// Why the message can't be written to this card; nil if it can.
    private func refusal(_ status: NFCNDEFStatus, _ capacity: Int) -> String? {
        // On Linux, the compiler knows that these are all cases. nfclint:disable SRC020
        switch status {
        case .notSupported: Wording.notSupported
        case .readOnly: Wording.readOnly
        case .readWrite:
            message.length > capacity ? Wording.tooSmall(needs: message.length, capacity: capacity) : nil
        }
    }

    private func fail(_ session: NFCNDEFReaderSession, _ text: String) {
        result.note = text
        session.invalidate(errorMessage: text)
    }
}
