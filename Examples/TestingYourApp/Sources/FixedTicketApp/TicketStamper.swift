// SPDX-License-Identifier: Apache-2.0
// Example code for tests, kept short. nfclint:disable:file SRC001 SRC003
#if canImport(CoreNFC)
    @preconcurrency import CoreNFC
    import Foundation

    /// Stamps a ticket: reads the text on a tag, and writes it back with the stamp appended.
    public final class TicketStamper: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
        // Sendable because every property is used only on the main queue once the session has begun.
        private var session: NFCNDEFReaderSession?
        private var continuation: CheckedContinuation<String, any Error>?
        private var stamp = ""

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
                    guard status == .readWrite else { return fail(TicketError.notWritable) }
                    tag.readNDEF { [self] message, error in
                        guard let text = message?.records.first?.wellKnownTypeTextPayload().0 else {
                            return fail(error ?? TicketError.noTicket)
                        }
                        write("\(text) \(stamp)", to: tag, capacity: capacity)
                    }
                }
            }
        }

        private func write(_ text: String, to tag: any NFCNDEFTag, capacity: Int) {
            let payload = NFCNDEFPayload.wellKnownTypeTextPayload(string: text, locale: Locale(identifier: "en"))
            let message = NFCNDEFMessage(records: [payload].compactMap(\.self))
            guard message.length <= capacity else { return fail(TicketError.full, "This ticket is full.") }
            tag.writeNDEF(message) { [self] error in
                if let error { return fail(error) }
                session?.alertMessage = "The ticket is stamped."
                session?.invalidate()
                finish(.success(text))
            }
        }

        public func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
            finish(.failure(error))
        }

        private func fail(
            _ error: any Error,
            _ text: String = "The ticket was not stamped. Hold it still, and try again."
        ) {
            session?.invalidate(errorMessage: text)
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
        /// The ticket holds no text.
        case noTicket
        /// The stamp does not fit.
        case full
    }
#endif
