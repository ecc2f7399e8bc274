// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool

/// What becomes of events that are larger than the broker takes.
extension Agent {
    /// Sends an event again without the content of its message. What is too large even so is given up, since all events
    /// after it would wait for it forever.
    func shorten(_ number: Int64?) async {
        guard let number else { return log("too-large", "The broker takes no message as large as one of this node.") }
        guard let place = outbox.inFlight[number] else { return }
        let name = "Event \(place.sequence) of \(place.reader)"
        let range = place.sequence...place.sequence
        guard let events = try? await spool.events(of: place.reader, in: range, limit: 1) else {
            return log("spool", "\(name) is too large for the broker, and could not be read. It is sent again later.")
        }
        // The connection may have been lost meanwhile. Then the event is sent from the beginning.
        guard outbox.inFlight[number] == place else { return }
        guard let shortened = events.first.flatMap({ CloudEvent.shortened($0.payload) }), outbox.shorten(number) else {
            let advice = "The broker takes no message as large as this; allow it larger ones."
            log("event-given-up", "\(name) was given up. \(advice)")
            return await acknowledge([UInt64(number)])
        }
        log(
            "event-shortened",
            "\(name) is sent without what is on the tag, because the broker takes no larger messages."
        )
        let payload = outbox.isLate(number) ? CloudEvent.late(shortened) : shortened
        publish([(settings.topics.event(node, place.reader), payload, UInt64(number))])
    }
}
