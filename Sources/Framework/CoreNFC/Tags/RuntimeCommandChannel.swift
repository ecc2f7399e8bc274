// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import TagProtocols

/// Sends the commands of a tag object through the session that found the tag.
final class RuntimeCommandChannel: TagCommandChannel {
    private let tag: ConnectableTag

    init(_ tag: ConnectableTag) {
        self.tag = tag
    }

    var clock: any RuntimeClock { tag.session.environment.clock }

    func transceive(
        _ packet: [UInt8],
        answer: AnswerTime,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        send(TagPacket(packet, answer: Self.packetAnswer(answer)), completion)
    }

    func transmit(
        _ apdu: [UInt8],
        connecting connects: Bool,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        guard tag.target.isISODEP else {
            let error = NFCReaderError(.readerErrorUnsupportedFeature, reason: "The tag does not take APDUs.")
            return completion(.failure(error))
        }
        send(TagPacket(apdu, answer: Self.packetAnswer(.usual)), connecting: connects, completion)
    }

    private func send(
        _ packet: TagPacket,
        connecting connects: Bool = false,
        _ completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        tag.session.send(packet, to: tag, connecting: connects) { result in
            completion(result.mapError { NFCReaderError($0) })
        }
    }

    /// The waiting times are generous, because they matter only for a tag that does not answer. EEPROM takes up to 20
    /// ms (ISO/IEC 15693-3, 8.4.2), and FeliCa cards up to about 100 ms for long commands (JIS X 6319-4).
    private static func packetAnswer(_ answer: AnswerTime) -> TagPacket.Answer {
        switch answer {
        case .none: .none
        case .usual, .write: .within(.milliseconds(100))
        }
    }
}
