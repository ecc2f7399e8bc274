// SPDX-License-Identifier: Apache-2.0
package import NFCSessions

/// The only way in which tag objects send commands.
///
/// An implementation keeps the order of commands, and checks that the session is active and the tag connected. It calls
/// each completion exactly once, on any thread, and never under a lock. It never retries and never interprets the
/// bytes.
package protocol TagCommandChannel: AnyObject, Sendable {
    /// The clock for the intervals between retries.
    var clock: any RuntimeClock { get }

    /// Sends one packet of the tag's technology, and returns the answer.
    ///
    /// The form of a packet depends on the technology; it never includes checksums.
    /// - NFC-A (MIFARE): the command's bytes; an answer of four bits is one byte. For a card that supports ISO-DEP, the
    ///   bytes are the payload of ISO-DEP blocks.
    /// - FeliCa: the packet from the command code on, without its length. The answer starts with the response code.
    /// - ISO/IEC 15693: the request from the flags on. The answer starts with the flags.
    ///
    /// - Parameters:
    ///   - packet: the bytes.
    ///   - answer: how the tag answers. With ``AnswerTime/none`` the completion gets no bytes once the packet is sent.
    ///   - completion: called once. The code of the ``NFCReaderError`` is 100 when the tag was lost, 102 when it did
    ///     not answer or its answer could not be read, 103 when the session ended, 104 when the tag is not connected,
    ///     105 when the packet is too long for the reader or the tag, and 1 when the reader can't send such packets.
    func transceive(
        _ packet: [UInt8],
        answer: AnswerTime,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    )

    /// Sends one APDU over ISO-DEP, and returns the answer with its status word.
    ///
    /// - Parameters:
    ///   - apdu: a command APDU, short or extended.
    ///   - connects: whether to connect the tag first if no tag is connected.
    ///   - completion: called once, with errors as for ``transceive(_:answer:completion:)``.
    func transmit(
        _ apdu: [UInt8],
        connecting connects: Bool,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    )
}

extension TagCommandChannel {
    /// Sends a packet, and again when the tag does not answer.
    ///
    /// - Parameters:
    ///   - packet: the bytes.
    ///   - answer: how the tag answers.
    ///   - policy: how often the packet is sent again, and how soon, by ``clock``.
    ///   - completion: called once; the error code is 101 when all retries failed.
    func transceive(
        _ packet: [UInt8],
        answer: AnswerTime,
        retrying policy: RetryPolicy,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        attempt(packet, answer: answer, policy: policy, retriesLeft: policy.retries, completion: completion)
    }

    private func attempt(
        _ packet: [UInt8],
        answer: AnswerTime,
        policy: RetryPolicy,
        retriesLeft: Int,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        transceive(packet, answer: answer) { [self] result in
            guard case .failure(let error) = result, RetryPolicy.isWorthRetrying(error), policy.retries > 0 else {
                return completion(result)
            }
            guard retriesLeft > 0 else {
                return completion(
                    .failure(NFCReaderError(.readerTransceiveErrorRetryExceeded, reason: "The tag never answered."))
                )
            }
            let again: @Sendable () -> Void = { [self] in
                attempt(packet, answer: answer, policy: policy, retriesLeft: retriesLeft - 1, completion: completion)
            }
            if policy.interval == .zero {
                again()
            } else {
                _ = clock.schedule(after: policy.interval, again)
            }
        }
    }
}
