// SPDX-License-Identifier: Apache-2.0

extension CardSession {
    /// What happens in a session.
    public enum Event: Sendable {
        /// The session started. The first event.
        case sessionStarted
        /// A reader's field was detected.
        case readerDetected
        /// A reader sent a command. Answer it with ``CardSession/APDU/respond(response:)``.
        case received(CardSession.APDU)
        /// The reader is gone, or deselected the card.
        case readerDeselected
        /// The session ended. The last event.
        case sessionInvalidated(reason: CardSession.Error)
    }

    /// The events of a session, in order.
    public final class EventStream: AsyncSequence {
        public typealias Element = CardSession.Event
        public typealias AsyncIterator = Iterator

        let events: AsyncStream<Event>

        init(_ events: AsyncStream<Event>) {
            self.events = events
        }

        public func makeAsyncIterator() -> Iterator {
            Iterator(events.makeAsyncIterator())
        }

        /// Waits for the events, one after the other.
        public class Iterator: AsyncIteratorProtocol {
            public typealias Element = CardSession.Event

            private var base: AsyncStream<Event>.Iterator

            init(_ base: AsyncStream<Event>.Iterator) {
                self.base = base
            }

            /// The next event; nil when the session ended.
            public func next() async throws -> Event? {
                await base.next(isolation: nil)
            }
        }
    }
}
