// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A card with an application of the app's list (`com.apple.developer.nfc.readersession.iso7816.select-identifiers` in
/// the property list). The application is selected when the card is found.
///
/// Connect the session to the tag before a command. While the session is connected to no tag, the first APDU connects
/// it. Completion handlers are called once, on the session's queue.
public protocol NFCISO7816Tag: NFCNDEFTag, __NFCTag {
    /// The application that was selected when the card was found, in upper-case hexadecimal digits: the first in the app's
    /// list that the card has.
    var initialSelectedAID: String { get }

    /// The UID of an NFC-A card, or the PUPI of an NFC-B card. Empty if the reader does not report it.
    var identifier: Data { get }

    /// The historical bytes of an NFC-A card's answer to select; nil when there are none.
    var historicalBytes: Data? { get }

    /// The application data of an NFC-B card's ATQB; nil for an NFC-A card.
    var applicationData: Data? { get }

    /// Whether the coding of ``applicationData`` is proprietary.
    var proprietaryApplicationDataCoding: Bool { get }

    /// Whether the card supports PACE, as its file EF.CardAccess says (ICAO Doc 9303-11). Only a session with
    /// ``NFCTagReaderSession/PollingOption/pace`` reads the file; in other sessions the property is false.
    var supportsPACE: Bool { get }

    /// Sends a command.
    ///
    /// - Parameters:
    ///   - apdu: the command. If it selects an application, the app's list has to contain the application.
    ///   - completionHandler: called with the data and the status word of the answer, or an ``NFCReaderError``:
    ///     `readerTransceiveErrorTagNotConnected`, `readerTransceiveErrorTagConnectionLost`,
    ///     `readerTransceiveErrorTagResponseError`, `readerTransceiveErrorSessionInvalidated`,
    ///     `readerTransceiveErrorPacketTooLong`, `readerErrorSecurityViolation` for an application that is not listed,
    ///     `readerErrorInvalidParameterLength`, `readerErrorParameterOutOfBound`.
    @preconcurrency
    func sendCommand(
        apdu: NFCISO7816APDU,
        completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    )
}

extension NFCISO7816Tag {
    /// False, for clients' tag classes that do not implement the property.
    public var supportsPACE: Bool { false }

    // The other forms are extensions, not requirements, because clients write their own tag classes.

    /// ``sendCommand(apdu:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func sendCommand(
        apdu: NFCISO7816APDU,
        resultHandler: @escaping @Sendable (Result<NFCISO7816ResponseAPDU, any Error>) -> Void
    ) {
        sendCommand(apdu: apdu) {
            resultHandler(Result(NFCISO7816ResponseAPDU(statusWord1: $1, statusWord2: $2, payload: $0), $3))
        }
    }

    /// The asynchronous form of ``sendCommand(apdu:completionHandler:)``.
    ///
    /// - Returns: the data and the status word of the answer.
    public func sendCommand(apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
        try await withCompletion { sendCommand(apdu: apdu, completionHandler: $0) }
    }

    /// The asynchronous form of ``sendCommand(apdu:completionHandler:)``.
    @_disfavoredOverload
    public func sendCommand(apdu: NFCISO7816APDU) async throws -> NFCISO7816ResponseAPDU {
        let (data, sw1, sw2): (Data, UInt8, UInt8) = try await sendCommand(apdu: apdu)
        return NFCISO7816ResponseAPDU(statusWord1: sw1, statusWord2: sw2, payload: data.isEmpty ? nil : data)
    }
}
