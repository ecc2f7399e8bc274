// SPDX-License-Identifier: Apache-2.0

/// The documents with which Home Assistant finds a node and its readers by itself.
///
/// A document is retained, and published again at Home Assistant's birth message.
package struct HomeAssistantDiscovery: Sendable {
    /// A topic and what is published there.
    package struct Document: Sendable, Hashable {
        package var topic: String
        package var payload: JSONValue
    }

    /// What a birth message says.
    package static let birth = Array("online".utf8)

    private let prefix: String
    private let topics: FleetTopics
    private let node: FleetName
    private let version: String

    /// - Parameters:
    ///   - prefix: Home Assistant's discovery prefix, `homeassistant` by default there.
    ///   - version: the agent's version.
    package init(prefix: String, topics: FleetTopics, node: FleetName, version: String) {
        self.prefix = prefix
        self.topics = topics
        self.node = node
        self.version = version
    }

    /// Where Home Assistant publishes that it has started.
    package var birthTopic: String { "\(prefix)/status" }

    /// The documents of the node itself: whether its agent is connected.
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

    /// The documents of a reader: a tag scanner, whether the reader works, and the tag that lies there.
    ///
    /// - Parameters:
    ///   - reader: the reader's name.
    ///   - model: what people call its kind.
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

    /// Yields the tag's id for a tag that came just now and is on the allow list, where there is one. An empty result is
    /// ignored, so removals, errors, late events and other tags scan nothing.
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
