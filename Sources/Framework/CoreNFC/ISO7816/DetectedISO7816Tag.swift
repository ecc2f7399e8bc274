// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink
import TagProtocols

/// A card with an application of the app's list, as an app sees it.
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
        // A phone accepts APDUs from an app that has not connected to the card. A shipped SDK for hardware keys relies
        // on that.
        transmit(apdu, connecting: .ifNeeded, completion: completionHandler)
    }
}

extension TagObject {
    /// Sends an APDU if the app's configuration allows it.
    ///
    /// - Parameter connecting: whether to connect the tag first.
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
                reason: "The card does not take ISO/IEC 14443-4, so it does not take APDUs."
            )
        }
        if let violation = context.configuration.violation(of: apdu) { throw violation }
        return try apdu.encoded()
    }
}
