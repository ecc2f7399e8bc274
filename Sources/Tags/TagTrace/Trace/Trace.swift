// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The exchanges between a reader and its tags, in order, for people to read and for tests to compare.
///
/// `description` is a table that also describes each exchange in words. Equal traces give the same table, so two traces
/// can be compared line by line.
///
/// ```
///   1     0.000 A > 26/7                                             REQA
///         0.086 A < 44 00                                            ATQA: UID of 7 bytes
/// ```
public struct Trace: Sendable, Hashable {
    /// The medium of an exchange.
    public enum Medium: Sendable, Hashable {
        /// Raw frames in a technology.
        case frames(Technology)
        /// APDUs, or other commands, for a card whose transport protocol the reader handles.
        case commands
    }

    /// A request and its answer.
    public struct Exchange: Sendable, Hashable {
        /// The medium of the exchange.
        public var medium: Medium
        /// The frame that was sent.
        public var request: Frame
        /// The answer, or why there was none; nil when this is unknown.
        public var answer: Result<Frame, LinkError>?
        /// The time until the answer was received; nil when this is unknown.
        public var duration: Duration?

        /// Creates an exchange.
        ///
        /// - Parameters:
        ///   - medium: the medium of the exchange.
        ///   - request: the frame that was sent.
        ///   - answer: the answer, or why there was none; nil when this is unknown.
        ///   - duration: the time until the answer was received; nil when this is unknown.
        public init(
            _ medium: Medium,
            request: Frame,
            answer: Result<Frame, LinkError>?,
            duration: Duration? = nil
        ) {
            self.medium = medium
            self.request = request
            self.answer = answer
            self.duration = duration
        }
    }

    /// An event.
    public enum Event: Sendable, Hashable {
        /// An exchange with a tag.
        indirect case exchange(Exchange)
        /// The field was turned on or off. Tags lose their state.
        case field(isOn: Bool)
        /// Any other event, in a few words.
        case note(String)
    }

    /// An event with its time.
    public struct Entry: Sendable, Hashable {
        /// The time since the trace started; nil when this is unknown.
        public var time: Duration?
        /// The event.
        public var event: Event
        /// What the reader has done by itself, so that no frames show it.
        package var renewal = Renewal.nothing

        /// What ends what is known from the frames before an entry.
        package enum Renewal: Sendable, Hashable {
            case nothing
            /// The reader has woken the tag: its protocol starts again.
            case tag
            /// The reader has looked for tags, or has selected one: it may be another tag.
            case field
        }

        /// Creates an entry.
        ///
        /// - Parameters:
        ///   - time: the time since the trace started; nil when this is unknown.
        ///   - event: the event.
        public init(at time: Duration? = nil, _ event: Event) {
            self.time = time
            self.event = event
        }
    }

    /// The events, in order. The first exchange has the number 1.
    public var entries: [Entry]

    /// Creates a trace.
    ///
    /// - Parameter entries: the events, in order.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// The exchanges, in order.
    public var exchanges: [Exchange] {
        entries.compactMap { if case .exchange(let exchange) = $0.event { exchange } else { nil } }
    }
}
