// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import TagProtocols

/// A channel that answers from a script, and records what it sends.
final class ScriptedChannel: TagCommandChannel {
    private struct State {
        var script: [String]
        var sent: [String] = []
        var answerTimes: [AnswerTime] = []
    }

    /// The name of the tag in its commands, which scripts write as `|`.
    private let name: String
    private let state: Locked<State>
    let manualClock = ManualClock()

    init(name: String, _ script: [String]) {
        self.name = name
        state = Locked(State(script: script))
    }

    var clock: any RuntimeClock { manualClock }

    /// The packets that were sent, in hex, with `|` for the tag's name.
    var sent: [String] { state.withLock { $0.sent.map { $0.replacing(name, with: "|") } } }

    /// How long the channel was to wait for each answer.
    var answerTimes: [AnswerTime] { state.withLock { $0.answerTimes } }

    func transceive(
        _ packet: [UInt8],
        answer: AnswerTime,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        state.withLock { $0.answerTimes.append(answer) }
        completion(answer == .none ? note(packet) : next(packet))
    }

    func transmit(
        _ apdu: [UInt8],
        connecting connects: Bool,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        completion(next(apdu))
    }

    private func note(_ packet: [UInt8]) -> Result<[UInt8], NFCReaderError> {
        state.withLock { $0.sent.append(packet.hexText()) }
        return .success([])
    }

    private func next(_ packet: [UInt8]) -> Result<[UInt8], NFCReaderError> {
        _ = note(packet)
        switch state.withLock({ $0.script.isEmpty ? "none" : $0.script.removeFirst() }) {
        case "none": return .failure(NFCReaderError(.readerTransceiveErrorTagResponseError))
        case "lost": return .failure(NFCReaderError(.readerTransceiveErrorTagConnectionLost))
        case let answer: return .success(bytes(answer.replacing("|", with: name)))
        }
    }
}

/// A tag in front of a script. Each entry is an answer in hex, with `|` for the card's IDm; or `none` for no answer; or
/// `lost` when the tag has left. After the last one the tag does not answer.
struct ScriptedTag {
    let channel: ScriptedChannel
    let tag: NFCTag
    let queue = DispatchQueue(label: "test")

    init(_ target: TagTarget, _ script: [String] = [], app: AppConfiguration = AppConfiguration()) {
        let name =
            switch target {
            case .nfcV: Self.uid.reversed().hexText()
            default: TestTag.idm.hexText()
            }
        channel = ScriptedChannel(name: name, script)
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
            configuration: app
        )
        guard let tag = NFCTag(surroundings, hasApplicationList: false) else {
            preconditionFailure("a phone detects the tag")
        }
        self.tag = tag
    }

    static let uid: [UInt8] = [0xE0, 0x07, 1, 2, 3, 4, 5, 6]
    static let vicinityTarget = TagTarget.nfcV(NFCVTarget(uid: uid))
    static let feliCaTarget = TagTarget.nfcF(NFCFTarget(idm: TestTag.idm, pmm: TestTag.idm, systemCode: 3))
    static let iso7816Target = TagTarget.nfcA(NFCATarget(atqa: 4, sak: 0x20, uid: [1, 2, 3, 4]))
    static let ultralightTarget = TagTarget.nfcA(NFCATarget(atqa: 0x0344, sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
    static let desfireTarget = TagTarget.nfcA(NFCATarget(atqa: 0x0344, sak: 0x20, uid: [4, 1, 2, 3, 4, 5, 6]))

    static func iso15693(_ script: String...) throws -> (ScriptedChannel, any NFCISO15693Tag) {
        let fixture = ScriptedTag(vicinityTarget, script)
        return (fixture.channel, try fixture.tag.iso15693)
    }

    static func feliCa(
        _ script: String...,
        app: AppConfiguration = AppConfiguration()
    ) throws -> (ScriptedChannel, any NFCFeliCaTag) {
        let fixture = ScriptedTag(feliCaTarget, script, app: app)
        return (fixture.channel, try fixture.tag.feliCa)
    }

    static func iso7816(
        _ script: String...,
        app: AppConfiguration = AppConfiguration()
    ) throws -> (ScriptedChannel, any NFCISO7816Tag) {
        let fixture = ScriptedTag(iso7816Target, script, app: app)
        return (fixture.channel, try fixture.tag.iso7816)
    }

    static func miFare(
        _ target: TagTarget = ultralightTarget,
        _ script: String...
    ) throws -> (ScriptedChannel, any NFCMiFareTag) {
        let fixture = ScriptedTag(target, script)
        return (fixture.channel, try fixture.tag.miFare)
    }
}
