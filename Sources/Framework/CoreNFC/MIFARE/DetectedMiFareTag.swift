// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime

/// The identity of a MIFARE card in a session.
package struct MiFareIdentity: Sendable, Hashable {
    package var family: NFCMiFareFamily
    package var identifier: [UInt8]
    package var historicalBytes: [UInt8]?
    /// Whether the card supports ISO-DEP, and so accepts APDUs.
    package var takesISODEP: Bool

    package init(
        family: NFCMiFareFamily,
        identifier: [UInt8],
        historicalBytes: [UInt8]? = nil,
        takesISODEP: Bool
    ) {
        self.family = family
        self.identifier = identifier
        self.historicalBytes = historicalBytes
        self.takesISODEP = takesISODEP
    }
}

/// A MIFARE card as an app sees it.
final class DetectedMiFareTag: CommandTag, NFCMiFareTag, @unchecked Sendable {
    // Sendable because its own properties are constant.
    private let identity: MiFareIdentity

    init(_ identity: MiFareIdentity, in surroundings: TagSurroundings) {
        self.identity = identity
        super.init(surroundings)
    }

    override var kind: String { "NFCMiFareTag" }
    var type: __NFCTagType { .miFare }
    var mifareFamily: NFCMiFareFamily { identity.family }
    var identifier: Data { Data(identity.identifier) }
    var historicalBytes: Data? { identity.historicalBytes.map { Data($0) } }

    func sendMiFareCommand(
        commandPacket command: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        let finish: @Sendable (Result<Data, NFCReaderError>) -> Void = { result in
            completionHandler(result.value(or: Data()), result.error)
        }
        let packet = MiFareCommand.packet(command)
        exchange(
            packet,
            answer: MiFareCommand.answerTime(of: packet.value(or: [])),
            decode: { .success(Data($0)) },
            completion: finish
        )
    }

    func sendMiFareISO7816Command(
        _ apdu: NFCISO7816APDU,
        completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    ) {
        guard identity.takesISODEP else {
            let error = NFCReaderError(
                .readerErrorUnsupportedFeature,
                reason: "The card does not take ISO/IEC 14443-4, so it does not take APDUs."
            )
            return call { completionHandler(Data(), 0, 0, error) }
        }
        transmit(apdu, connecting: false, checkedBy: configuration, completion: completionHandler)
    }

    func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { nil }
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { nil }
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { nil }
    func asNFCMiFareTag() -> (any NFCMiFareTag)? { self }
}
