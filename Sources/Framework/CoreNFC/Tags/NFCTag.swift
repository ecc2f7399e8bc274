// SPDX-License-Identifier: Apache-2.0
package import Dispatch
public import Foundation
import NDEF
package import NFCSessions
import TagLink
import TagProtocols

/// A tag that an ``NFCTagReaderSession`` found, by its technology.
///
/// The value only wraps an object. Values with the same object represent the same tag, and you can pass any of them to
/// ``NFCTagReaderSession/connect(to:completionHandler:)``.
public enum NFCTag {
    /// A FeliCa card.
    case feliCa(any NFCFeliCaTag)
    /// A card with an application that the app lists. The application is already selected.
    case iso7816(any NFCISO7816Tag)
    /// An ISO/IEC 15693 tag.
    case iso15693(any NFCISO15693Tag)
    /// A MIFARE card: Ultralight, NTAG, Plus or DESFire.
    case miFare(any NFCMiFareTag)

    /// Whether the tag can be used and has not left the field, also before it is connected.
    ///
    /// If the reader reports departures, as the virtual reader and PC/SC readers do, the property becomes false at
    /// once. With any other reader, reading the property also starts a check of the tag, and a later read returns the
    /// result. Connecting to the tag again always checks that it is present.
    public var isAvailable: Bool { ndefTag.isAvailable }

    var ndefTag: any NFCNDEFTag {
        switch self {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    }

    /// The tag's object, if a session of this framework created it.
    var object: TagObject? { ndefTag as? TagObject }

    // MARK: Detection

    /// Creates the object for a tag according to the data from its detection.
    ///
    /// - Parameter hasApplicationList: whether the app lists applications. If not, every card that is not a MIFARE card counts
    ///   as an ISO 7816 tag with no application selected.
    /// - Returns: nil for a tag that phones don't detect, such as a MIFARE Classic.
    package init?(_ context: TagContext, hasApplicationList: Bool) {
        let handle = context.handle
        let hasApplication = handle.selectedApplication != nil || handle.supportsPACE
        switch handle.target {
        case .nfcA(let target) where target.isISODEP:
            self =
                hasApplication || !hasApplicationList && !target.isNXP
                ? .iso7816(DetectedISO7816Tag(context)) : .miFare(DetectedMiFareTag(context))
        case .nfcA(let target):
            guard target.isType2 else { return nil }
            self = .miFare(DetectedMiFareTag(context))
        case .nfcB:
            guard hasApplication || !hasApplicationList else { return nil }
            self = .iso7816(DetectedISO7816Tag(context))
        case .nfcF: self = .feliCa(DetectedFeliCaTag(context))
        case .nfcV: self = .iso15693(DetectedISO15693Tag(context))
        }
    }

    /// The polling options that find this kind of tag. Each of them is sufficient.
    var options: NFCTagReaderSession.PollingOption {
        switch self {
        case .iso7816: [.iso14443, .pace]
        case .miFare: .iso14443
        case .feliCa: .iso18092
        case .iso15693: .iso15693
        }
    }
}

extension NFCReaderSession {
    func context(of handle: ConnectableTag) -> TagContext {
        TagContext(handle, session: self, queue: sessionQueue, configuration: configuration)
    }

    /// Returns the tag for a handle; nil for a tag that phones don't detect.
    func tag(for handle: ConnectableTag) -> NFCTag? {
        NFCTag(context(of: handle), hasApplicationList: hasApplicationList)
    }
}

/// The common properties of the four kinds of tags. Clients need this protocol only for their own tag classes.
public protocol __NFCTag: NSObjectProtocol, NSSecureCoding, NSCopying {
    /// The technology of the tag.
    var type: __NFCTagType { get }

    /// The session that found the tag; nil when the session no longer exists.
    var session: (any NFCReaderSessionProtocol)? { get }

    /// Whether the tag can be used and has not left the field; see ``NFCTag/isAvailable``.
    var isAvailable: Bool { get }

    /// The tag itself when it is an ISO/IEC 15693 tag.
    func asNFCISO15693Tag() -> (any NFCISO15693Tag)?

    /// The tag itself when it has an ISO/IEC 7816 application.
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)?

    /// The tag itself when it is a FeliCa card.
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)?

    /// The tag itself when it is a MIFARE card.
    func asNFCMiFareTag() -> (any NFCMiFareTag)?
}

/// The technology of a tag. Clients need this type only for their own tag classes.
public enum __NFCTagType: UInt, Sendable {
    /// An ISO/IEC 15693 tag.
    case ISO15693 = 1
    /// A FeliCa card.
    case feliCa = 2
    /// An ISO/IEC 14443 card with an application that the app lists.
    case iso7816Compatible = 3
    /// A MIFARE card.
    case miFare = 4
}

package struct TagContext {
    let handle: ConnectableTag
    let session: WeakBox
    let queue: DispatchQueue
    let configuration: AppConfiguration

    package init(
        _ handle: ConnectableTag,
        session: NFCReaderSession?,
        queue: DispatchQueue,
        configuration: AppConfiguration
    ) {
        self.handle = handle
        self.session = WeakBox(session)
        self.queue = queue
        self.configuration = configuration
    }
}

