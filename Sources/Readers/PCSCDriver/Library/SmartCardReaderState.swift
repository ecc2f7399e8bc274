// SPDX-License-Identifier: Apache-2.0

/// A reader's name and state, as in SCardGetStatusChange.
package struct SmartCardReaderState: Sendable, Hashable {
    /// The name that stands for the connection and removal of readers.
    package static let plugAndPlay = #"\\?PnP?\Notification"#

    /// The reader's name.
    package var reader: String
    /// The known state. The upper 16 bits count the cards that arrived and left.
    package var flags: Flags
    /// The card's ATR; empty without a card.
    package var answerToReset: [UInt8]

    /// Creates a state.
    package init(_ reader: String, flags: Flags = [], answerToReset: [UInt8] = []) {
        self.reader = reader
        self.flags = flags
        self.answerToReset = answerToReset
    }

    /// Whether a program has opened the card.
    package var isInUse: Bool { !flags.isDisjoint(with: [.exclusive, .inUse]) }

    /// SCARD_STATE_…
    package struct Flags: OptionSet, Sendable, Hashable {
        package var rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let changed = Flags(rawValue: 0x0002)
        package static let unknown = Flags(rawValue: 0x0004)
        package static let unavailable = Flags(rawValue: 0x0008)
        package static let empty = Flags(rawValue: 0x0010)
        package static let present = Flags(rawValue: 0x0020)
        package static let exclusive = Flags(rawValue: 0x0080)
        package static let inUse = Flags(rawValue: 0x0100)
        package static let mute = Flags(rawValue: 0x0200)
    }
}
