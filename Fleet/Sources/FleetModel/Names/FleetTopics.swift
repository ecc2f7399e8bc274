// SPDX-License-Identifier: Apache-2.0

/// The topics of a fleet.
package struct FleetTopics: Sendable, Hashable {
    /// The first part of all topics, such as `opencorenfc`.
    package let root: String

    /// Creates topics with a root of one or more levels.
    ///
    /// - Returns: nil if a level is not a valid name.
    package init?(root: String) {
        let levels = root.split(separator: "/", omittingEmptySubsequences: false)
        guard root.utf8.count <= 128, levels.allSatisfy({ FleetName(String($0)) != nil }) else { return nil }
        self.root = root
    }

    private init() { root = "opencorenfc" }
    /// The default root.
    package static let usual = FleetTopics()

    package func event(_ node: FleetName, _ reader: FleetName) -> String { "\(root)/\(node)/\(reader)/event" }
    package func availability(_ node: FleetName, _ reader: FleetName) -> String {
        "\(root)/\(node)/\(reader)/availability"
    }
    package func tags(_ node: FleetName, _ reader: FleetName) -> String { "\(root)/\(node)/\(reader)/tags" }
    package func position(_ node: FleetName, _ reader: FleetName) -> String { "\(root)/\(node)/\(reader)/position" }
    package func state(_ node: FleetName) -> String { "\(root)/\(node)/bridge/state" }
    package func info(_ node: FleetName) -> String { "\(root)/\(node)/bridge/info" }
    package func job(_ node: FleetName) -> String { "\(root)/\(node)/bridge/job" }
    package func replay(_ node: FleetName) -> String { "\(root)/\(node)/bridge/replay" }

    /// The parts of a topic.
    package struct Place: Sendable, Hashable {
        package var node: FleetName
        /// A reader, or ``FleetName/bridge``.
        package var reader: FleetName
        /// The last level, such as `event`.
        package var leaf: String
    }

    /// Splits a topic into its parts; nil if it is not a fleet topic with this root.
    package func place(of topic: String) -> Place? {
        guard topic.hasPrefix(root + "/") else { return nil }
        let levels = topic.dropFirst(root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3, let node = FleetName(String(levels[0])), let reader = FleetName(String(levels[1]))
        else { return nil }
        return Place(node: node, reader: reader, leaf: String(levels[2]))
    }

    /// Returns a subscription filter for all readers, or those of one node, such as `opencorenfc/+/+/event`.
    package func filter(_ leaf: String, node: FleetName? = nil) -> String {
        "\(root)/\(node?.text ?? "+")/+/\(leaf)"
    }
}
