// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel

/// `nfc fleet forget`.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Delete the broker's retained messages about a node that no longer exists.",
        discussion: """
            Removes the node and its readers from nfc fleet nodes and from Home
            Assistant. A running agent clears its outdated messages itself, and
            announces its node again when it reconnects.

            Example:
              nfc fleet forget kiosk-7

            Exit status: 0 when everything was cleared, 1 when the node is connected or
            unknown, 3 without a broker.
            """
    )

    @OptionGroup var options: FleetOptions

    @Argument(help: "The node.", transform: NameArgument.parse)
    var node: NameArgument

    @Option(help: "Home Assistant's discovery prefix.")
    var prefix = "homeassistant"

    /// How many seconds without a message mean that all retained messages have arrived.
    private static let quiet = 0.5

    func run() async throws {
        let session = try FleetSession(options)
        let node = node.name
        let filters = [
            "\(session.topics.root)/\(node)/+/+", "\(prefix)/+/\(node)/config", "\(prefix)/+/\(node)/+/config",
        ]
        var (kept, cleared, number) = (Set<String>(), 0, 0)
        _ = try await session.run { event -> Bool? in
            switch event {
            case .broker(.connected): session.connection.subscribe(filters)
            case .broker(.subscribed(let refused)):
                if refused.contains(filters[0]) {
                    throw FleetFailure(
                        .noBroker,
                        "not-allowed",
                        "The broker does not let you subscribe to \(filters[0])."
                    )
                }
                if !refused.isEmpty {
                    Output.note("You may not read Home Assistant's discovery messages, so they were not cleared.")
                }
                session.remind(number, after: Self.quiet)
            case .broker(.message(let message)) where cleared == 0 && !message.payload.isEmpty:
                guard message.topic != session.topics.state(node) || message.payload != Array("online".utf8) else {
                    throw FleetFailure(
                        .refused,
                        "node-online",
                        """
                        \(node) is connected. Stop its agent first. A running agent clears its outdated messages \
                        itself.
                        """
                    )
                }
                guard message.isRetained else { break }
                kept.insert(message.topic)
                number += 1
                session.remind(number, after: Self.quiet)
            case .reminder(number) where cleared == 0:
                guard !kept.isEmpty else {
                    throw FleetFailure(
                        .refused,
                        "unknown-node",
                        "The broker has no retained messages about the node \(node)."
                    )
                }
                for topic in kept.sorted() { session.connection.publish(topic, [], isRetained: true, number: 1) }
            case .broker(.acknowledged(let numbers)):
                cleared += numbers.count
                if cleared >= kept.count { return true }
            default: break
            }
            return nil
        }
        Output.line(
            options.json
                ? JSONValue.members(["ok": true, "cleared": .integer(cleared)]).line
                : "\(cleared) retained messages of \(node) were cleared."
        )
    }
}
