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
        _ identity: TagIdentity,
        _ script: [Result<[UInt8], NFCReaderError>] = [],
        configuration: AppConfiguration = AppConfiguration()
    ) {
        channel = ScriptedChannel(script)
        let field = VirtualField(onElapsed: { _ in })
        let environment = NFCEnvironment(reader: .field(field), clock: channel.manualClock)
        guard let session = ReaderSession(environment: environment) else {
            preconditionFailure("an environment with a reader has sessions")
        }
        tag = NFCTag(
            identity,
            detected: DetectedTag(target: .nfcA(NFCATarget(atqa: 0, sak: 0, uid: [])), session: session),
            channel: channel,
            session: nil,
            queue: queue,
            configuration: configuration
        )
    }

    struct OtherKind: Error {}

    static let uid: [UInt8] = [0xE0, 0x07, 1, 2, 3, 4, 5, 6]
    static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    static func iso15693(_ script: Result<[UInt8], NFCReaderError>...) throws -> (ScriptedChannel, any NFCISO15693Tag) {
        let fixture = ScriptedTag(.iso15693(ISO15693Identity(uid: uid)), script)
        guard case .iso15693(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        return (fixture.channel, tag)
    }

    static func feliCa(
        _ script: Result<[UInt8], NFCReaderError>...,
        configuration: AppConfiguration = AppConfiguration()
    ) throws -> (ScriptedChannel, any NFCFeliCaTag) {
        let identity = FeliCaIdentity(systemCode: [0, 3], idm: idm)
        let fixture = ScriptedTag(.feliCa(identity), script, configuration: configuration)
        guard case .feliCa(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        return (fixture.channel, tag)
    }

    static func iso7816(
        _ script: Result<[UInt8], NFCReaderError>...,
        configuration: AppConfiguration = AppConfiguration()
    ) throws -> (ScriptedChannel, any NFCISO7816Tag) {
        let identity = ISO7816Identity(initialSelectedAID: "A0000002471001", identifier: [1, 2, 3, 4])
        let fixture = ScriptedTag(.iso7816(identity), script, configuration: configuration)
        guard case .iso7816(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        return (fixture.channel, tag)
    }

    static func miFare(
        _ script: Result<[UInt8], NFCReaderError>...,
        takesISODEP: Bool = false
    ) throws -> (ScriptedChannel, any NFCMiFareTag) {
        let identity = MiFareIdentity(
            family: takesISODEP ? .desfire : .ultralight,
            identifier: [4, 1, 2, 3, 4, 5, 6],
            takesISODEP: takesISODEP
        )
        let fixture = ScriptedTag(.miFare(identity), script)
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
