// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What went between a reader and its tags, in order: made to be looked at, compared, and held by a test.
///
/// `description` is a table that says each exchange in words too. Equal traces print the same table, so that two of them
/// can be compared line by line.
///
/// ```
///   1     0.000 A > 26/7                                             REQA
///         0.086 A < 44 00                                            ATQA: UID of 7 octets
/// ```
public struct Trace: Sendable, Hashable {
    /// What carries the octets of an exchange.
    public enum Medium: Sendable, Hashable {
        /// Raw frames in a technology.
        case frames(Technology)
        /// APDUs, or other commands, of a card whose transport protocol the reader speaks.
        case commands
    }

    /// A request, and what came of it.
    public struct Exchange: Sendable, Hashable {
        /// What carried the octets.
        public var medium: Medium
        /// What was sent.
        public var request: Frame
        /// What came back, or why nothing did; nil when that is not known.
        public var answer: Result<Frame, LinkError>?
        /// How long it took until the answer was there; nil when that is not known.
        public var duration: Duration?

        /// Creates an exchange.
        ///
        /// - Parameters:
        ///   - medium: what carried the octets.
        ///   - request: what was sent.
        ///   - answer: what came back, or why nothing did; nil when that is not known.
        ///   - duration: how long it took until the answer was there; nil when that is not known.
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

    /// What happened.
    public enum Event: Sendable, Hashable {
        /// Octets went to a tag.
        indirect case exchange(Exchange)
        /// The field was turned on or off; tags forget what they were told.
        case field(isOn: Bool)
        /// Anything else, as a few words.
        case note(String)
    }

    /// Something that happened, and when.
    public struct Entry: Sendable, Hashable {
        /// The time since the trace began; nil when it is not known.
        public var time: Duration?
        /// What happened.
        public var event: Event

        /// Creates an entry.
        ///
        /// - Parameters:
        ///   - time: the time since the trace began; nil when it is not known.
        ///   - event: what happened.
        public init(at time: Duration? = nil, _ event: Event) {
            self.time = time
            self.event = event
        }
    }

    /// What happened, in order. The first exchange has the number 1.
    public var entries: [Entry]

    /// Creates a trace.
    ///
    /// - Parameter entries: what happened, in order.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// The exchanges, in order.
    public var exchanges: [Exchange] {
        entries.compactMap { if case .exchange(let exchange) = $0.event { exchange } else { nil } }
    }
}
