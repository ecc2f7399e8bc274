// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool

/// Sending events from the spool to the broker.
extension Agent {
    /// How long to collect acknowledgements before storing them. If the agent is killed before that, these events are
    /// sent again.
    private static let flushDelay = Duration.seconds(2)
    private static let positionDelay = Duration.seconds(3)
    private static let longestPositionDelay = Duration.seconds(30)

    /// Starts sending pending events, without waiting for them.
    func wantPump() {
        isPumpWanted = true
        guard !isPumping else { return }
        loopActor.begin { _ in await self.pump() }
    }

    /// Sends pending events in order, as many as the window allows.
    func pump() async {
        isPumpWanted = true
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        while isPumpWanted {
            (isPumpWanted, mayHaveMore) = (false, true)
            while outbox.room > 0 {
                let from = outbox.lastSent
                guard let stored = try? await spool.waiting(after: from, limit: outbox.room) else {
                    later(Self.retryDelay) { await $0.wantPump() }
                    break
                }
                // An event in memory may have been stored in the spool by now. An event that the job desk reported late
                // has a smaller number than the last event sent.
                let others = unstoredEvents.filter { event in
                    outbox.inFlight[event.number] == nil && !stored.contains { $0.number == event.number }
                }
                let waiting = (stored + others).sorted { $0.number < $1.number }.prefix(outbox.room)
                guard !waiting.isEmpty else {
                    mayHaveMore = false
                    break
                }
                // The connection may have been lost and re-established during the read.
                guard outbox.isConnected, outbox.lastSent == from else { continue }
                send(waiting)
            }
        }
    }

    /// Sends events that were just stored. If everything before them was sent, skips reading the spool.
    func sendOrPump(_ stored: StoredEvents) {
        guard !isPumping, outbox.room >= stored.events.count, outbox.isNext(stored) else { return wantPump() }
        send(stored.events)
    }

    /// The maximum age of an event that is not marked late.
    private static let latest = Duration.seconds(5)

    private func send(_ events: some Sequence<StoredEvent>) {
        publish(
            events.map { event in
                let isLate = outbox.send(event) || CloudEvent.age(event.payload) > Self.latest
                let isShortened = outbox.isShortened(event.number) || oversizedEvents.contains(event.number)
                let payload = isShortened ? CloudEvent.shortened(event.payload) ?? event.payload : event.payload
                return (
                    settings.topics.event(node, event.reader),
                    isLate ? CloudEvent.late(payload) : payload,
                    UInt64(event.number)
                )
            }
        )
    }

    func acknowledge(_ numbers: [UInt64]) async {
        if !unstoredEvents.isEmpty { unstoredEvents.removeAll { numbers.contains(UInt64($0.number)) } }
        let places = numbers.compactMap { outbox.acknowledge(Int64($0)) }
        guard !places.isEmpty else { return }
        if !refusedTopics.isEmpty {
            for place in places { refusedTopics.remove(settings.topics.event(node, place.reader)) }
        }
        acknowledged += places
        lastAcknowledgement = .now
        if mayHaveMore, outbox.inFlight.count <= outbox.window / 2 { wantPump() }
        if acknowledged.count >= 200, !hasFailedToFlush { return await flush() }
        scheduleFlush(after: Self.flushDelay)
    }

    /// How long to wait before resending messages that the broker rejected.
    private static let refusalDelay = Duration.seconds(30)
    /// How long to wait before retrying a spool operation that failed.
    private static let retryDelay = Duration.seconds(5)

    /// Handles a message that the broker rejected. A rejected event and all later events stay in the spool.
    func refuse(_ number: Int64?, on topic: String, _ reason: String) {
        // The event is sent again and again, so log the rejection only once until the broker accepts an event on the
        // topic.
        if refusedTopics.insert(topic).inserted {
            log(
                "not-allowed",
                "The broker does not let \(connection.login) publish on \(topic) (\(reason)). Check its access list.",
                [.init("topic", .string(topic))]
            )
        }
        guard number != nil, !outbox.isPaused else { return }
        outbox.pause()
        later(Self.refusalDelay) { await $0.resume() }
    }

    private func resume() {
        // If there is a new connection, sending has already restarted from the beginning.
        guard outbox.isPaused else { return }
        outbox.resume()
        wantPump()
    }

    private func scheduleFlush(after delay: Duration) {
        guard !isFlushDue, !isStopping else { return }
        isFlushDue = true
        later(delay) { await $0.flush() }
    }

    /// Keeps acknowledgements that could not be stored, for the next transaction. Their events are not sent again over
    /// this connection, so otherwise the spool would never remove them.
    func keepAcknowledged(_ places: [StoredEvent.Place]) {
        guard !places.isEmpty else { return }
        acknowledged = places + acknowledged
        hasFailedToFlush = true
        scheduleFlush(after: Self.retryDelay)
    }

