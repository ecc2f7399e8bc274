// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool

/// Handling what the broker connection reports.
extension Agent {
    func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool) {
        connection.publish(topic, payload, isRetained: isRetained)
    }

    func publish(_ messages: [(topic: String, payload: [UInt8], number: UInt64)]) { connection.publish(messages) }

    /// Handles a connection event.
    func take(_ event: MQTTEvent) async {
        switch event {
        case .connected:
            log("connected", "Connected to \(connection.address).")
            connection.subscribe(subscriptions)
            await storeUnstored()
            // Store the acknowledgements first. Otherwise the events that the broker acknowledged over the last
            // connection would be sent again.
            await flush()
            outbox.connect(last: await spool.lastNumber())
            await announceAll()
            await publishPositions()
            wantPump()
        case .disconnected(let failure):
            outbox.disconnect()
            (replayedEvents, topicsBeingCleared) = ([:], [:])
            let isTaken = failure.code == .taken
            let reason = isTaken ? "Another agent uses the name \(node). Give each node its own." : failure.reason
            log("disconnected", reason, [.init("code", .string(failure.code.rawValue))])
        case .acknowledged(let numbers):
            if !replayedEvents.isEmpty { for number in numbers { replayedEvents[Int64(number)] = nil } }
            if !topicsBeingCleared.isEmpty { await noteCleared(numbers) }
            await acknowledge(numbers)
        case .dropped(let number, let topic, let reason):
            // A rejected replay or clearing does not block other events.
            let isReplayed = number.flatMap { replayedEvents.removeValue(forKey: Int64($0)) } != nil
            let isClearing = number.flatMap { topicsBeingCleared.removeValue(forKey: $0) } != nil
            refuse(isReplayed || isClearing ? nil : number.map { Int64($0) }, on: topic, reason)
        case .oversized(let number): await shorten(number.map { Int64($0) })
        // Messages are handled by the request queue instead.
        case .message: break
        case .subscribed(let refused):
            let new = refused.filter { refusedTopics.insert($0).inserted }
            guard !new.isEmpty else { return }
            let topics = new.joined(separator: ", ")
            log(
                "not-allowed",
                "The broker does not let \(connection.login) subscribe to \(topics). Check its access list."
            )
        }
    }

    private var subscriptions: [String] {
        [settings.topics.job(node), settings.topics.replay(node)] + (discovery.map { [$0.birthTopic] } ?? [])
    }

    /// Handles a message sent to this node.
    func take(_ message: MQTTMessage) async {
        switch message.topic {
        case settings.topics.job(node):
            // A retained job would arrive again with each connection.
            if !message.isRetained { await jobs.take(message.payload) }
        case settings.topics.replay(node):
            if !message.isRetained { await replay(message.payload) }
        case discovery?.birthTopic where message.payload == HomeAssistantDiscovery.birth: announceToHomeAssistant()
        default: break
        }
    }
}
