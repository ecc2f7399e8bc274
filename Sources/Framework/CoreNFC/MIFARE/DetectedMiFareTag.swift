// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

/// A MIFARE card as an app sees it.
final class DetectedMiFareTag: TagObject, NFCMiFareTag, @unchecked Sendable {
    /// The maximum number of bytes in a frame of the reader, without the checksum.
    private static let maximumLength = 253

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
        exchange(
            try Self.packet(command),
            or: Data(),
            decode: { Data($0) },
            completion: completionHandler
        )
    }

    private static func packet(_ command: Data) throws -> [UInt8] {
        guard !command.isEmpty else {
            throw NFCReaderError(.readerErrorInvalidParameterLength, reason: "The command is empty.")
        }
        guard command.count <= maximumLength else {
            throw NFCReaderError(
                .readerTransceiveErrorPacketTooLong,
                reason: "A command has at most \(maximumLength) bytes."
            )
        }
        return [UInt8](command)
    }

    func sendMiFareISO7816Command(
        _ apdu: NFCISO7816APDU,
        completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    ) {
        transmit(apdu, connecting: .never, completion: completionHandler)
    }
}
