// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A MIFARE card: Ultralight, NTAG, Plus or DESFire. MIFARE Classic is never detected, as on a phone.
///
/// Connect the session to the tag before a command. Completion handlers are called once, on the session's queue.
public protocol NFCMiFareTag: NFCNDEFTag, __NFCTag {
    /// The family of the card.
    var mifareFamily: NFCMiFareFamily { get }

    /// The UID: 4, 7 or 10 bytes. Empty if the reader does not report it.
    var identifier: Data { get }

    /// The historical bytes of the answer to select; nil when the card has none, such as an Ultralight.
    var historicalBytes: Data? { get }

    /// Sends a native command of the card.
    ///
    /// For an Ultralight or NTAG, it is the command without its checksum: `[0x30, 4]` reads four pages from page 4. An
    /// answer of four bits becomes one byte: `0x0A` means that a write succeeded.
    ///
    /// For a Plus or DESFire, it is a native command. The answer begins with its status. When the status is `AF`, the
    /// app has to request the frames that follow.
    ///
    /// - Parameters:
    ///   - command: the command, without its checksum.
    ///   - completionHandler: called with the answer, or an ``NFCReaderError`` as for an APDU.
    @preconcurrency
    func sendMiFareCommand(
        commandPacket command: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Sends a command of ISO/IEC 7816-4 to a Plus or DESFire.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - completionHandler: called with the data and the status word of the answer, or an ``NFCReaderError`` as
    ///     ``NFCISO7816Tag/sendCommand(apdu:completionHandler:)``; `readerErrorUnsupportedFeature` for an Ultralight.
    @preconcurrency
    func sendMiFareISO7816Command(
        _ apdu: NFCISO7816APDU,
        completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    )
}

/// The family of a MIFARE card.
public enum NFCMiFareFamily: UInt, Sendable {
    /// A card that is compatible with ISO/IEC 14443-3A, of an unknown family.
    case unknown = 1
    /// MIFARE Ultralight, and NTAG.
    case ultralight = 2
    /// MIFARE Plus.
    case plus = 3
    /// MIFARE DESFire.
    case desfire = 4
}

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
