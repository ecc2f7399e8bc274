// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel

/// `nfc fleet replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Ask a node to resend events.",
        discussion: """
            All watchers receive the events again, with their original ids and marked
            late.

            Example:
              nfc fleet replay kiosk-7 entrance 41 57

            Exit status: 0 when the broker has the request, 1 when the node refuses it,
            3 without a broker.
            """
    )

    @OptionGroup var options: FleetOptions

    @Argument(help: "The node.", transform: NameArgument.parse)
    var node: NameArgument

    @Argument(help: "The reader, or bridge.", transform: NameArgument.parse)
    var reader: NameArgument

    @Argument(help: "The first sequence number.")
    var from: Int

    @Argument(help: "The last sequence number.")
    var to: Int

    func validate() throws {
        guard from >= 1, from <= to else {
            throw ValidationError("The first number must be at least 1, and the last must not be less than the first.")
        }
    }

    func run() async throws {
        let session = try FleetSession(options)
        let request: JSONValue = ["reader": .string(reader.name.text), "from": .integer(from), "to": .integer(to)]
        let state = session.topics.state(node.name)
        let topics = [reader.name, .bridge].map { session.topics.event(node.name, $0) }
        var isSent = false
        _ = try await session.run { event -> Bool? in
            switch event {
            case .broker(.connected):
                session.connection.subscribe([state] + topics)
                session.remind(after: 2)
            case .broker(.message(let message)) where message.topic == state && !isSent:
                isSent = true
                session.connection.publish(session.topics.replay(node.name), request.bytes, number: 1)
            // The node answers only if it refuses, or still has events.
            case .broker(.acknowledged): session.remind(1, after: 2)
            case .reminder(1): return true
            case .reminder where !isSent:
                throw FleetFailure(
                    .refused,
                    "unknown-node",
                    "The node \(node.name) has not connected to this broker. Check the name: nfc fleet nodes"
                )
            case .broker(.message(let message)) where topics.contains(message.topic) && isSent:
                guard let event = try? JSONValue(parsing: message.payload), let data = event["data"] else { return nil }
                if data["code"] == "replay-refused", data["requested"]?.text == reader.name.text {
                    throw FleetFailure(.refused, "replay-refused", data["message"]?.text ?? "The node refuses.")
                }
                // A requested event.
                if message.topic == topics[0], event["late"] == true { return true }
            default: break
            }
            return nil
        }
        if options.json { Output.line(#"{"ok":true}"#) }
    }
}
