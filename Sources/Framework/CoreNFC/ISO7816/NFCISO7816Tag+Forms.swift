// SPDX-License-Identifier: Apache-2.0
public import Foundation

// The other forms are extensions, not requirements, because clients write their own tag classes.
extension NFCISO7816Tag {
    /// Sends a command.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - resultHandler: called on the session's queue with the answer, or the error of the form with a completion
    ///     handler.
    @preconcurrency
    public func sendCommand(
        apdu: NFCISO7816APDU,
        resultHandler: @escaping @Sendable (Result<NFCISO7816ResponseAPDU, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        sendCommand(apdu: apdu) { data, sw1, sw2, error in
            handler.call(
                NFCISO7816ResponseAPDU(statusWord1: sw1, statusWord2: sw2, payload: data),
                error
            )
        }
    }

    /// Sends a command.
    ///
    /// - Parameter apdu: the command.
    /// - Returns: the data and the status word of the answer.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func sendCommand(apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
        try await withCompletion { continuation in
            sendCommand(apdu: apdu) { data, sw1, sw2, error in
                continuation.resume(with: (data, sw1, sw2), error)
            }
        }
    }

    /// Sends a command.
    ///
    /// - Parameter apdu: the command.
    /// - Returns: the answer.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    @_disfavoredOverload
    public func sendCommand(apdu: NFCISO7816APDU) async throws -> NFCISO7816ResponseAPDU {
        let (data, sw1, sw2): (Data, UInt8, UInt8) = try await sendCommand(apdu: apdu)
        return NFCISO7816ResponseAPDU(statusWord1: sw1, statusWord2: sw2, payload: data.isEmpty ? nil : data)
    }
}
