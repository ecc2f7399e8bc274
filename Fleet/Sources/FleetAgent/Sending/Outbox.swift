// SPDX-License-Identifier: Apache-2.0

package import FleetSpool

/// Decides which events to send next: a window of the pending events, in order.
package struct Outbox: Sendable {
    /// The maximum number of events awaiting acknowledgement.
    package let window: Int
    /// The events sent over this connection but not yet acknowledged.
    private(set) package var inFlight: [Int64: StoredEvent.Place] = [:]
    /// The last acknowledgement, or the last time sending started with nothing in flight.
    private var lastProgress = ContinuousClock.now
    /// Without an acknowledgement for this long, sending stops: events in a stalled connection can't be marked late.
    private static let patience = Duration.seconds(3)
    /// The number of the last event sent over this connection.
    private(set) package var lastSent: Int64 = 0
    private(set) package var isConnected = false
    /// Whether sending is paused because the broker rejects events.
    private(set) package var isPaused = false
    /// Events up to this number were stored before the connection was made, so they are late.
    private var lateUntil: Int64 = 0
    /// The events to send without their message content. Kept across connections, because a broker may disconnect after
    /// receiving a message that is too large.
    private var shortened: Set<Int64> = []

    package init(window: Int) { self.window = max(window, 1) }

    /// Records a new connection. All pending events are then sent from the beginning.
    ///
    /// - Parameter last: the number of the last event in the spool.
    package mutating func connect(last: Int64) {
        (inFlight, lastSent, isConnected, lateUntil, isPaused) = ([:], 0, true, last, false)
    }

    /// Records that the connection was lost. Unacknowledged events become pending again.
    package mutating func disconnect() {
        (inFlight, lastSent, isConnected) = ([:], 0, false)
    }

    /// How many events can be sent now.
    package var room: Int { room(at: .now) }

    /// How many events can be sent at a given time.
    package func room(at now: ContinuousClock.Instant) -> Int {
        let isStalled = !inFlight.isEmpty && now - lastProgress > Self.patience
        return isConnected && !isPaused && !isStalled ? max(window - inFlight.count, 0) : 0
    }

    /// Whether newly stored events can be sent immediately, because all earlier events were sent.
    package func isNext(_ stored: StoredEvents) -> Bool { stored.previous == lastSent }

    /// Records that an event is sent.
    ///
    /// - Returns: whether the event is late.
    package mutating func send(_ event: StoredEvent) -> Bool {
        if inFlight.isEmpty { lastProgress = .now }
        inFlight[event.number] = event.place
        lastSent = max(lastSent, event.number)
        return isLate(event.number)
    }

    /// Whether an event was stored before the connection was made.
    package func isLate(_ number: Int64) -> Bool { number <= lateUntil }

    /// Whether an event is sent without its message content.
    package func isShortened(_ number: Int64) -> Bool { shortened.contains(number) }

    /// Marks an event in flight to be sent without its message content.
    ///
    /// - Returns: false if the event was already marked.
    package mutating func shorten(_ number: Int64) -> Bool { shortened.insert(number).inserted }

    /// Pauses sending. After ``resume()``, all unacknowledged events are sent again.
    package mutating func pause() { isPaused = true }

    /// Restarts sending from the first pending event.
    package mutating func resume() {
        (inFlight, lastSent, isPaused) = ([:], 0, false)
    }

    /// Records an acknowledgement.
    ///
    /// - Returns: the event's place; nil if it was not in flight.
    package mutating func acknowledge(_ number: Int64) -> StoredEvent.Place? {
        shortened.remove(number)
        lastProgress = .now
        return inFlight.removeValue(forKey: number)
    }
}
