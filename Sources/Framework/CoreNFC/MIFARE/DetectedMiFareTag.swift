// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

/// A MIFARE card as an app sees it.
final class DetectedMiFareTag: TagObject, NFCMiFareTag, @unchecked Sendable {
    override var kind: String { "NFCMiFareTag" }
    var type: __NFCTagType { .miFare }
    var identifier: Data { Data(handle.target.identifier) }

    var mifareFamily: NFCMiFareFamily {
        guard case .nfcA(let target) = handle.target else { return .unknown }
        if target.isISODEP, MIFAREFamily.isPlus(historicalBytes ?? Data()) { return .plus }
        guard target.isNXP else { return .unknown }
        return target.isISODEP ? .desfire : .ultralight
    }

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
        guard handle.target.isISODEP else {
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

/// The packets of `sendMiFareCommand`.
package enum MiFareCommand {
    /// Commands of Type 2 tags that program memory (NXP MF0ICU1, NTAG21x): WRITE and COMPATIBILITY_WRITE.
    private static let writes: Set<UInt8> = [0xA2, 0xA0]

    /// The maximum number of bytes in a frame of the reader, without the checksum.
    package static let maximumLength = 253

    /// Checks a command that an app sends.
    ///
    /// - Parameter command: the command, without its checksum.
    /// - Returns: the command's bytes; or `readerErrorInvalidParameterLength` when it is empty, or
    ///   `readerTransceiveErrorPacketTooLong`.
    package static func packet(_ command: Data) -> Result<[UInt8], NFCReaderError> {
        guard !command.isEmpty else {
            return .failure(NFCReaderError(.readerErrorInvalidParameterLength, reason: "The command is empty."))
        }
        guard command.count <= maximumLength else {
            return .failure(
                NFCReaderError(
                    .readerTransceiveErrorPacketTooLong,
                    reason: "A command has at most \(maximumLength) bytes."
                )
            )
        }
        return .success([UInt8](command))
    }

    /// How long the card may take to answer.
    package static func answerTime(of packet: [UInt8]) -> AnswerTime {
        packet.first.map { writes.contains($0) } == true ? .write : .usual
    }
}
