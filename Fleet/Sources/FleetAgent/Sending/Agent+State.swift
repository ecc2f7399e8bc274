// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool

/// The payloads of retained state messages.
enum AgentState {
    static let online = Array("online".utf8)
    static let offline = Array("offline".utf8)

    static func bytes(_ isOnline: Bool) -> [UInt8] { isOnline ? online : offline }
}

/// A reader and its availability.
struct ReaderState: Sendable {
    var reader: StationReader
    var isAvailable = false

    init(_ reader: StationReader) { self.reader = reader }
}

/// Messages retained at the broker: state, readers, and Home Assistant discovery documents.
extension Agent {
    var discovery: HomeAssistantDiscovery? {
        settings.discoveryPrefix.map { prefix in
            HomeAssistantDiscovery(prefix: prefix, topics: settings.topics, node: node, version: AgentVersion.program)
        }
    }

    /// Publishes all retained messages after connecting.
    func announceAll() async {
        publishedPositions = [:]
        await remember(topics(of: Set(states.keys)))
        publish(settings.topics.state(node), AgentState.online, isRetained: true)
        publishInfo()
        for reader in states.keys.sorted() {
            guard let state = states[reader] else { continue }
            publish(settings.topics.availability(node, reader), AgentState.bytes(state.isAvailable), isRetained: true)
            publishTags(of: reader)
        }
        announceToHomeAssistant()
        await clearGone()
    }

    /// Publishes the retained messages for a new reader.
    func announce(_ reader: FleetName) async {
        await remember(topics(of: [reader]))
        guard let state = states[reader] else { return }
        publish(settings.topics.availability(node, reader), AgentState.bytes(state.isAvailable), isRetained: true)
        publishTags(of: reader)
        publish(discovery?.documents(reader: reader, model: state.reader.model) ?? [])
    }

    /// Publishes the tags on a reader.
    func publishTags(of reader: FleetName) {
        guard outbox.isConnected else { return }
        let value: JSONValue = ["tags": tags[reader] ?? []]
        publish(settings.topics.tags(node, reader), value.bytes, isRetained: true)
    }

    // MARK: Clearing retained messages

    /// The topics of the messages retained for the node and the given readers, except positions.
    private func topics(of readers: Set<FleetName>) -> Set<String> {
        var topics: Set = [settings.topics.state(node), settings.topics.info(node)]
        topics.formUnion(discovery?.nodeDocuments.map(\.topic) ?? [])
        for reader in readers {
            topics.formUnion([settings.topics.availability(node, reader), settings.topics.tags(node, reader)])
            topics.formUnion(discovery?.documents(reader: reader, model: "").map(\.topic) ?? [])
        }
        return topics
    }

    /// Records that the broker will retain messages on these topics, so that this run or a later one can clear them. If
    /// the disk is full, this is retried after the next connection.
    func remember(_ topics: Set<String>) async {
        for (number, topic) in topicsBeingCleared where topics.contains(topic) { topicsBeingCleared[number] = nil }
        let new = topics.subtracting(retained)
        guard !new.isEmpty, (try? await spool.note(retained: new, true)) != nil else { return }
        retained.formUnion(new)
    }

    /// Clears messages retained for removed readers or earlier settings. A reader that may still be found is reported
    /// as offline.
    func clearGone() async {
        let isSettled = settings.readerGrace == .zero || ContinuousClock.now - startTime >= settings.readerGrace
        guard outbox.isConnected, let positions = try? await spool.positions() else { return }
        var readers = Set(states.keys)
        if !isSettled {
            let missing = Set(retained.compactMap(earlierReader)).subtracting(readers)
            for reader in missing.sorted() {
                publish(settings.topics.availability(node, reader), AgentState.offline, isRetained: true)
            }
            readers.formUnion(missing)
        }
        let positionTopics = positions.filter { isShown($0) }.map { settings.topics.position(node, $0.reader) }
        let current = topics(of: readers).union(positionTopics)
        let gone = retained.subtracting(current).subtracting(topicsBeingCleared.values)
        for topic in gone.sorted() {
            lastClearing += 1
            topicsBeingCleared[lastClearing] = topic
            connection.publish(topic, [], isRetained: true, number: lastClearing)
        }
    }

    /// The reader in an availability topic of this node; nil for other topics.
    private func earlierReader(_ topic: String) -> FleetName? {
        guard let place = settings.topics.place(of: topic), place.node == node, place.leaf == "availability" else {
            return nil
        }
        return place.reader
    }

    /// Whether to publish a reader's position: the reader exists, or its events can be resent.
    func isShown(_ position: ReaderPosition) -> Bool {
        position.first != nil || position.reader == .bridge || states[position.reader] != nil
    }

    /// Records that the broker has cleared topics.
    func noteCleared(_ numbers: [UInt64]) async {
        let topics = Set(numbers.compactMap { topicsBeingCleared.removeValue(forKey: $0) })
        guard !topics.isEmpty, (try? await spool.note(retained: topics, false)) != nil else { return }
        retained.subtract(topics)
        log("cleared", "\(topics.count) retained messages about readers that this node no longer has were cleared.")
    }

    // MARK: Documents

    /// Publishes the documents through which Home Assistant discovers the readers.
    func announceToHomeAssistant() {
        guard let discovery else { return }
        publish(discovery.nodeDocuments)
        for reader in states.keys.sorted() {
            guard let state = states[reader] else { continue }
            publish(discovery.documents(reader: reader, model: state.reader.model))
        }
    }

    private func publish(_ documents: [HomeAssistantDiscovery.Document]) {
        for document in documents { publish(document.topic, document.payload.bytes, isRetained: true) }
    }

    func publishInfo() { publish(settings.topics.info(node), info.bytes, isRetained: true) }

    private var info: JSONValue {
        let readers = states.values.sorted { $0.reader.name < $1.reader.name }.map { state -> JSONValue in
            [
                "name": .string(state.reader.name.text), "reader": .string(state.reader.reader),
                "kind": .string(state.reader.kind), "available": .bool(state.isAvailable),
            ]
        }
        let problem: [JSONValue.Member] = shortage == nil ? [] : [.init("problem", "spool-full")]
        let members: JSONValue = [
            "node": .string(node.text), "protocol": .integer(AgentVersion.protocol),
            "version": .string(AgentVersion.program), "started": .string(Timestamp.text(started)),
            "stream": .string(spool.stream), "readers": .array(readers),
            "settings": [
                "uid": naming.isHashed ? "hashed" : "plain", "accepts_jobs": .bool(settings.acceptsJobs),
                "signed_jobs": .bool(settings.keys.areNeeded), "spool_limit_mb": .integer(settings.spool.limit),
                "spool_policy": .string(settings.spool.policy.rawValue), "keep": .integer(settings.spool.keep),
                "removal_delay_ms": .integer(Int(settings.removalDelay / .milliseconds(1))),
                "in_flight": .integer(settings.inFlight),
            ],
        ]
        return .object((members.objectMembers ?? []) + problem)
    }
}