/// A tag that a session found: the base class for the four technologies, and the class of all other tags.
class TagObject: NSObject, NFCNDEFTag, @unchecked Sendable {
    // Sendable because the context is constant, the weak reference to its session never changes, and subclasses lock
    // their state.
    let context: TagContext

    init(_ context: TagContext) { self.context = context }

    var handle: ConnectableTag { context.handle }
    var session: (any NFCReaderSessionProtocol)? { context.session.object as? NFCReaderSession }

    /// The tag as phones print it, with the name of its kind.
    override var description: String {
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "<\(kind): 0x\(String(address, radix: 16))>"
    }

    /// The name that phones print for this kind.
    var kind: String { "NFCNDEFTag" }

    var isAvailable: Bool { handle.isNear }

    /// The historical bytes of the ATS of a Type A card; nil when it has none.
    var historicalBytes: Data? {
        guard let bytes = handle.answerToSelect?.historicalBytes, !bytes.isEmpty else { return nil }
        return Data(bytes)
    }

    func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { self as? DetectedISO15693Tag }
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self as? DetectedISO7816Tag }
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { self as? DetectedFeliCaTag }
    func asNFCMiFareTag() -> (any NFCMiFareTag)? { self as? DetectedMiFareTag }

    // MARK: NSCopying, NSSecureCoding

    func copy(with zone: NSZone?) -> Any { self }

    class var supportsSecureCoding: Bool { true }

    /// Does nothing, because a tag object represents a tag in the field and can't be stored.
    func encode(with coder: NSCoder) {}

    required init?(coder: NSCoder) { nil }

    // MARK: NDEF

    func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void) {
        let note = noteCall("queryNDEFStatus")
        handle.session.perform(on: handle, queue: context.queue, note: note) { tag throws(TagError) -> NDEFDetection? in
            do throws(TagError) {
                return try await tag.ndefForApp().detectNDEF()
            } catch {
                guard error.meansNotNDEF || error.code == .unsupported else { throw error }
                return nil
            }
        } completion: { [self] result in
            var (status, capacity) = (NFCNDEFStatus.notSupported, 0)
            var failure: NFCReaderError?
            switch result {
            case .success(let found?):
                (status, capacity) = (found.access == .readWrite ? .readWrite : .readOnly, found.capacity)
            case .success(nil): break
            case .failure(let error): failure = NFCReaderError(error)
            }
            report("queryNDEFStatus", received: [UInt8(status.rawValue)], failure)
            completionHandler(status, capacity, failure)
        }
    }

    func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void) {
        handle.session.perform(on: handle, queue: context.queue, note: noteCall("readNDEF")) { tag throws(TagError) in
            try await tag.ndefForApp().readNDEF()
        } completion: { [self] result in
            let bytes = (try? result.get()) ?? []
            do {
                _ = try result.mapError { NFCReaderError($0) }.get()
                guard !bytes.isEmpty else { throw NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage) }
                let message = try NFCNDEFMessage(parsing: bytes)
                report("readNDEF", received: bytes, nil)
                completionHandler(message, nil)
            } catch {
                let cause = error as? NDEFError
                let failure =
                    cause.map { NFCReaderError(.readerTransceiveErrorTagResponseError, reason: $0.reason) } ?? error
                report("readNDEF", failure)
                completionHandler(nil, failure)
            }
        }
    }

    func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        do throws(NDEFError) {
            let bytes = try ndefMessage.encoded()
            change("writeNDEF", sending: bytes, completionHandler) { tag throws(TagError) in
                try await tag.writeNDEF(bytes)
            }
        } catch {
            let error = NFCReaderError(.readerErrorInvalidParameter, reason: error.reason)
            fail { completionHandler(error) }
        }
    }

    func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        change("writeLock", completionHandler) { tag throws(TagError) in try await tag.lock() }
    }

    private func change(
        _ name: String,
        sending message: [UInt8] = [],
        _ completionHandler: @escaping @Sendable ((any Error)?) -> Void,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Void
    ) {
        handle.session.perform(on: handle, queue: context.queue, note: noteCall(name)) { tag throws(TagError) in
            try await procedure(try await tag.ndefForApp())
        } completion: { [self] result in
            var failure = result.readerError
            if case .failure(.tag(let error)) = result, error.code == .tagLost { failure = .lostDuringWrite }
            report(name, sent: message, failure)
            completionHandler(failure)
        }
    }

    /// Reports a call on this tag to a simulated phone.
    private func report(_ name: String, sent: [UInt8] = [], received: [UInt8] = [], _ error: (any Error)?) {
        (context.session.object as? NFCReaderSession)?.report(name, sent: sent, received: received, error)
    }

    /// Notes a call of the app in a test's trace.
    ///
    /// - Returns: describes the result of the call; nil outside of tests.
    private func noteCall(_ name: String) -> (@Sendable (CommandError?) -> String?)? {
        guard let test = handle.session.environment.testContext else { return nil }
        test.note("app: \(name)")
        return { "app: \(name) gets \(NFCReaderError.traceText(of: $0))" }
    }

    // MARK: Packets

    /// Sends a packet, decodes the answer, and calls the completion on the session's queue. Every command of the four
    /// technologies uses this function.
    ///
    /// - Parameters:
    ///   - packet: the bytes; throws when the caller's parameters are wrong.
    ///   - answer: whether and when the tag answers.
    ///   - policy: how often and how soon to send the packet again.
    ///   - other: the value that the completion handler gets together with an error.
    ///   - completion: called once, on the session's queue.
    func exchange<Value>(
        _ packet: @autoclosure () throws -> [UInt8],
        answer: TagPacket.Answer = .usual,
        retrying policy: RetryPolicy = RetryPolicy(),
        connecting: Connecting = .never,
        or other: @escaping @autoclosure @Sendable () -> Value,
        decode: @escaping @Sendable ([UInt8]) throws -> Value,
        completion: @escaping @Sendable (Value, (any Error)?) -> Void
    ) {
        do {
            let delivers = handle.session.environment.deliversRefusals
            let packet = TagPacket(try packet(), answer: answer, deliversRefusals: delivers)
            attempt(packet, connecting, policy, retriesLeft: policy.retries) { [self] answer in
                do {
                    let bytes = try answer.get()
                    let value = try decode(bytes)
                    // The answer of a FeliCa card begins with its length.
                    let length = self is DetectedFeliCaTag ? [UInt8(clamping: bytes.count + 1)] : []
                    report("command", sent: packet.bytes, received: length + bytes, nil)
                    completion(value, nil)
                } catch {
                    report("command", sent: packet.bytes, error)
                    completion(other(), error)
                }
            }
        } catch {
            fail { completion(other(), error) }
        }
    }

    /// Creates the error for a packet. A phone loses a tag that refuses a command or does not answer it, until polling
    /// finds it again.
    func failure(of error: CommandError) -> NFCReaderError {
        guard case .tag(let cause) = error, cause.code == .refused || cause.code == .badAnswer else {
            return NFCReaderError(error)
        }
        handle.becomeUnavailable()
        return NFCReaderError(.readerTransceiveErrorTagConnectionLost, reason: cause.reason)
    }

    /// Sends a packet, and sends it again when the tag does not answer or its answer can't be read.
    private func attempt(
        _ packet: TagPacket,
        _ connecting: Connecting,
        _ policy: RetryPolicy,
        retriesLeft: Int,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        handle.session.perform(
            on: handle,
            connecting: connecting,
            queue: context.queue,
            note: { $0.map { "app: a command gets \(NFCReaderError($0).traceText)" } }
        ) { tag throws(TagError) in
            try await tag.send(packet)
        } completion: { [self] result in
            guard policy.retries > 0, case .failure(.tag(let error)) = result, error.code == .badAnswer else {
                return completion(result.mapError { policy.losesTag ? failure(of: $0) : NFCReaderError($0) })
            }
            guard retriesLeft > 0 else {
                let error = NFCReaderError(.readerTransceiveErrorRetryExceeded, reason: "The tag never answered.")
                return completion(.failure(error))
            }
            let retry: @Sendable () -> Void = { [self] in
                attempt(packet, connecting, policy, retriesLeft: retriesLeft - 1, completion: completion)
            }
            if policy.interval == .zero { return retry() }
            _ = handle.session.environment.clock.schedule(after: policy.interval, retry)
        }
    }

    /// Calls the completion handler of a command that is not sent because its parameters are wrong.
    func fail(_ completion: @escaping @Sendable () -> Void) {
        handle.session.environment.call(on: context.queue, completion)
    }
}

