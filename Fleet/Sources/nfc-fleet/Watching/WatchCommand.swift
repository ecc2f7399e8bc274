// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel

/// `nfc fleet watch`.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print events as they arrive.",
        discussion: """
            Examples:
              nfc fleet watch
              nfc fleet watch kiosk-7 --json --count 1

            Exit status: 0 when all events were printed, 1 when --timeout was over
            first, 3 without a broker, 130 when cancelled.
            """
    )

    @OptionGroup var options: FleetOptions
    @OptionGroup var limits: WatchLimits

    @Argument(help: "The node. Default: all nodes.", transform: NameArgument.parse)
    var node: NameArgument?

    func run() async throws {
        let watch = EventWatch(options: options, limits: limits, node: node?.name)
        try await watch.run { $0.filter("event", node: node?.name) }
    }
}

/// `nfc fleet jobs`.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Print the outcomes of jobs as they arrive.",
        discussion: """
            Examples:
              nfc fleet jobs
              nfc fleet jobs kiosk-7 --json

            Exit status: as for nfc fleet watch.
            """
    )

    @OptionGroup var options: FleetOptions
    @OptionGroup var limits: WatchLimits

    @Argument(help: "The node. Default: all nodes.", transform: NameArgument.parse)
    var node: NameArgument?

    func run() async throws {
        try await EventWatch(options: options, limits: limits, node: node?.name).run { topics in
            node.map { topics.event($0.name, .bridge) } ?? "\(topics.root)/+/bridge/event"
        }
    }
}

/// Limits after which a watch ends.
struct WatchLimits: ParsableArguments {
    @Option(help: "Exit after this many events.")
    var count: Int?

    @Option(help: "Give up after this many seconds.")
    var timeout: Double?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
        if let timeout, !(timeout > 0 && timeout <= 1e9) { throw ValidationError("--timeout must be more than 0.") }
    }
}

/// Prints the events that match a topic filter.
struct EventWatch {
    let options: FleetOptions
    let limits: WatchLimits
    let node: FleetName?

    /// The number of the reminder to check whether the node exists. Reminder 0 is the timeout.
    private static let knowledge = 1

    func run(filter: (FleetTopics) -> String) async throws {
        let session = try FleetSession(options, reconnects: true)
        let filter = filter(session.topics)
        var count = 0
        var (wasConnected, isKnown) = (false, node == nil)
        let state = node.map { session.topics.state($0) }
        if let timeout = limits.timeout { session.remind(after: timeout) }
        _ = try await session.run { event in
            switch event {
            case .broker(.connected):
                wasConnected = true
                session.connection.subscribe([filter])
                // A separate subscription, because the user may not be allowed to read the state.
                if !isKnown, let state {
                    session.connection.subscribe([state])
                    session.remind(Self.knowledge, after: 2)
                }
            case .broker(.message(let message)) where message.topic == state: isKnown = true
            case .reminder(Self.knowledge):
                if let node, !isKnown {
                    Output.note(
                        "The node \(node) has not connected to this broker yet. Check the name: nfc fleet nodes"
                    )
                }
                isKnown = true
            case .broker(.subscribed(let refused)) where !refused.isEmpty && refused == [state]: break
            case .broker(.subscribed(let refused)) where !refused.isEmpty:
                throw FleetFailure(.noBroker, "not-allowed", "The broker does not let you subscribe to \(filter).")
            case .broker(.disconnected(let failure)):
                // If the first connection fails, the broker or its address is wrong.
                guard wasConnected else { throw FleetFailure(failure) }
                Output.note(failure.reason)
            case .broker(.message(let message)) where !message.isRetained:
                print(message, session.topics)
                count += 1
                if count == limits.count { return true }
            case .reminder:
                let reason = "Only \(count) events arrived within \(limits.timeout ?? 0) seconds."
                throw FleetFailure(.refused, "timeout", reason)
            default: break
            }
            return nil as Bool?
        }
    }

    private func print(_ message: MQTTMessage, _ topics: FleetTopics) {
        if options.json { return Output.line(ReceivedJSON.line(message.payload)) }
        guard let place = topics.place(of: message.topic), let event = try? JSONValue(parsing: message.payload) else {
            return Output.note("A received message is not an event.")
        }
        Output.line(EventText.text(event, place.node, place.reader))
    }
}
