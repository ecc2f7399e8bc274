// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
import Foundation

/// A client of the broker that keeps everything that comes.
package actor TestClient {
    private var messages: [MQTTMessage] = []
    private var isSubscribed = false
    private var failure: MQTTFailure?
    private var connection: MQTTConnection?
    private var task: Task<Void, Never>?
    /// How many messages the broker has taken.
    private(set) package var acknowledgements = 0
    private var drops = 0

    package init() {}

    /// Connects, and waits until the subscriptions are made.
    package func connect(_ settings: MQTTSettings, to filters: [String] = ["#"]) async throws {
        let (stream, input) = AsyncStream.makeStream(of: MQTTEvent.self)
        let connection = MQTTConnection(settings) { input.yield($0) }
        self.connection = connection
        task = Task { [weak self] in
            for await event in stream { await self?.take(event, filters) }
        }
        connection.start()
        try await wait("a connection") { $0.isSubscribed }
    }

    /// Connects to a test's broker.
    package func connect(_ broker: TestBroker, to filters: [String] = ["#"], client: String = UUID().uuidString)
        async throws
    {
        try await connect(MQTTSettings(address: broker.address, client: client), to: filters)
    }

    private func take(_ event: MQTTEvent, _ filters: [String]) {
        switch event {
        case .connected: connection?.subscribe(filters)
        case .subscribed: isSubscribed = true
        case .disconnected(let failure): self.failure = failure
        case .message(let message): messages.append(message)
        case .acknowledged(let numbers): acknowledgements += numbers.count
        case .dropped, .oversized: drops += 1
        }
    }

    package func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) {
        connection?.publish(topic, payload, isRetained: isRetained, number: 1)
    }

    package func publish(_ topic: String, _ value: JSONValue) { publish(topic, value.bytes) }

    package func stop() async {
        await connection?.stop()
        task?.cancel()
    }

    package var all: [MQTTMessage] { messages }
    package var lastFailure: MQTTFailure? { failure }

    /// The events that came on topics of events, in order, as JSON.
    package var events: [JSONValue] {
        messages.filter { $0.topic.hasSuffix("/event") && !$0.isRetained }.compactMap {
            try? JSONValue(parsing: $0.payload)
        }
    }

    /// The last payload of a topic, as text.
    package func last(_ topic: String) -> String? {
        messages.last { $0.topic == topic }.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    /// What the broker keeps now, without events: the last payload of each topic that is not empty.
    package var retained: [String: String] {
        var last: [String: String] = [:]
        for message in messages where !message.topic.hasSuffix("/event") {
            last[message.topic] = message.payload.isEmpty ? nil : String(decoding: message.payload, as: UTF8.self)
        }
        return last
    }

    /// Waits until a condition holds, 30 seconds at most.
    package func wait(_ what: String, _ condition: @Sendable (isolated TestClient) -> Bool) async throws {
        for _ in 0..<3000 {
            if condition(self) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw TestProblem(
            "\(what) did not come. There are: \(messages.suffix(20).map { "\($0.topic) \(String(decoding: $0.payload, as: UTF8.self))" })"
        )
    }

    /// Waits for as many events of a kind.
    @discardableResult
    package func wait(for kind: EventKind, count: Int = 1) async throws -> [JSONValue] {
        try await wait("\(count) of \(kind)") { $0.events(kind).count >= count }
        return events(kind)
    }

    private func events(_ kind: EventKind) -> [JSONValue] { events.filter { $0["type"]?.text == kind.type } }
}
