// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetModel
import Testing

@testable import FleetSpool  // stored events have no other initializer

@Suite("Which events are sent next")
struct OutboxTests {
    private func event(_ number: Int64) -> StoredEvent {
        StoredEvent(number: number, place: .init(reader: FleetName(slugOf: "door"), sequence: number), payload: [])
    }

    @Test("Paused outbox: sends nothing; after the pause, sends all waiting events from the first one")
    func pause() {
        var outbox = Outbox(window: 3)
        #expect(outbox.room == 0)
        outbox.connect(last: 1)
        let late = [outbox.send(event(1)), outbox.send(event(2))]
        #expect(late == [true, false])
        #expect(outbox.room == 1 && outbox.lastSent == 2)
        outbox.pause()
        #expect(outbox.room == 0 && outbox.isPaused)
        outbox.resume()
        #expect(outbox.room == 3 && outbox.lastSent == 0 && outbox.inFlight.isEmpty)
        #expect(!outbox.isPaused && outbox.isConnected)
    }

    @Test("New connection: ends a pause, and acknowledgements of the old connection do not count")
    func connection() {
        var outbox = Outbox(window: 2)
        outbox.connect(last: 0)
        _ = outbox.send(event(1))
        outbox.pause()
        outbox.disconnect()
        #expect(outbox.room == 0 && outbox.lastSent == 0 && outbox.inFlight.isEmpty)
        let early = outbox.acknowledge(1)
        #expect(early == nil)
        outbox.connect(last: 5)
        #expect(outbox.room == 2 && !outbox.isPaused)
        #expect(outbox.isLate(5) && !outbox.isLate(6))
        _ = outbox.send(event(1))
        let place = outbox.acknowledge(1)
        let again = outbox.acknowledge(1)
        #expect(place?.sequence == 1 && again == nil)
    }

    @Test("Outbox: a shortened event stays shortened after a reconnection; a window of 0 has room for one event")
    func shortened() {
        var outbox = Outbox(window: 0)
        outbox.connect(last: 0)
        #expect(outbox.room == 1)
        _ = outbox.send(event(1))
        let once = [outbox.shorten(1), outbox.shorten(1)]
        #expect(once == [true, false])
        outbox.disconnect()
        outbox.connect(last: 1)
        #expect(outbox.isShortened(1) && !outbox.isShortened(2))
    }

    @Test("Events that were just stored: sent next only if the last event sent is the one before them")
    func next() {
        var outbox = Outbox(window: 4)
        outbox.connect(last: 0)
        _ = outbox.send(event(4))
        // What is sent again does not move the end back.
        _ = outbox.send(event(3))
        #expect(outbox.lastSent == 4)
        #expect(outbox.isNext(StoredEvents(events: [event(7)], previous: 4)))
        for previous: Int64 in [3, 5] { #expect(!outbox.isNext(StoredEvents(events: [event(7)], previous: previous))) }
    }
}
