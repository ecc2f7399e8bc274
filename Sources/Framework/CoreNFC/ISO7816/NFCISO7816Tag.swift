// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NFCSessions
import TagLink
import TagProtocols

/// A card with an application that the app lists (`com.apple.developer.nfc.readersession.iso7816.select-identifiers` in
/// the property list). The application is selected when the card is found.
///
/// Connect the session to the tag before a command. If the session is not connected to any tag, the first APDU connects
/// the card. Completion handlers are called once, on the session's queue.
public protocol NFCISO7816Tag: NFCNDEFTag, __NFCTag {
    /// The application that was selected when the card was found: the first in the app's list that the card has, in
    /// upper-case hexadecimal digits.
    var initialSelectedAID: String { get }

    /// The UID of an NFC-A card, or the PUPI of an NFC-B card. Empty if the reader does not report it.
    var identifier: Data { get }

    /// The historical bytes of an NFC-A card's answer to select; nil when it has none.
    var historicalBytes: Data? { get }

    /// The application data of an NFC-B card's ATQB; nil for an NFC-A card.
    var applicationData: Data? { get }

    /// Whether the coding of ``applicationData`` is proprietary.
    var proprietaryApplicationDataCoding: Bool { get }

    /// Whether the card supports PACE, according to its file EF.CardAccess (ICAO Doc 9303-11). Only a session with
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

final class DetectedISO7816Tag: TagObject, NFCISO7816Tag, @unchecked Sendable {
    override var kind: String { "NFCISO7816Tag" }
    var type: __NFCTagType { .iso7816Compatible }
    var initialSelectedAID: String { handle.selectedApplication.map { Data($0).hexText().uppercased() } ?? "" }
    var identifier: Data { Data(handle.target.identifier) }
    var applicationData: Data? { typeB.map { Data($0.applicationData) } }
    var proprietaryApplicationDataCoding: Bool { typeB?.hasProprietaryApplicationData == true }
    var supportsPACE: Bool { handle.supportsPACE }

    /// The data of a Type B card.
    private var typeB: NFCBTarget? {
        if case .nfcB(let target) = handle.target { target } else { nil }
    }

    func sendCommand(
        apdu: NFCISO7816APDU,
        completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    ) {
        // Phones accept APDUs without a connection. A published SDK for hardware keys relies on this.
        transmit(apdu, connecting: .ifNeeded, completion: completionHandler)
    }

    /// Since iOS 16 a phone reports that the card did not answer, whether it has left or not.
    override func failure(of error: CommandError) -> NFCReaderError {
        switch error {
        case .tag(let cause) where [.tagLost, .badAnswer, .refused].contains(cause.code):
            NFCReaderError(.readerTransceiveErrorTagResponseError, reason: cause.reason)
        case .tagUnavailable:
            NFCReaderError(.readerTransceiveErrorTagResponseError, reason: "The card has left. Restart polling.")
        default: NFCReaderError(error)
        }
    }
}

extension TagObject {
    /// Sends an APDU if the app's configuration allows it.
    func transmit(
        _ apdu: NFCISO7816APDU,
        connecting: Connecting,
        completion: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    ) {
        exchange(
            try bytes(of: apdu),
            connecting: connecting,
            or: NFCISO7816ResponseAPDU(statusWord1: 0, statusWord2: 0, payload: nil),
            decode: { try NFCISO7816ResponseAPDU(parsing: $0) }
        ) { answer, error in
            completion(answer.payload ?? Data(), answer.statusWord1, answer.statusWord2, error)
        }
    }

    private func bytes(of apdu: NFCISO7816APDU) throws -> [UInt8] {
        guard handle.target.isISODEP else {
            throw NFCReaderError(
                .readerErrorUnsupportedFeature,
                reason: "The card does not support ISO/IEC 14443-4, so it can't receive APDUs."
            )
        }
        if let violation = context.configuration.violation(of: apdu) { throw violation }
        return try apdu.encoded()
    }
}