extension TagPacket.Answer {
    /// The default timeout, which is long because it matters only for a tag that does not answer. An EEPROM write takes
    /// up to 20 ms (ISO/IEC 15693-3, 8.4.2), and a long FeliCa command up to about 100 ms (JIS X 6319-4).
    static let usual = TagPacket.Answer.within(.milliseconds(100))
}

extension NFCReaderError {
    /// The tag left while it was written. A phone reports this as a failed update, with the cause as its underlying error.
    static var lostDuringWrite: NFCReaderError {
        stackError(
            .ndefReaderSessionErrorTagUpdateFailure,
            cause: (21, "Connection Closed"),
            reason: "The tag left while it was written. Read it again before it is used."
        )
    }

    /// Creates the error of a command that a phone's NFC service does not send.
    static func refusedByPhone(_ reason: String) -> NFCReaderError {
        stackError(.readerTransceiveErrorTagResponseError, cause: (10, "Invalid Parameter"), reason: reason)
    }

    /// Creates the error of a phone's NFC service.
    private static func stackError(_ code: Code, cause: (code: Int, text: String), reason: String) -> NFCReaderError {
        let cause = NSError(domain: "nfcd", code: cause.code, userInfo: [NSLocalizedDescriptionKey: cause.text])
        return NFCReaderError(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: "Stack Error",
                NSLocalizedFailureReasonErrorKey: reason,
                NSUnderlyingErrorKey: cause,
            ]
        )
    }

    /// Creates the error for an answer whose length does not match the command.
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
