// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

/// A card with an application of the app's list, as an app sees it.
final class DetectedISO7816Tag: TagObject, NFCISO7816Tag, @unchecked Sendable {
    override var kind: String { "NFCISO7816Tag" }
    var type: __NFCTagType { .iso7816Compatible }
    var initialSelectedAID: String { handle.selectedApplication.map { Data($0).hex.uppercased() } ?? "" }
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
        transmit(apdu, connecting: true, checkedBy: configuration, completion: completionHandler)
    }

    func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { nil }
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self }
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { nil }
    func asNFCMiFareTag() -> (any NFCMiFareTag)? { nil }
}

extension TagObject {
    /// Sends an APDU if the app's configuration allows it.
    func transmit(
        _ apdu: NFCISO7816APDU,
        connecting connects: Bool,
        checkedBy configuration: AppConfiguration,
        completion: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    ) {
        let handler: @Sendable (Result<NFCISO7816ResponseAPDU, NFCReaderError>) -> Void = { result in
            switch result {
            case .success(let answer):
                completion(answer.payload ?? Data(), answer.statusWord1, answer.statusWord2, nil)
            case .failure(let error): completion(Data(), 0, 0, error)
            }
        }
        if let violation = configuration.violation(of: apdu) {
            complete(.failure(violation), handler)
        } else {
            transmit(apdu, connecting: connects, completion: handler)
        }
    }
}
