// SPDX-License-Identifier: Apache-2.0

/// The message from one arrival of a tag, kept until the user acts on it.
public struct InboxEntry: Sendable, Hashable {
    /// Identifies an entry by its time of arrival and a random number. Identifiers sort by time.
    public struct ID: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The milliseconds since 1970.
        public let received: UInt64
        /// A random number that distinguishes entries with the same time.
        public let number: UInt32

        /// Creates an identifier.
        ///
        /// - Parameters:
        ///   - received: the milliseconds since 1970. Only the low 48 bits are used.
        ///   - number: a random number.
        public init(received: UInt64, number: UInt32) {
            self.received = received & 0xFFFF_FFFF_FFFF
            self.number = number
        }

        /// Parses an identifier of 20 hexadecimal digits.
        public init?(_ text: String) {
            guard text.utf8.count == 20,
                text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
                let received = UInt64(text.prefix(12), radix: 16), let number = UInt32(text.suffix(8), radix: 16)
            else { return nil }
            self.received = received
            self.number = number
        }

        var next: ID? {
            if number < .max { return ID(received: received, number: number + 1) }
            return received < 0xFFFF_FFFF_FFFF ? ID(received: received + 1, number: 0) : nil
        }

        /// Returns an identifier that sorts after all others, because the newest entry is kept the longest. If this one
        /// sorts before another, for example because the clock was wrong, returns the next after the highest.
        public func following(_ others: some Sequence<ID>) -> ID {
            guard let highest = others.max(), self <= highest else { return self }
            return highest.next ?? self
        }

        public static func < (left: ID, right: ID) -> Bool {
            (left.received, left.number) < (right.received, right.number)
        }

        /// 20 hexadecimal digits.
        public var description: String { Self.hex(received, 12) + Self.hex(UInt64(number), 8) }

        private static func hex(_ value: UInt64, _ count: Int) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: max(count - digits.count, 0)) + digits
        }
    }

    /// The entry's identifier.
    public let id: ID
    /// The bytes of the tag's message.
    public let message: [UInt8]
    /// Whether the entry's notification was shown.
    public var isAnnounced: Bool

    /// Creates an entry.
    public init(id: ID, message: [UInt8], isAnnounced: Bool = false) {
        self.id = id
        self.message = message
        self.isAnnounced = isAnnounced
    }
}

/// A flag of an entry, saved beside the entry's message.
public enum DeliveryFlag: String, Sendable, Hashable {
    /// The user chose to open the entry while the screen was locked.
    case wanted
    /// The user has dismissed the notification. The entry is kept in the inbox, but not shown again.
    case dismissed
}

/// The state that an earlier run of the service left behind.
public struct PreviousRun: Sendable {
    /// The entries in the inbox.
    public var entries: [InboxEntry]
    /// The entries whose own notification is still shown.
    public var shown: Set<InboxEntry.ID>
    /// The entries in the summary that is still shown.
    public var summarized: Set<InboxEntry.ID>
    /// The flags of entries.
    public var marks: [InboxEntry.ID: DeliveryFlag]

    /// Creates a state.
    public init(
        entries: [InboxEntry] = [],
        shown: Set<InboxEntry.ID> = [],
        summarized: Set<InboxEntry.ID> = [],
        marks: [InboxEntry.ID: DeliveryFlag] = [:]
    ) {
        self.entries = entries
        self.shown = shown
        self.summarized = summarized
        self.marks = marks
    }
}
