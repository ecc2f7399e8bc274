// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetMQTT
import FleetModel
import FleetSpool
import NFCSessions
import Synchronization
import TagLink
import VirtualTags

/// A node with one virtual reader, and one tag that arrives and leaves.
final class LoadNode: Sendable {
    private let agent: Agent
    private let spool: Spool
    // A kiosk's reader polls in hardware. This one polls only for its tag's technology, so that little of the measured
    // time goes to polling, which is not the agent's work.
    private let field = LoadField()
    private let tag: VirtualType2Tag
    private let loop: EventLoop
    private let changes = Mutex(Changes())
    private let connection = LoadConnection()

    private struct Changes {
        var count = 0
        var isNear = false
        /// Whether the end of each poll triggers the next change.
        var followsPolls = false
    }

    private static let removalDelay = Duration.milliseconds(20)
    /// How long the tag stays away. It is longer than `removalDelay`, because a tag that returns sooner does not count
    /// as removed.
    private static let absence = Duration.milliseconds(25)

    init(_ number: Int, _ address: BrokerAddress, file: SpoolFile, inFlight: Int) async throws {
        guard let name = FleetName("node-\(number)"), let reader = FleetName("entrance") else {
            throw LoadFailure("A name is invalid.")
        }
        tag = Self.makeTag(number)
        spool = try Spool(file, node: name)
        var settings = AgentSettings()
        settings.removalDelay = Self.removalDelay
        settings.inFlight = inFlight
        settings.connectionLoop = settings.loop
        settings.log = connection.log
        loop = settings.loop
        agent = Agent(settings, broker: MQTTSettings(address: address, client: "opencorenfc-\(name)"), spool: spool)
        try await agent.start()
        let environment = NFCEnvironment(reader: .field(field), clock: LoopClock(settings.loop))
        await agent.add(
            StationReader(name: reader, reader: "virtual", environment: environment, place: LoopActor(settings.loop))
        )
    }

    /// An NTAG213 with a link, `https://example.com/t/NUMBER`.
    private static func makeTag(_ number: Int) -> VirtualType2Tag {
        let (low, middle, high) = (UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number >> 16 & 0xFF))
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xE1, 0x5A, low, middle, high, 0x80])
        let link = [0x04] + Array("example.com/t/\(number)".utf8)
        let message = [0xD1, 0x01, UInt8(link.count), 0x55] + link
        let bytes = [0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(21..<21 + bytes.count, with: bytes)
        return VirtualType2Tag(contents)
    }

    var isConnected: Bool { connection.isMade.load(ordering: .relaxed) }

    /// How many events the broker has not acknowledged.
    var waiting: Int {
        get async { (try? await spool.waitingCount()) ?? 0 }
    }

    /// How many times the tag arrived or left.
    var changeCount: Int { changes.withLock { $0.count } }

    /// Adds the tag to the field, or removes it.
    func change() {
        let isAdded = changes.withLock { changes in
            changes.count += 1
            changes.isNear.toggle()
            return changes.isNear
        }
        if isAdded { field.base.bring(tag) } else { field.base.remove(tag) }
    }

    /// Adds and removes the tag repeatedly, as fast as possible: each time once the reader has noticed the last change
    /// and the event is in the spool.
    func followPolls() {
        changes.withLock { $0.followsPolls = true }
        field.onPollEnd { [weak self] in self?.pollEnded() }
        change()
    }

    /// Ends the changes, and removes the tag if it is present, so that its last event is not created when the agent
    /// stops.
    func finishChanges() {
        let isNear = changes.withLock { changes in
            changes.followsPolls = false
            return changes.isNear
        }
        if isNear { change() }
    }

    private func pollEnded() {
        let (follows, isNear) = changes.withLock { ($0.followsPolls, $0.isNear) }
        guard follows else { return }
        if isNear { return change() }
        loop.perform { [loop] in
            loop.after(Self.absence) { [weak self] in
                guard let self, changes.withLock({ $0.followsPolls }) else { return }
                change()
            }
        }
    }

    func stop() async { await agent.stop() }
}

/// Whether a node is connected, according to its log.
final class LoadConnection: Sendable {
    let isMade = Atomic(false)

    var log: AgentLog {
        AgentLog { event, _, _ in
            switch event {
            case "connected": self.isMade.store(true, ordering: .relaxed)
            case "disconnected": self.isMade.store(false, ordering: .relaxed)
            default: break
            }
        }
    }
}
