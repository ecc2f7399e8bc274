// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import Foundation
import NDEF
package import NFCSessions
import TagLink
import TagProtocols

/// A tag that a session found, as the app sees it: the common part of the four technologies, and the whole object for a
/// tag of any other kind.
class TagObject: NSObject, NFCNDEFTag, @unchecked Sendable {
    // Sendable because its own properties are constant, and the session is a weak reference that is never changed;
    // subclasses lock their state.
    let handle: ConnectableTag
    let channel: any TagCommandChannel
    let configuration: AppConfiguration
    /// Where completion handlers are called.
    let queue: DispatchQueue
    private let owner: WeakBox

    init(_ surroundings: TagSurroundings) {
        handle = surroundings.handle
        channel = surroundings.channel
        configuration = surroundings.configuration
        queue = surroundings.queue
        owner = WeakBox(surroundings.session)
    }

    var session: (any NFCReaderSessionProtocol)? { owner.object as? NFCReaderSession }

    /// The tag as a phone prints it, with the name of its kind.
    override var description: String {
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "<\(kind): 0x\(String(address, radix: 16))>"
    }

    /// The name that a phone prints for the kind.
    var kind: String { "NFCNDEFTag" }

    var isAvailable: Bool { handle.isConnected }

    /// The historical bytes of the ATS of a Type A card; nil when it has none.
    var historicalBytes: Data? {
        guard let bytes = handle.answerToSelect?.historicalBytes, !bytes.isEmpty else { return nil }
        return Data(bytes)
    }

    /// Calls a completion handler.
    func call(_ work: @escaping @Sendable () -> Void) {
        handle.session.environment.call(on: queue, work)
    }

    // MARK: NSCopying, NSSecureCoding

    func copy(with zone: NSZone?) -> Any { self }

    class var supportsSecureCoding: Bool { true }

    /// Does nothing: a tag object stands for a tag in the field and can't be stored.
    func encode(with coder: NSCoder) {}

    required init?(coder: NSCoder) { nil }
}

/// What a tag object needs from its surroundings: the session that found the tag, and the channel for commands.
package struct TagSurroundings {
    /// The runtime's handle of the tag.
    var handle: ConnectableTag
    /// The channel for its commands.
    var channel: any TagCommandChannel
    var session: NFCReaderSession?
    /// Where completion handlers are called.
    var queue: DispatchQueue
    /// What the app declares.
    var configuration: AppConfiguration

    package init(
        handle: ConnectableTag,
        channel: any TagCommandChannel,
        session: NFCReaderSession?,
        queue: DispatchQueue,
        configuration: AppConfiguration
    ) {
        self.handle = handle
        self.channel = channel
        self.session = session
        self.queue = queue
        self.configuration = configuration
    }
}

extension TagObject {
    func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void) {
        perform({ tag throws(TagError) -> NDEFDetection? in
            do throws(TagError) {
                return try await tag.detectNDEF()
            } catch {
                guard error.meansNotNDEF else { throw error }
                return nil
            }
        }) { result in
            switch result {
            case .success(.some(let found)):
                completionHandler(found.access == .readWrite ? .readWrite : .readOnly, found.capacity, nil)
            case .success(.none): completionHandler(.notSupported, 0, nil)
            case .failure(.tag(let error)) where error.code == .unsupported: completionHandler(.notSupported, 0, nil)
            case .failure(let error): completionHandler(.notSupported, 0, NFCReaderError(error))
            }
        }
    }

    func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void) {
        perform({ tag throws(TagError) in try await tag.readNDEF() }) { result in
            switch result {
            case .success(let bytes) where bytes.isEmpty:
                completionHandler(nil, NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage))
            case .success(let bytes):
                do throws(NDEFError) {
                    completionHandler(try NFCNDEFMessage(parsing: bytes), nil)
                } catch {
                    completionHandler(nil, NFCReaderError(damagedMessage: error))
                }
            case .failure(let error): completionHandler(nil, NFCReaderError(error))
            }
        }
    }

    func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        let bytes: [UInt8]
        do throws(NDEFError) {
            bytes = try ndefMessage.encoded()
        } catch {
            let error = NFCReaderError(unwritableMessage: error)
            return call { completionHandler(error) }
        }
        perform({ tag throws(TagError) in
            do throws(TagError) {
                try await tag.writeNDEF(bytes)
            } catch {
                throw error.ofUnwritableTag
            }
        }) { result in completionHandler(result.readerError) }
    }

    func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        perform({ tag throws(TagError) in
            do throws(TagError) {
                try await tag.lock()
            } catch {
                throw error.ofUnwritableTag
            }
        }) { result in completionHandler(result.readerError) }
    }

    private func perform<Value: Sendable>(
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value,
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void
    ) {
        handle.session.perform(on: handle, procedure) { [self] result in
            call { completion(result) }
        }
    }
}

extension TagError {
    /// The same error; or "not writable" when the tag is not formatted, because there is nothing to write to.
    var ofUnwritableTag: TagError {
        meansNotNDEF ? TagError(.readOnly, reason, link: link) : self
    }
}

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

/// How a tag answers a command.
package enum AnswerTime: Sendable, Hashable {
    /// The tag does not answer; the command only has to be sent.
    case none
    /// The technology's own time for an ordinary command.
    case usual
    /// The tag programs its memory first.
    case write
}
