// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool

/// What a retained state says.
enum AgentState {
    static let online = Array("online".utf8)
    static let offline = Array("offline".utf8)

    static func bytes(_ isOnline: Bool) -> [UInt8] { isOnline ? online : offline }
}

/// A reader, and whether it works.
struct ReaderState: Sendable {
    var reader: StationReader
    var isAvailable = false

    init(_ reader: StationReader) { self.reader = reader }
}

/// What is retained at the broker: state, readers, and Home Assistant's documents.
extension Agent {
    var discovery: HomeAssistantDiscovery? {
        settings.discoveryPrefix.map { prefix in
            HomeAssistantDiscovery(prefix: prefix, topics: settings.topics, node: node, version: AgentVersion.program)
        }
    }

    /// Publishes everything that is retained, after a connection was made.
    func announceAll() {
        published = [:]
        publish(settings.topics.state(node), AgentState.online, isRetained: true)
        publishInfo()
        for reader in states.keys.sorted() {
            guard let state = states[reader] else { continue }
            publish(settings.topics.availability(node, reader), AgentState.bytes(state.isAvailable), isRetained: true)
        }
        announceToHomeAssistant()
    }

    /// Publishes what is retained about a new reader.
    func announce(_ reader: FleetName) {
        guard let state = states[reader] else { return }
        publish(settings.topics.availability(node, reader), AgentState.bytes(state.isAvailable), isRetained: true)
        publish(discovery?.documents(reader: reader, model: state.reader.model) ?? [])
    }

    /// Publishes the documents with which Home Assistant finds the readers.
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
        return [
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
    }
}
