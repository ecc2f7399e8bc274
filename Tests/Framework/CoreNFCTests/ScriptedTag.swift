// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import TagProtocols

/// A session's side that answers from a script, and records what it sends.
final class ScriptedChannel: PacketSender {
    private struct State {
        var script: [String]
        var sent: [String] = []
        var answerTimes: [TagPacket.Answer] = []
    }

    /// The name of the tag in its commands, which scripts write as `|`.
    private let name: String
    private let state: Locked<State>
    let manualClock = ManualClock()

    init(name: String, _ script: [String]) {
        self.name = name
        state = Locked(State(script: script))
    }

    /// The packets that were sent, in hex, with `|` for the tag's name.
    var sent: [String] { state.withLock { $0.sent.map { $0.replacing(name, with: "|") } } }

    /// How long the channel was to wait for each answer.
    var answerTimes: [TagPacket.Answer] { state.withLock { $0.answerTimes } }

    func send(
        _ packet: TagPacket,
        to tag: ConnectableTag,
        connecting connects: Bool,
        completion: @escaping @Sendable (Result<[UInt8], CommandError>) -> Void
    ) {
        let answer = state.withLock { state in
            state.answerTimes.append(packet.answer)
            state.sent.append(packet.bytes.hexText())
            if packet.answer == .none { return "" }
            return state.script.isEmpty ? "none" : state.script.removeFirst()
        }
        switch answer {
        case "none": completion(.failure(.tag(TagError(.badAnswer, "There is no answer."))))
        case "lost": completion(.failure(.tag(TagError(.tagLost, "The tag has left."))))
        default: completion(.success(bytes(answer.replacing("|", with: name))))
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
        let context = TagContext(
            ConnectableTag(activated, session: session),
            sender: channel,
            session: nil,
            queue: queue,
            configuration: app
        )
        guard let tag = NFCTag(context, hasApplicationList: false) else {
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
