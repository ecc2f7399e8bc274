// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime

/// The identity of a card with an application of the app's list.
package struct ISO7816Identity: Sendable, Hashable {
    package var initialSelectedAID: String
    package var identifier: [UInt8]
    package var historicalBytes: [UInt8]?
    package var applicationData: [UInt8]?
    package var proprietaryApplicationDataCoding: Bool
    package var supportsPACE: Bool

    package init(
        initialSelectedAID: String,
        identifier: [UInt8],
        historicalBytes: [UInt8]? = nil,
        applicationData: [UInt8]? = nil,
        proprietaryApplicationDataCoding: Bool = false,
        supportsPACE: Bool = false
    ) {
        self.initialSelectedAID = initialSelectedAID
        self.identifier = identifier
        self.historicalBytes = historicalBytes
        self.applicationData = applicationData
        self.proprietaryApplicationDataCoding = proprietaryApplicationDataCoding
        self.supportsPACE = supportsPACE
    }
}

/// A card with an application of the app's list, as an app sees it.
final class DetectedISO7816Tag: CommandTag, NFCISO7816Tag, @unchecked Sendable {
    // Sendable because its own properties are constant.
    private let identity: ISO7816Identity

    init(_ identity: ISO7816Identity, in surroundings: TagSurroundings) {
        self.identity = identity
        super.init(surroundings)
    }

    override var kind: String { "NFCISO7816Tag" }
    var type: __NFCTagType { .iso7816Compatible }
    var initialSelectedAID: String { identity.initialSelectedAID }
    var identifier: Data { Data(identity.identifier) }
    var historicalBytes: Data? { identity.historicalBytes.map { Data($0) } }
    var applicationData: Data? { identity.applicationData.map { Data($0) } }
    var proprietaryApplicationDataCoding: Bool { identity.proprietaryApplicationDataCoding }
    var supportsPACE: Bool { identity.supportsPACE }

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

extension CommandTag {
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
