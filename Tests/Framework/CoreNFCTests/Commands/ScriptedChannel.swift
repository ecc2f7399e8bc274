// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import TagProtocols

/// A channel that answers from a script, and records what it sends.
final class ScriptedChannel: TagCommandChannel {
    struct Sent: Equatable {
        var bytes: [UInt8]
        /// nil for an APDU.
        var answer: AnswerTime?
    }

    private struct State {
        var script: [Result<[UInt8], NFCReaderError>]
        var sent: [Sent] = []
    }

    private let state: Locked<State>
    let manualClock = ManualClock()

    init(_ script: [Result<[UInt8], NFCReaderError>] = []) {
        state = Locked(State(script: script))
    }

    var clock: any RuntimeClock { manualClock }

    var sent: [Sent] { state.withLock { $0.sent } }

    func transceive(
        _ packet: [UInt8],
        answer: AnswerTime,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        completion(next(Sent(bytes: packet, answer: answer)))
    }

    func transmit(
        _ apdu: [UInt8],
        connecting connects: Bool,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        completion(next(Sent(bytes: apdu)))
    }

    private func next(_ sent: Sent) -> Result<[UInt8], NFCReaderError> {
        state.withLock { state in
            state.sent.append(sent)
            if sent.answer == AnswerTime.none { return .success([]) }
            return state.script.isEmpty ? .failure(.noAnswer) : state.script.removeFirst()
        }
    }
}

extension NFCReaderError {
    static var noAnswer: NFCReaderError { NFCReaderError(.readerTransceiveErrorTagResponseError) }
    static var lost: NFCReaderError { NFCReaderError(.readerTransceiveErrorTagConnectionLost) }
}

/// A tag in front of a script.
struct ScriptedTag {
    let channel: ScriptedChannel
    let tag: NFCTag
    let queue = DispatchQueue(label: "test")

    init(
        _ target: TagTarget,
        _ script: [Result<[UInt8], NFCReaderError>] = [],
        configuration: AppConfiguration = AppConfiguration()
    ) {
        channel = ScriptedChannel(script)
        let field = VirtualField(onElapsed: { _ in })
        let environment = NFCEnvironment(reader: .field(field), clock: channel.manualClock)
        guard let session = ReaderSession(environment: environment), let link = field.link(for: .nfcA) else {
            preconditionFailure("an environment with a reader has sessions")
        }
        let activated = ActivatedTag(target: target, link: link, forumTag: nil, origin: .zero)
        let surroundings = TagSurroundings(
            handle: ConnectableTag(activated, session: session),
            channel: channel,
            session: nil,
            queue: queue,
            configuration: configuration
        )
        guard let tag = NFCTag(surroundings, hasApplicationList: false) else {
            preconditionFailure("a phone detects the tag")
        }
        self.tag = tag
    }

    struct OtherKind: Error {}

    static let uid: [UInt8] = [0xE0, 0x07, 1, 2, 3, 4, 5, 6]
    static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    static let vicinityTarget = TagTarget.nfcV(NFCVTarget(uid: uid))
    static let feliCaTarget = TagTarget.nfcF(NFCFTarget(idm: idm, pmm: idm, systemCode: 3))
    static let iso7816Target = TagTarget.nfcA(NFCATarget(atqa: 4, sak: 0x20, uid: [1, 2, 3, 4]))

    static func miFareTarget(takesISODEP: Bool) -> TagTarget {
        .nfcA(NFCATarget(atqa: 0x0344, sak: takesISODEP ? 0x20 : 0, uid: [4, 1, 2, 3, 4, 5, 6]))
    }

    static func iso15693(_ script: Result<[UInt8], NFCReaderError>...) throws -> (ScriptedChannel, any NFCISO15693Tag) {
        let fixture = ScriptedTag(vicinityTarget, script)
        guard case .iso15693(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        return (fixture.channel, tag)
    }

    static func feliCa(
        _ script: Result<[UInt8], NFCReaderError>...,
        configuration: AppConfiguration = AppConfiguration()
    ) throws -> (ScriptedChannel, any NFCFeliCaTag) {
        let fixture = ScriptedTag(feliCaTarget, script, configuration: configuration)
        guard case .feliCa(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        return (fixture.channel, tag)
    }

    static func iso7816(
        _ script: Result<[UInt8], NFCReaderError>...,
        configuration: AppConfiguration = AppConfiguration()
    ) throws -> (ScriptedChannel, any NFCISO7816Tag) {
        let fixture = ScriptedTag(iso7816Target, script, configuration: configuration)
        guard case .iso7816(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        return (fixture.channel, tag)
    }

    static func miFare(
        _ script: Result<[UInt8], NFCReaderError>...,
        takesISODEP: Bool = false
    ) throws -> (ScriptedChannel, any NFCMiFareTag) {
        let fixture = ScriptedTag(miFareTarget(takesISODEP: takesISODEP), script)
        guard case .miFare(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        return (fixture.channel, tag)
    }
}

/// The error that an operation throws; nil when it throws none or another kind.
func readerError<Value>(_ operation: () async throws -> Value) async -> NFCReaderError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? NFCReaderError
    }
}
