// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
package import FleetSpool
import NFCSessions
import TagProtocols

/// The agent of a node: readers, spool and connection put together.
///
/// Every event is in the spool before it is sent. Without a broker everything but the sending goes on.
package actor Agent {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe settings.loop.asUnownedSerialExecutor() }

    nonisolated let settings: AgentSettings
    /// Where the tasks of the agent run. They do not keep it alive.
    nonisolated let place: LoopActor
    let spool: Spool
    let jobs: JobDesk
    nonisolated let naming: TagNaming
    let log: AgentLog
    /// The log of requests that anybody can send.
    let requestLog: LimitedLog

    var outbox: Outbox
    /// The events that are sent once more because somebody has asked for them, by the number with which they are published.
    var replayed: [Int64: StoredEvent.Place] = [:]
    /// The events that were larger than the broker takes.
    var oversized: Set<Int64> = []
    var stations: [FleetName: (station: ReaderStation, task: Task<Void, Never>)] = [:]
    var states: [FleetName: ReaderState] = [:]
    /// The tags that lie on each reader, as they are published.
    var tags: [FleetName: JSONValue] = [:]
    /// The topics on which the broker keeps a message, as the spool has them.
    var retained: Set<String> = []
    /// The topics that are being cleared, by the number with which that is published.
    var clearing: [UInt64: String] = [:]
    /// The number of the last clearing. Events have smaller numbers.
    var lastClearing: UInt64 = 1 << 61
    let begun = ContinuousClock.now
    private let events = Mailbox<MQTTEvent>()
    private let requests = RequestQueue()
    private var requestsTask: Task<Void, Never>?
    let connection: MQTTConnection
    var isStopping = false
    /// Until when requests are handled that came before the end.
    private var requestLimit = ContinuousClock.now
    let started = Timestamp.now

    var isPumping = false
    var isPumpWanted = false
    /// Whether the spool may have events that were not sent over this connection.
    var mayHaveMore = true
    var acknowledged: [StoredEvent.Place] = []
    var lastAcknowledgement = ContinuousClock.now
    var isFlushDue = false
    /// Whether the acknowledgements could not be stored at the last try.
    var hasFailedToFlush = false
    var published: [FleetName: ReaderPosition] = [:]
    var isPositionDue = false
    /// When the positions are published at the latest.
    var positionLimit = ContinuousClock.now
    /// Why the last event had no room, or needed that of others; nil when there was enough.
    var shortage: SpoolShortage?
    var looksForRoom = false
    /// Events for which the disk had no room, until the broker has acknowledged them.
    var unstored: [StoredEvent] = []

    /// Creates an agent. ``start()`` begins its work.
    ///
    /// - Parameters:
    ///   - settings: what it does.
    ///   - broker: how it connects. Its client and will are those of the node.
    ///   - spool: the node's file.
    package init(_ settings: AgentSettings, broker: MQTTSettings, spool: Spool) {
        self.settings = settings
        place = LoopActor(settings.loop)
        self.spool = spool
        naming = settings.naming
        log = settings.log
        requestLog = LimitedLog(settings.log, about: "requests to send events again", loop: settings.loop)
        outbox = Outbox(window: settings.inFlight)
        var broker = broker
        broker.keepsSession = true
        broker.will = MQTTSettings.Will(topic: settings.topics.state(spool.node), payload: AgentState.offline)
        connection = MQTTConnection(broker, loop: settings.connectionLoop) { [events, requests] event in
            if case .message(let message) = event { requests.offer(message) } else { events.send(event) }
        }
        jobs = JobDesk(
            JobDesk.Parts(
                spool: spool,
                naming: settings.naming,
                keys: settings.keys,
                secrets: settings.secrets,
                acceptsJobs: settings.acceptsJobs,
                log: settings.log,
                loop: settings.loop
            )
        ) { [stored] events in stored.send(events) }
    }

    /// Reports that the desk has stored an event.
    private let stored = Mailbox<[StoredEvent]>()

    // The tasks that wait for these keep themselves.
    deinit {
        events.close()
        requests.close()
        stored.close()
    }

    /// The node's name.
    package nonisolated var node: FleetName { spool.node }

    /// Begins to connect, and to look for tags at the readers that were added.
    ///
    /// - Parameter addReaders: adds the readers that are known, before jobs for them can come.
    package func start(_ addReaders: @Sendable () async -> Void = {}) async throws(SpoolError) {
        try await jobs.begin()
        retained = try await spool.retainedTopics()
        await announceDropped()
        place.begin { [weak self, events] _ in
            while let events = await events.next() {
                for event in events { await self?.take(event) }
            }
        }
        requestsTask = place.begin { [weak self, requests] _ in
            while let messages = await requests.next() {
                for message in messages {
                    guard let pause = await self?.handle(message), pause > .zero else { continue }
                    try? await Task.sleep(for: pause)
                }
            }
        }
        place.begin { [weak self, stored] _ in
            while let events = await stored.next() {
                await self?.keepUnstored(events.joined())
                await self?.pump()
            }
        }
        await addReaders()
        if settings.readerGrace > .zero { later(settings.readerGrace) { await $0.clearGone() } }
        connection.start()
    }

    /// Handles a request, and returns how long to wait with the next one.
    private func handle(_ message: MQTTMessage) async -> Duration {
        if !isStopping || ContinuousClock.now < requestLimit { await take(message) }
        let (dropped, pause) = requests.finish(message)
        if dropped > 0 { await jobs.noteDropped(dropped) }
        return isStopping ? .zero : pause
    }

    /// Ends within two seconds: finishes a job that has begun, stores that the tags are gone, sends what can be sent, and
    /// says goodbye.
    package func stop() async {
        guard !isStopping else { return }
        isStopping = true
        requestLimit = .now + .milliseconds(100)
        requests.close()
        await requestsTask?.value
        await jobs.close()
        let ends = stations.values.map { station, task in
            Task {
                await station.stop()
                await task.value
            }
        }
        for end in ends { await end.value }
        requestLog.reportLeftOut()
        await drain()
        if outbox.isConnected { publish(settings.topics.state(node), AgentState.offline, isRetained: true) }
        await connection.stop()
        events.close()
        stored.close()
        await flush()
        if !unstored.isEmpty { try? await spool.drop(unstored.map(\.place)) }
    }
}
