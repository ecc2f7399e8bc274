// SPDX-License-Identifier: Apache-2.0
// The bugs in this file are deliberate, for the tests to find. nfclint:disable:file
#if canImport(CoreNFC)
    @preconcurrency import CoreNFC
    import Foundation

    /// Stamps a ticket: reads the text on a tag, and writes it back with the stamp appended.
    ///
    /// Works as long as the tag stays in the field and has enough space. Contains three deliberate bugs.
    public final class TicketStamper: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
        // Sendable because every property is used only on the main queue once the session has begun.
        private var session: NFCNDEFReaderSession?
        private var continuation: CheckedContinuation<String, any Error>?

        /// Stamps the next ticket.
        ///
        /// - Parameter stamp: the text to append.
        /// - Returns: the ticket's text, including the stamp.
        public func stamp(_ stamp: String) async throws -> String {
            self.stamp = stamp
            return try await withCheckedThrowingContinuation { continuation in
                self.continuation = continuation
                let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                session.alertMessage = "Hold the ticket near the phone."
                self.session = session
                session.begin()
            }
        }

        private var stamp = ""

        public func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

        public func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
            guard let tag = tags.first, tags.count == 1 else {
                session.alertMessage = "Hold only one ticket near the phone."
                return session.restartPolling()
            }
            session.connect(to: tag) { [self] error in
                if let error { return fail(error) }
                tag.queryNDEFStatus { [self] status, capacity, error in
                    if let error { return fail(error) }
                    guard status == .readWrite else {
                        // Bug: the sheet stays until the session times out after a minute.
                        return finish(.failure(TicketError.notWritable))
                    }
                    tag.readNDEF { [self] message, error in
                        // Bug: if the tag is lost here, the continuation is never resumed, and the sheet stays.
                        guard let text = message?.records.first?.wellKnownTypeTextPayload().0 else { return }
                        // Bug: the size is not checked. The tag refuses the write, and the user sees no reason.
                        write("\(text) \(stamp)", to: tag)
                    }
                }
            }
        }

        private func write(_ text: String, to tag: any NFCNDEFTag) {
            let payload = NFCNDEFPayload.wellKnownTypeTextPayload(string: text, locale: Locale(identifier: "en"))
            tag.writeNDEF(NFCNDEFMessage(records: [payload].compactMap(\.self))) { [self] error in
                if let error {
                    if (error as? NFCReaderError)?.code == .ndefReaderSessionErrorTagSizeTooSmall {
                        session?.invalidate()
                        return finish(.failure(error))
                    }
                    return fail(error)
                }
                session?.alertMessage = "The ticket is stamped."
                session?.invalidate()
                finish(.success(text))
            }
        }

        public func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
            // Bug, together with the lost continuation above: the timeout error is dropped.
            let code = (error as? NFCReaderError)?.code
            if code == .readerSessionInvalidationErrorUserCanceled { finish(.failure(error)) }
        }

        private func fail(_ error: any Error) {
            session?.invalidate(errorMessage: "The ticket was not stamped. Hold it still, and try again.")
            finish(.failure(error))
        }

        private func finish(_ result: Result<String, any Error>) {
            continuation?.resume(with: result)
            continuation = nil
        }
    }

    /// Why a ticket could not be stamped.
    public enum TicketError: Error {
        /// The ticket is locked.
        case notWritable
    }
#endif
