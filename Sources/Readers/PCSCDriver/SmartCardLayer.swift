// SPDX-License-Identifier: Apache-2.0

/// The functions of the PC/SC resource manager that the driver uses. Each makes one call, without retries.
///
/// Calls wait for the service, the reader and the card, so make them on a separate thread. Two calls with one context
/// must not run at the same time, except ``abandon(_:)``.
package protocol SmartCardLayer: Sendable {
    /// Whether the service may be running. This neither starts nor contacts the service.
    var isServiceLikely: Bool { get }

    /// Opens a connection to the service. Throws `timeout` when the service runs but does not answer, and `cancelled`
    /// when the attempt was cut.
    func establishContext(_ cut: CancellationSignal) throws(SmartCardError) -> Int

    /// Closes a connection to the service, with all cards that were opened through it.
    func releaseContext(_ context: Int)

    /// Ends another thread's call with the context, without waiting. After that, the context can only be released.
    func abandon(_ context: Int)

    /// Returns the names of the connected readers. If no reader is connected, the list is empty.
    func listReaders(_ context: Int) throws(SmartCardError) -> [String]

    /// Waits until a reader's state differs from the given state. Nil waits without limit, and 0 only checks. Returns
    /// the same readers in the same order with their current states; nil when nothing has changed in time.
    func waitForChange(
        _ context: Int,
        milliseconds: UInt32?,
        of states: [SmartCardReaderState]
    ) throws(SmartCardError) -> [SmartCardReaderState]?

    /// Waits until the service may have started, the time is over, or another thread cuts the wait.
    func waitForService(milliseconds: Int, _ cut: CancellationSignal)

    /// Opens a card. With `direct`, opens the reader, with or without a card.
    func connect(_ context: Int, reader: String, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle

    /// Opens the card again after a reset, or after its power was off.
    func reset(
        _ card: SmartCardHandle,
        _ share: SmartCardShare,
        _ disposition: SmartCardDisposition
    ) throws(SmartCardError) -> SmartCardHandle

    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition)

    /// Sends a command APDU and returns the response. Some readers report a lost card by an empty response.
    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8]

    /// Asks the reader's driver for an attribute. Throws ``SmartCardError`` with `removedCard` once the service knows
    /// that the opened card has left, even if another card is present, and `unsupportedFeature` when the driver lacks
    /// the attribute.
    func attribute(_ card: SmartCardHandle, _ identifier: UInt32) throws(SmartCardError) -> [UInt8]

    func control(_ card: SmartCardHandle, code: UInt32, _ data: [UInt8]) throws(SmartCardError) -> [UInt8]
}

/// A reader's name and state, as in SCardGetStatusChange.
package struct SmartCardReaderState: Sendable, Hashable {
    /// The pseudo-reader whose changes report connected and removed readers.
    package static let plugAndPlay = #"\\?PnP?\Notification"#

    package var reader: String
    /// The last known state. The upper 16 bits count arrivals and removals of cards.
    package var flags: Flags
    /// The card's ATR; empty without a card.
    package var answerToReset: [UInt8]

    package init(_ reader: String, flags: Flags = [], answerToReset: [UInt8] = []) {
        self.reader = reader
        self.flags = flags
        self.answerToReset = answerToReset
    }

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

/// An open card, and its protocol.
package struct SmartCardHandle: Sendable, Hashable {
    package var handle: Int
    /// SCARD_PROTOCOL_…: 1 means T=0, 2 means T=1, and 0 means a reader that was opened without its card.
    package var activeProtocol: UInt
    package var answerToReset: [UInt8]

    package init(handle: Int, activeProtocol: UInt = 2, answerToReset: [UInt8] = []) {
        self.handle = handle
        self.activeProtocol = activeProtocol
        self.answerToReset = answerToReset
    }
}

/// SCARD_SHARE_…
package enum SmartCardShare: UInt, Sendable {
    case exclusive = 1
    case shared
    case direct
}

/// What to do with a card when it is closed: SCARD_LEAVE_CARD and so on.
package enum SmartCardDisposition: UInt, Sendable {
    case leave
    case reset
    case unpower
}