    /// Stores the acknowledgements.
    func flush() async {
        isFlushDue = false
        let places = takeAcknowledged()
        guard !places.isEmpty else { return }
        do throws(SpoolError) {
            // The acknowledgements may have freed space for pending reports.
            let hasDropped = try await spool.acknowledge(places)
            hasFailedToFlush = false
            if hasDropped || shortage != nil { await announceDropped() }
        } catch {
            keepAcknowledged(places)
            log("spool", "Acknowledgements were not stored. \(error.reason)")
        }
    }

    /// Returns the acknowledgements not yet stored, and clears the list.
    func takeAcknowledged() -> [StoredEvent.Place] {
        defer { acknowledged = [] }
        guard !acknowledged.isEmpty else { return [] }
        schedulePositions()
        return acknowledged
    }

    /// Publishes the positions once acknowledgements pause. Until then, event numbers reveal gaps.
    private func schedulePositions() {
        guard !isPositionDue else { return }
        isPositionDue = true
        positionLimit = .now + Self.longestPositionDelay
        later(Self.positionDelay) { await $0.publishPositionsWhenQuiet() }
    }

    private func publishPositionsWhenQuiet() async {
        guard ContinuousClock.now < min(lastAcknowledgement + Self.positionDelay, positionLimit) else {
            return await publishPositions()
        }
        later(Self.positionDelay) { await $0.publishPositionsWhenQuiet() }
    }

    /// Runs a function after a delay. A loop timer is cheaper than a sleeping task.
    func later(_ delay: Duration, _ body: @escaping @Sendable (Agent) async -> Void) {
        _ = settings.loop.after(delay) { [weak self, loopActor] in
            guard let self else { return }
            loopActor.begin { _ in await body(self) }
        }
    }

    /// Publishes the positions that have changed.
    func publishPositions() async {
        isPositionDue = false
        guard outbox.isConnected, let positions = try? await spool.positions().filter(isShown) else { return }
        await remember(Set(positions.map { settings.topics.position(node, $0.reader) }))
        guard outbox.isConnected else { return }
        for position in positions where publishedPositions[position.reader] != position {
            publishedPositions[position.reader] = position
            let topic = settings.topics.position(node, position.reader)
            publish(topic, position.json(stream: spool.stream).bytes, isRetained: true)
        }
    }

    /// Waits briefly for all pending events to be acknowledged.
    func drain() async {
        for _ in 0..<40 where outbox.isConnected {
            await pump()
            guard !outbox.inFlight.isEmpty || isPumping else { break }
            try? await Task.sleep(for: .milliseconds(20))
        }
        await flush()
        await publishPositions()
    }

    /// The maximum number of events resent for one request. Other requests are refused meanwhile.
    private static let maximumReplayed = 10_000
    /// The maximum size of the events resent in a minute, in bytes. A small request can ask for many events.
    static let maximumReplayedBytes = 16 << 20

    /// Resends events on request.
    func replay(_ payload: [UInt8]) async {
        guard let request = try? JSONValue(parsing: payload),
            let reader = request["reader"]?.text.flatMap(FleetName.init),
            let from = request["from"]?.int, let to = request["to"]?.int, from <= to,
            request["stream"].map({ $0.text == spool.stream }) ?? true
        else { return requestLog("replay-refused", "A request for events is not valid.") }
        let room = Self.maximumReplayed - replayedEvents.count
        let size = replayBudget.rest(now: .now)
        guard room > 0, size > 0 else {
            return await refuseReplay(
                of: reader,
                "This node has sent as many old events as it may in a minute. Repeat the request in a minute."
            )
        }
        let range = Int64(from)...Int64(to)
        do throws(SpoolError) {
            let events = try await spool.events(of: reader, in: range, limit: room, size: size)
            if events.isEmpty, states[reader] == nil,
                try await !spool.positions().contains(where: { $0.reader == reader })
            {
                return await refuseReplay(of: reader, "The node \(node) has no reader \(reader). Check its name.")
            }
            guard outbox.isConnected else { return }
            replayBudget.spend(events.map(\.payload.count).reduce(0, +))
            requestLog("replay", "\(events.count) events of \(reader) are sent again.")
            for event in events { publishAgain(event) }
        } catch {
            requestLog("spool", "The events that were requested can't be read. \(error.reason)")
        }
    }

    /// Answers a request with an error event. Anyone can send requests, so these events are limited: they must not fill
    /// the spool.
    private func refuseReplay(of reader: FleetName, _ reason: String) async {
        requestLog("replay-refused", "A request for events was refused. \(reason)")
        guard replayRefusals.allows(now: Timestamp.now) else { return }
        let event = FleetEvent(
            .error,
            time: Timestamp.now,
            ["code": "replay-refused", "message": .string(reason), "requested": .string(reader.text)]
        )
        _ = await store([event], of: .bridge)
    }
}
