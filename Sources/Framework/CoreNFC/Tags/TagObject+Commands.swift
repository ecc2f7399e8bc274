// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions

extension TagObject {
    /// Sends a packet, decodes the answer, and completes on the session's queue.
    ///
    /// - Parameters:
    ///   - packet: the bytes; or the error when the caller's parameters were wrong.
    ///   - answer: how the tag answers.
    ///   - policy: how often the packet is sent again.
    ///   - decode: decodes the answer.
    ///   - completion: called once, on the session's queue.
    func exchange<Value>(
        _ packet: Result<[UInt8], NFCReaderError>,
        answer: AnswerTime = .usual,
        retrying policy: RetryPolicy = .none,
        decode: @escaping @Sendable ([UInt8]) -> Result<Value, NFCReaderError>,
        completion: @escaping @Sendable (Result<Value, NFCReaderError>) -> Void
    ) {
        switch packet {
        case .failure(let error): complete(.failure(error), completion)
        case .success(let packet):
            channel.transceive(packet, answer: answer, retrying: policy) { [self] result in
                complete(result.flatMap(decode), completion)
            }
        }
    }

    /// Sends an APDU, and completes on the session's queue.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - connects: whether to connect the tag first if no tag is connected.
    ///   - completion: called once, on the session's queue.
    func transmit(
        _ apdu: NFCISO7816APDU,
        connecting connects: Bool,
        completion: @escaping @Sendable (Result<NFCISO7816ResponseAPDU, NFCReaderError>) -> Void
    ) {
        switch apdu.encoded() {
        case .failure(let error): complete(.failure(error), completion)
        case .success(let bytes):
            channel.transmit(bytes, connecting: connects) { [self] result in
                complete(result.flatMap { NFCISO7816ResponseAPDU.parse($0) }, completion)
            }
        }
    }

    func complete<Value>(
        _ result: Result<Value, NFCReaderError>,
        _ completion: @escaping @Sendable (Result<Value, NFCReaderError>) -> Void
    ) {
        let result = UncheckedSendableBox(result)
        call { completion(result.value) }
    }
}

extension Result where Failure == NFCReaderError {
    /// The failure as completion handlers receive it.
    var error: (any Error)? {
        if case .failure(let error) = self { return error }
        return nil
    }

    /// The value; or `other` on failure.
    func value(or other: Success) -> Success {
        if case .success(let value) = self { return value }
        return other
    }
}

extension NFCReaderError {
    /// The tag's answer is about other nodes than the command.
    static var otherNodes: NFCReaderError { unexpectedLength("The answer is about another number of nodes.") }

    /// The length of the tag's answer does not fit the command.
    static func unexpectedLength(_ reason: String) -> NFCReaderError {
        NFCReaderError(
            .readerTransceiveErrorTagResponseError,
            userInfo: [
                NFCTagResponseUnexpectedLengthErrorKey: true,
                NSLocalizedFailureReasonErrorKey: reason,
            ]
        )
    }
}
