// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel
import TextSafety

/// `nfc fleet nodes`.
struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes",
        abstract: "Show the nodes, their readers, and whether they work.",
        discussion: """
            Examples:
              nfc fleet nodes
              nfc fleet nodes --json

            Exit status: 0 success, 3 without a broker, 130 when cancelled.
            """
    )

    @OptionGroup var options: FleetOptions

    /// The retained messages of a node.
    private struct Node {
        var state = "unknown"
        var info: [UInt8]?
        var readers: [FleetName: String] = [:]
    }

    /// How many seconds without a message mean that all retained messages have arrived.
    private static let quiet = 0.5

    func run() async throws {
        let session = try FleetSession(options)
        let topics = session.topics
        let filters = ["\(topics.root)/+/bridge/state", "\(topics.root)/+/bridge/info", topics.filter("availability")]
        var nodes: [FleetName: Node] = [:]
        var number = 0
        _ = try await session.run { event -> Bool? in
            switch event {
            case .broker(.connected): session.connection.subscribe(filters)
            case .broker(.subscribed(let refused)) where !refused.isEmpty:
                throw FleetFailure(
                    .noBroker,
                    "not-allowed",
                    "The broker does not let you subscribe to \(refused.joined(separator: ", "))."
                )
            case .broker(.subscribed): session.remind(number, after: Self.quiet)
            case .broker(.message(let message)):
                Self.take(message, topics, &nodes)
                number += 1
                session.remind(number, after: Self.quiet)
            case .reminder(number): return true
            default: break
            }
            return nil
        }
        for name in nodes.keys.sorted() {
            guard let node = nodes[name] else { continue }
            if options.json { Output.line(Self.json(name, node).line) } else { print(name, node) }
        }
        if nodes.isEmpty, !options.json { Output.note("No node has connected to this broker yet.") }
    }

    private static func take(_ message: MQTTMessage, _ topics: FleetTopics, _ nodes: inout [FleetName: Node]) {
        guard let place = topics.place(of: message.topic) else { return }
        let text = String(decoding: message.payload.prefix(64), as: UTF8.self)
        switch place.leaf {
        // An empty message means that the topic was cleared.
        case "state" where text.isEmpty: nodes[place.node] = nil
        case "availability" where text.isEmpty: nodes[place.node]?.readers[place.reader] = nil
        case "state": nodes[place.node, default: Node()].state = text
        case "info": nodes[place.node, default: Node()].info = message.payload
        case "availability": nodes[place.node, default: Node()].readers[place.reader] = text
        default: break
        }
    }

    private static func json(_ name: FleetName, _ node: Node) -> JSONValue {
        .members([
            "node": .string(name.text), "state": .string(node.state),
            "info": node.info.flatMap { try? JSONValue(parsing: $0) },
            "readers": .array(
                node.readers.sorted { $0.key < $1.key }.map { reader, availability in
                    ["name": .string(reader.text), "availability": .string(availability)]
                }
            ),
        ])
    }

    private func print(_ name: FleetName, _ node: Node) {
        let info = node.info.flatMap { try? JSONValue(parsing: $0) }
        let problem = info?["problem"]?.text.map { "  \($0)" } ?? ""
        Output.line(VisibleText.escaped("\(name)  \(node.state)\(problem)"))
        for (reader, availability) in node.readers.sorted(by: { $0.key < $1.key }) {
            let reported = info?["readers"]?.elements?.first { $0["name"]?.text == reader.text }
            // The readers' last state is valid only while the agent is connected.
            let state = node.state == "online" ? availability : "unknown"
            Output.line(VisibleText.escaped("  \(reader)  \(state)  \(reported?["reader"]?.text ?? "")"))
        }
    }
}
