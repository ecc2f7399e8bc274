// SPDX-License-Identifier: Apache-2.0

// The asynchronous forms are extensions, not requirements, because clients write their own tag classes.
extension NFCNDEFTag {
    /// Asks whether the tag is formatted for NDEF, whether it can be written, and how much it holds.
    ///
    /// - Returns: the status, and the length of the longest message that fits, in bytes (0 when NDEF is not supported).
    /// - Throws: `NFCReaderError` when the tag was lost or is not connected.
    public func queryNDEFStatus() async throws -> (NFCNDEFStatus, Int) {
        try await withCompletion { continuation in
            queryNDEFStatus { status, capacity, error in
                if let error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: (status, capacity))
                }
            }
        }
    }

    /// Reads the message.
    ///
    /// - Returns: the message.
    /// - Throws: `NFCReaderError` as for the form with a completion handler.
    public func readNDEF() async throws -> NFCNDEFMessage {
        try await withCompletion { continuation in
            readNDEF { message, error in
                if let message {
                    continuation.resume(returning: message)
                } else {
                    continuation.resume(
                        throwing: error ?? NFCReaderError(.readerTransceiveErrorTagResponseError)
                    )
                }
            }
        }
    }

    /// Writes a message. If the tag is lost meanwhile, it holds the old message, no message, or the new one.
    ///
    /// - Parameter ndefMessage: the message.
    /// - Throws: `NFCReaderError` as for the form with a completion handler.
    public func writeNDEF(_ ndefMessage: NFCNDEFMessage) async throws {
        try await withCompletion { continuation in
            writeNDEF(ndefMessage) { error in continuation.resume(with: error) }
        }
    }

    /// Makes the tag read-only, permanently.
    ///
    /// - Throws: `NFCReaderError` as for the form with a completion handler.
    public func writeLock() async throws {
        try await withCompletion { continuation in
            writeLock { error in continuation.resume(with: error) }
        }
    }
}
