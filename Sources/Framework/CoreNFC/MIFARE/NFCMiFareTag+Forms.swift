// SPDX-License-Identifier: Apache-2.0
public import Foundation

// The other forms are extensions, not requirements, because clients write their own tag classes.
extension NFCMiFareTag {
    /// Sends a native command of the card.
    ///
    /// - Parameters:
    ///   - command: the command, without its checksum.
    ///   - resultHandler: called on the session's queue with the answer, or the error of the form with a completion
    ///     handler.
    @preconcurrency
    public func sendMiFareCommand(
        commandPacket command: Data,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        sendMiFareCommand(commandPacket: command) { data, error in handler.call(data, error) }
    }

    /// Sends a native command of the card.
    ///
    /// - Parameter command: the command, without its checksum.
    /// - Returns: the answer.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func sendMiFareCommand(commandPacket command: Data) async throws -> Data {
        try await withCompletion { continuation in
            sendMiFareCommand(commandPacket: command) { data, error in continuation.resume(with: data, error) }
        }
    }

    /// Sends a command of ISO/IEC 7816-4 to a Plus or DESFire.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - resultHandler: called on the session's queue with the answer, or the error of the form with a completion
    ///     handler.
    @preconcurrency
    public func sendMiFareISO7816Command(
        _ apdu: NFCISO7816APDU,
        resultHandler: @escaping @Sendable (Result<NFCISO7816ResponseAPDU, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        sendMiFareISO7816Command(apdu) { data, sw1, sw2, error in
            handler.call(
                NFCISO7816ResponseAPDU(statusWord1: sw1, statusWord2: sw2, payload: data),
                error
            )
        }
    }

    /// Sends a command of ISO/IEC 7816-4 to a Plus or DESFire.
    ///
    /// - Parameter apdu: the command.
    /// - Returns: the data and the status word of the answer.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func sendMiFareISO7816Command(_ apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
        try await withCompletion { continuation in
            sendMiFareISO7816Command(apdu) { data, sw1, sw2, error in
                continuation.resume(with: (data, sw1, sw2), error)
            }
        }
    }

    /// Sends a command of ISO/IEC 7816-4 to a Plus or DESFire.
    ///
    /// - Parameter apdu: the command.
    /// - Returns: the answer.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    @_disfavoredOverload
    public func sendMiFareISO7816Command(_ apdu: NFCISO7816APDU) async throws -> NFCISO7816ResponseAPDU {
        let (data, sw1, sw2): (Data, UInt8, UInt8) = try await sendMiFareISO7816Command(apdu)
        return NFCISO7816ResponseAPDU(statusWord1: sw1, statusWord2: sw2, payload: data.isEmpty ? nil : data)
    }
}
