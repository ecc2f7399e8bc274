// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import TagProtocols

/// A reader with one tag that answers from a script, and records what is sent to it.
final class ScriptedChannel: DiscoveringDriver, SelfActivatingLink, APDULink {
    private struct State {
        var script: [String]
        var sent: [String] = []
        var answerTimes: [Airtime] = []
    }

    let identity: DiscoveredTag.Identity
    /// The name of the tag in its commands, which scripts write as `|`.
    private let tagName: String
    private let state: Locked<State>
    let manualClock = ManualClock()

    init(_ identity: DiscoveredTag.Identity, _ script: [String]) {
        self.identity = identity
        state = Locked(State(script: script))
        switch identity {
        case .nfcV(let uid, _): tagName = uid.reversed().hexText()
        default: tagName = TestTag.idm.hexText()
        }
    }

    /// The packets that were sent, in hex, with `|` for the tag's name.
    var sent: [String] { state.withLock { $0.sent.map { $0.replacing(tagName, with: "|") } } }

    /// How long the channel was to wait for each answer; 1 ms where none is expected.
    var answerTimes: [Airtime] { state.withLock { $0.answerTimes } }

    private func answer(_ packet: [UInt8], within time: Airtime) throws(LinkError) -> [UInt8] {
        let answer = state.withLock { state in
            state.answerTimes.append(time)
            state.sent.append(packet.hexText())
            return time <= .milliseconds(1) || state.script.isEmpty ? "none" : state.script.removeFirst()
        }
        switch answer {
        case "none": throw LinkError(.timeout, "There is no answer.")
        case "lost": throw LinkError(.readerUnavailable, "The reader has left with the tag.")
        default: return bytes(answer.replacing("|", with: tagName))
        }
    }

    // MARK: The reader

    let name = "scripted"
    let technologies = Set(Technology.allCases)
    let statistics = LinkStatistics.zero
    let countsAir = false

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        if case .nfcA(_, 0x20, _) = identity {
            return [DiscoveredTag(identity: identity, port: .commands(self, answerToSelect: nil))]
        }
        return [DiscoveredTag(identity: identity, port: .frames(self))]
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {}
    func release() async {}
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
    func arrival(of identifier: [UInt8]) -> UInt64? { 1 }

    // MARK: The links

    var technology: Technology { identity.technology }
    let maximumFrameLength = 256
    let maximumCommandLength = 70_000
    let maximumResponseLength = 70_000

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        guard technology == .nfcF else { return Frame(try answer(frame.bytes, within: timeout)) }
        let answer = try answer(Array(frame.bytes.dropFirst()), within: timeout)
        return Frame([UInt8(answer.count + 1)] + answer)
    }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] { try answer(apdu, within: .milliseconds(100)) }
    func isPresent() async -> Bool { true }
    func wasActivated() {}
    func reactivate() async throws(LinkError) {}
}

/// A connected tag in front of a script. Each entry is an answer in hex, with `|` for the card's IDm; or `none` for no
/// answer; or `lost` when the reader has left with the tag. After the last one the tag does not answer.
struct ScriptedTag {
    let channel: ScriptedChannel
    let tag: NFCTag
    let queue = DispatchQueue(label: "test")
    private let session: ReaderSession

    init(
        _ identity: DiscoveredTag.Identity,
        _ script: [String] = [],
        app: AppConfiguration = AppConfiguration()
    ) async throws {
        channel = ScriptedChannel(identity, script)
        let environment = NFCEnvironment(
            reader: .discovering(channel),
            clock: channel.manualClock,
            limits: SessionLimits(lasting: .seconds(86_400)),
            belongsToTest: false
        )
        guard let session = ReaderSession(environment: environment) else {
            preconditionFailure("an environment with a reader has sessions")
        }
        self.session = session
        let found: ConnectableTag = await withCompletion { done in
            session.observe { event in if case .detected(let tags) = event { done(tags[0]) } }
            session.begin()
        }
        try await withCompletion { session.connect(to: found, completion: $0) }.get()
        let context = TagContext(found, session: nil, queue: queue, configuration: app)
        guard let tag = NFCTag(context, hasApplicationList: false) else {
            preconditionFailure("a phone detects the tag")
        }
        self.tag = tag
    }

    /// Waits until the commands given so far have ended, with the handlers that were called.
    func settle() async {
        _ = await withCompletion { session.readMessages(from: [], completion: $0) }
        queue.sync {}
    }

    static let uid: [UInt8] = [0xE0, 0x07, 1, 2, 3, 4, 5, 6]
    static let vicinity = DiscoveredTag.Identity.nfcV(uid: uid, dsfid: 0)
    static let feliCa = DiscoveredTag.Identity.nfcF(idm: TestTag.idm, pmm: TestTag.idm, systemCode: 3)
    static let iso7816 = DiscoveredTag.Identity.nfcA(atqa: 4, sak: 0x20, uid: [1, 2, 3, 4])
    static let ultralight = DiscoveredTag.Identity.nfcA(atqa: 0x0344, sak: 0, uid: [4, 1, 2, 3, 4, 5, 6])
    static let desfire = DiscoveredTag.Identity.nfcA(atqa: 0x0344, sak: 0x20, uid: [4, 1, 2, 3, 4, 5, 6])

    static func iso15693(_ script: String...) async throws -> (ScriptedChannel, any NFCISO15693Tag) {
        let fixture = try await ScriptedTag(vicinity, script)
        return (fixture.channel, try fixture.tag.iso15693)
    }

    static func feliCa(
        _ script: String...,
        app: AppConfiguration = AppConfiguration()
    ) async throws -> (ScriptedChannel, any NFCFeliCaTag) {
        let fixture = try await ScriptedTag(feliCa, script, app: app)
        return (fixture.channel, try fixture.tag.feliCa)
    }

    static func iso7816(
        _ script: String...,
        app: AppConfiguration = AppConfiguration()
    ) async throws -> (ScriptedChannel, any NFCISO7816Tag) {
        let fixture = try await ScriptedTag(iso7816, script, app: app)
        return (fixture.channel, try fixture.tag.iso7816)
    }

    static func miFare(_ script: String...) async throws -> (ScriptedChannel, any NFCMiFareTag) {
        let fixture = try await ScriptedTag(ultralight, script)
        return (fixture.channel, try fixture.tag.miFare)
    }
}
