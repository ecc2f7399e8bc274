// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
package import FleetSpool
import NFCSessions
import TagProtocols

/// A node's agent, which connects the readers, the spool and the broker connection.
///
/// Every event is stored in the spool before it is sent. Without a broker, everything except sending continues.
package actor Agent {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe settings.loop.asUnownedSerialExecutor() }

    nonisolated let settings: AgentSettings
    /// Runs the agent's tasks, which do not keep the agent alive.
    nonisolated let loopActor: LoopActor
    let spool: Spool
    let jobs: JobDesk
    nonisolated let naming: TagNaming
    let log: AgentLog
    /// A rate-limited log for requests, because anyone can send them.
    let requestLog: LimitedLog

    var outbox: Outbox
    /// Events being resent on request, by the number used to publish them.
    var replayedEvents: [Int64: StoredEvent.Place] = [:]
    /// How many bytes of events may be resent now.
    var replayBudget = MinuteBudget(Agent.maximumReplayedBytes)
    /// Limits the answers to refused requests.
    var replayRefusals = MinuteLimit(10)
    /// The topics that the broker's access list forbids, so that each is logged once.
    var refusedTopics: Set<String> = []
    /// The numbers of events that exceed the broker's size limit.
    var oversizedEvents: Set<Int64> = []
    var stations: [FleetName: (station: ReaderStation, task: Task<Void, Never>)] = [:]
    var states: [FleetName: ReaderState] = [:]
    /// The tags on each reader, as published.
    var tags: [FleetName: JSONValue] = [:]
    /// The topics on which the broker retains a message, according to the spool.
    var retained: Set<String> = []
    /// The topics being cleared, by the number used to publish the empty message.
    var topicsBeingCleared: [UInt64: String] = [:]
    /// The number of the last message that cleared a topic. Event numbers are smaller.
    var lastClearing: UInt64 = 1 << 61
    let startTime = ContinuousClock.now
    private let events = Mailbox<MQTTEvent>()
    private let requests = RequestQueue()
    private var requestsTask: Task<Void, Never>?
    let connection: MQTTConnection
    var isStopping = false
    /// After a stop, queued requests are handled until this time.
    private var requestLimit = ContinuousClock.now
    let started = Timestamp.now

    var isPumping = false
    var isPumpWanted = false
    /// Whether the spool may hold events not yet sent over this connection.
    var mayHaveMore = true
    var acknowledged: [StoredEvent.Place] = []
    var lastAcknowledgement = ContinuousClock.now
    var isFlushDue = false
    /// Whether the last attempt to store acknowledgements failed.
    var hasFailedToFlush = false
    var publishedPositions: [FleetName: ReaderPosition] = [:]
    var isPositionDue = false
    /// The latest time to publish the positions.
    var positionLimit = ContinuousClock.now
    /// Why there was no space for the last event without dropping others; nil if there was enough.
    var shortage: SpoolShortage?
    var looksForRoom = false
    /// Events that did not fit on the disk. Kept in memory until the broker acknowledges them.
    var unstoredEvents: [StoredEvent] = []

    /// Creates an agent. ``start()`` begins its work.
    ///
    /// - Parameters:
    ///   - settings: the agent's settings.
    ///   - broker: the connection settings. The agent sets the will.
    ///   - spool: the node's spool.
    package init(_ settings: AgentSettings, broker: MQTTSettings, spool: Spool) {
        self.settings = settings
        loopActor = LoopActor(settings.loop)
        self.spool = spool
        naming = settings.naming
        log = settings.log
        requestLog = LimitedLog(settings.log, about: "requests to resend events", loop: settings.loop)
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

    /// Receives events that the job desk has stored.
    private let stored = Mailbox<[StoredEvent]>()

    // The tasks that read these mailboxes hold references to them, so closing ends the tasks.
    deinit {
        events.close()
        requests.close()
        stored.close()
    }

    /// The node's name.
    package nonisolated var node: FleetName { spool.node }

    /// Starts connecting, and looking for tags at the readers that were added.
    ///
    /// - Parameter addReaders: adds the known readers before jobs for them can arrive.
    package func start(_ addReaders: @Sendable () async -> Void = {}) async throws(SpoolError) {
        try await jobs.begin()
        retained = try await spool.retainedTopics()
        await announceDropped()
        loopActor.begin { [weak self, events] _ in
            while let events = await events.next() {
                for event in events { await self?.take(event) }
            }
        }
        requestsTask = loopActor.begin { [weak self, requests] _ in
            while let messages = await requests.next() {
                for message in messages {
                    guard let pause = await self?.handle(message), pause > .zero else { continue }
                    try? await Task.sleep(for: pause)
                }
            }
        }
        loopActor.begin { [weak self, stored] _ in
            while let events = await stored.next() {
                await self?.keepUnstored(events.joined())
                await self?.pump()
            }
        }
        await addReaders()
        if settings.readerGrace > .zero { later(settings.readerGrace) { await $0.clearGone() } }
        connection.start()
    }

    /// Handles a request. Returns how long to wait before the next request.
    private func handle(_ message: MQTTMessage) async -> Duration {
        if !isStopping || ContinuousClock.now < requestLimit { await take(message) }
        let (dropped, pause) = requests.finish(message)
        if dropped > 0 { await jobs.noteDropped(dropped) }
        return isStopping ? .zero : pause
    }

    /// Stops the agent within two seconds: finishes a running job, stores that the tags are gone, sends pending events
    /// if possible, and disconnects.
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
        requestLog.reportOmittedLines()
        await drain()
        if outbox.isConnected { publish(settings.topics.state(node), AgentState.offline, isRetained: true) }
        await connection.stop()
        events.close()
        stored.close()
        await flush()
        if !unstoredEvents.isEmpty { try? await spool.drop(unstoredEvents.map(\.place)) }
    }
}
