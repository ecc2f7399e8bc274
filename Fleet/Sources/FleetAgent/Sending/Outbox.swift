// SPDX-License-Identifier: Apache-2.0

package import FleetSpool

/// Which events are sent next: a window of those that wait, in order.
package struct Outbox: Sendable {
    /// The most events that wait for their acknowledgement.
    package let window: Int
    /// The events that were sent over this connection and are not acknowledged.
    private(set) package var inFlight: [Int64: StoredEvent.Place] = [:]
    /// When the broker last acknowledged something, or something was sent while nothing was in flight.
    private var lastProgress = ContinuousClock.now
    /// After this time without an acknowledgement nothing more is sent: what lies in a link that stalls can't be made late.
    private static let patience = Duration.seconds(3)
    /// The last event that was sent over this connection.
    private(set) package var lastSent: Int64 = 0
    private(set) package var isConnected = false
    /// Whether sending is paused, because the broker does not take events.
    private(set) package var isPaused = false
    /// Events up to this one were there before the connection, so they are late.
    private var lateUntil: Int64 = 0
    /// The events that are sent without the content of their message, also over the next connection: a broker may end
    /// this one when it has got a message that is too large.
    private var shortened: Set<Int64> = []

    package init(window: Int) { self.window = max(window, 1) }

    /// Notes a new connection. Everything that waits is sent from the beginning.
    ///
    /// - Parameter last: the last event in the spool.
    package mutating func connect(last: Int64) {
        (inFlight, lastSent, isConnected, lateUntil, isPaused) = ([:], 0, true, last, false)
    }

    /// Notes that the connection is lost. What was not acknowledged waits again.
    package mutating func disconnect() {
        (inFlight, lastSent, isConnected) = ([:], 0, false)
    }

    /// How many events may be sent now.
    package var room: Int { room(at: .now) }

    /// How many events may be sent at a time.
    package func room(at now: ContinuousClock.Instant) -> Int {
        let isStalled = !inFlight.isEmpty && now - lastProgress > Self.patience
        return isConnected && !isPaused && !isStalled ? max(window - inFlight.count, 0) : 0
    }

    /// Whether events that were just stored can be sent at once, because all before them were sent.
    package func isNext(_ stored: StoredEvents) -> Bool { stored.previous == lastSent }

    /// Notes that an event is sent.
    ///
    /// - Returns: whether it is late.
    package mutating func send(_ event: StoredEvent) -> Bool {
        if inFlight.isEmpty { lastProgress = .now }
        inFlight[event.number] = event.place
        lastSent = max(lastSent, event.number)
        return isLate(event.number)
    }

    /// Whether an event was there before the connection.
    package func isLate(_ number: Int64) -> Bool { number <= lateUntil }

    /// Whether an event is sent without the content of its message.
    package func isShortened(_ number: Int64) -> Bool { shortened.contains(number) }

    /// Notes that an event in flight is sent without the content of its message from now on.
    ///
    /// - Returns: whether it was sent with it before.
    package mutating func shorten(_ number: Int64) -> Bool { shortened.insert(number).inserted }

    /// Pauses: what is in flight, and all that waits, is sent again after ``resume()``.
    package mutating func pause() { isPaused = true }

    /// Sends everything that waits from the beginning.
    package mutating func resume() {
        (inFlight, lastSent, isPaused) = ([:], 0, false)
    }

    /// Notes an acknowledgement.
    ///
    /// - Returns: the event's place; nil when it was not in flight.
    package mutating func acknowledge(_ number: Int64) -> StoredEvent.Place? {
        shortened.remove(number)
        lastProgress = .now
        return inFlight.removeValue(forKey: number)
    }
}
