// SPDX-License-Identifier: Apache-2.0

/// The documents through which Home Assistant discovers a node and its readers.
///
/// Documents are retained, and published again when Home Assistant sends its birth message.
package struct HomeAssistantDiscovery: Sendable {
    /// A document and its topic.
    package struct Document: Sendable, Hashable {
        package var topic: String
        package var payload: JSONValue
    }

    /// The payload of a birth message.
    package static let birth = Array("online".utf8)

    private let prefix: String
    private let topics: FleetTopics
    private let node: FleetName
    private let version: String

    /// - Parameters:
    ///   - prefix: Home Assistant's discovery prefix. Its default is `homeassistant`.
    ///   - version: the agent's version.
    package init(prefix: String, topics: FleetTopics, node: FleetName, version: String) {
        self.prefix = prefix
        self.topics = topics
        self.node = node
        self.version = version
    }

    /// The topic on which Home Assistant announces that it has started.
    package var birthTopic: String { "\(prefix)/status" }

    /// The node's documents: a sensor for whether the agent is connected.
    package var nodeDocuments: [Document] {
        let id = "opencorenfc/\(node)"
        return [
            Document(
                topic: "\(prefix)/binary_sensor/\(node)/config",
                payload: [
                    "name": "Agent", "unique_id": .string(id),
                    "state_topic": .string(topics.state(node)), "payload_on": "online", "payload_off": "offline",
                    "device_class": "connectivity", "entity_category": "diagnostic",
                    "device": device(id, name: node.text, model: "nfc-agent"),
                ]
            )
        ]
    }

    /// A reader's documents: a tag scanner, and sensors for the reader's availability and the tag on the reader.
    ///
    /// - Parameters:
    ///   - reader: the reader's name.
    ///   - model: the display name of the reader's kind.
    package func documents(reader: FleetName, model: String) -> [Document] {
        let id = "opencorenfc/\(node)/\(reader)"
        let device = device(id, name: "\(node) \(reader)", model: model)
        return [
            Document(
                topic: "\(prefix)/tag/\(node)/\(reader)/config",
                payload: [
                    "topic": .string(topics.event(node, reader)), "value_template": .string(Self.template),
                    "device": device,
                ]
            ),
            Document(
                topic: "\(prefix)/binary_sensor/\(node)/\(reader)/config",
                payload: [
                    "name": "Reader", "unique_id": .string(id),
                    "state_topic": .string(topics.availability(node, reader)), "payload_on": "online",
                    "payload_off": "offline", "device_class": "connectivity", "entity_category": "diagnostic",
                    "availability_topic": .string(topics.state(node)), "payload_available": "online",
                    "payload_not_available": "offline", "device": device,
                ]
            ),
            Document(
                topic: "\(prefix)/sensor/\(node)/\(reader)/config",
                payload: [
                    "name": "Tag", "unique_id": .string(id + "/tag"), "state_topic": .string(topics.tags(node, reader)),
                    "value_template": "{{ value_json.tags[-1].tag_id if value_json.tags else 'none' }}",
                    "json_attributes_topic": .string(topics.tags(node, reader)),
                    "availability_topic": .string(topics.state(node)), "payload_available": "online",
                    "payload_not_available": "offline", "device": device,
                ]
            ),
        ]
    }

    /// Yields the tag's ID if the tag has just arrived and is not rejected by an allow list. Otherwise yields an empty
    /// result, which Home Assistant ignores: removals, errors and late events cause no scan.
    static let template =
        "{{ value_json.data.tag_id if value_json.type == '\(EventKind.tag.type)' and not value_json.late "
        + "and value_json.data.allowed | default(true) else '' }}"

    private func device(_ id: String, name: String, model: String) -> JSONValue {
        [
            "identifiers": [.string(id)], "name": .string(name), "manufacturer": "OpenCoreNFC",
            "model": .string(model), "sw_version": .string(version),
        ]
    }
}
