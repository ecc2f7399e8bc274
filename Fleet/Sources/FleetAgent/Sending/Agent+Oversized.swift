// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool

/// Handling events that exceed the broker's size limit.
extension Agent {
    /// Resends an event without its message content. If the event is still too large, gives it up: otherwise it would
    /// block all later events forever.
    func shorten(_ number: Int64?) async {
        guard let number else { return log("too-large", "A message is too large for the broker.") }
        if let place = replayedEvents.removeValue(forKey: number) { return await shortenReplayed(number, place) }
        guard let place = outbox.inFlight[number] else { return }
        let name = "Event \(place.sequence) of \(place.reader)"
        let range = place.sequence...place.sequence
        guard let events = try? await spool.events(of: place.reader, in: range, limit: 1) else {
            return log(
                "spool",
                "\(name) is too large for the broker, and could not be read. It will be sent again later."
            )
        }
        // The connection may have been lost during the read. Then all pending events are sent again anyway.
        guard outbox.inFlight[number] == place else { return }
        guard let shortened = events.first.flatMap({ CloudEvent.shortened($0.payload) }), outbox.shorten(number) else {
            let advice = "Raise the broker's size limit."
            log("event-given-up", "\(name) is too large for the broker, and was dropped. \(advice)")
            return await acknowledge([UInt64(number)])
        }
        // The broker may disconnect after each refusal, so an event can be refused again.
        if noteOversized(number) {
            log(
                "event-shortened",
                "\(name) is sent without the tag's contents, because it is too large for the broker."
            )
        }
        let payload = outbox.isLate(number) ? CloudEvent.late(shortened) : shortened
        publish([(settings.topics.event(node, place.reader), payload, UInt64(number))])
    }

    /// Publishes an earlier event again, on request.
    func publishAgain(_ event: StoredEvent) {
        let number = event.number | Self.replayMark
        replayedEvents[number] = event.place
        let shortened = oversizedEvents.contains(event.number) ? CloudEvent.shortened(event.payload) : nil
        let payload = CloudEvent.late(shortened ?? event.payload)
        publish([(settings.topics.event(node, event.reader), payload, UInt64(number))])
    }

    /// Resends a requested event without its message content.
    private func shortenReplayed(_ number: Int64, _ place: StoredEvent.Place) async {
        let range = place.sequence...place.sequence
        guard let event = try? await spool.events(of: place.reader, in: range, limit: 1).first,
            let shortened = CloudEvent.shortened(event.payload)
        else { return requestLog("too-large", "A requested event is too large for the broker.") }
        // If the broker closes the connection now, the client has to request the event again.
        noteOversized(number ^ Self.replayMark)
        publish(settings.topics.event(node, place.reader), CloudEvent.late(shortened), isRetained: false)
    }

    /// Remembers that an event is too large, so that it is sent without its message content from now on.
    ///
    /// - Returns: whether this is new.
    @discardableResult
    private func noteOversized(_ number: Int64) -> Bool {
        if oversizedEvents.count >= Self.maximumOversized { oversizedEvents = [] }
        return oversizedEvents.insert(number).inserted
    }

    /// A bit added to the number of a resent event.
    private static let replayMark: Int64 = 1 << 62
    private static let maximumOversized = 10_000
}
