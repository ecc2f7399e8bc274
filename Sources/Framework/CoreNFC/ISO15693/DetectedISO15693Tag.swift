// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

/// An ISO/IEC 15693 tag as an app sees it.
final class DetectedISO15693Tag: TagObject, NFCISO15693Tag, @unchecked Sendable {
    /// The UID: 8 bytes, most significant first.
    var uid: [UInt8] { handle.target.identifier }

    override var kind: String { "NFCISO15693Tag" }
    var type: __NFCTagType { .ISO15693 }
    var identifier: Data { Data(uid) }
    var icManufacturerCode: Int { uid.count == 8 ? Int(uid[1]) : 0 }
    var icSerialNumber: Data { Data(uid.dropFirst(2)) }

    func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { self }
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { nil }
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { nil }
    func asNFCMiFareTag() -> (any NFCMiFareTag)? { nil }

    // MARK: Exchanges

    typealias Parameters = Result<[UInt8], NFCReaderError>

    /// Sends a command and decodes what follows the flags of the response.
    func send<Value>(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters = .success([]),
        answer: AnswerTime = .usual,
        decode: @escaping @Sendable (ISO15693Answer) -> Result<Value, NFCReaderError>,
        completion: @escaping @Sendable (Result<Value, NFCReaderError>) -> Void
    ) {
        let frame = parameters.flatMap {
            ISO15693Packet.frame(command, flags: flags, uid: uid, parameters: $0)
        }
        exchange(frame, answer: answer) { bytes in
            ISO15693Answer.parse(bytes).flatMap(decode)
        } completion: {
            completion($0)
        }
    }

    /// Sends a command whose response has no data.
    func send(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters = .success([]),
        answer: AnswerTime = .write,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(command, flags, parameters, answer: answer, decode: { $0.nothing() }) { completion($0.error) }
    }

    /// Sends a command that no tag answers.
    func sendWithoutAnswer(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters = .success([]),
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let frame = parameters.flatMap {
            ISO15693Packet.frame(command, flags: flags, uid: uid, parameters: $0)
        }
        exchange(frame, answer: .none, decode: { _ in .success(()) }) { completion($0.error) }
    }

    /// Reads blocks.
    func sendForBlocks(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ range: NSRange,
        isExtended: Bool,
        completion: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        send(command, flags, ISO15693Packet.blocks(range, isExtended: isExtended)) { response in
            response.blocks(count: range.length, withStatus: flags.contains(.option))
        } completion: {
            completion($0.value(or: []), $0.error)
        }
    }

    /// Reads the security status of blocks.
    func sendForStatuses(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ range: NSRange,
        isExtended: Bool,
        completion: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    ) {
        send(command, flags, ISO15693Packet.blocks(range, isExtended: isExtended)) { response in
            response.statuses(count: range.length)
        } completion: { result in
            completion(result.value(or: []).map { NSNumber(value: $0) }, result.error)
        }
    }

    /// Sends a cryptographic command. The result includes the response's flags.
    func sendForFlags(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters,
        completion: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    ) {
        send(command, flags, parameters, answer: .write, decode: { .success($0) }) { result in
            let response = result.value(or: ISO15693Answer(flags: [], data: []))
            completion(response.flags, Data(response.data), result.error)
        }
    }
}
