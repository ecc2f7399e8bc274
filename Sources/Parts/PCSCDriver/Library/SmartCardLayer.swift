// SPDX-License-Identifier: Apache-2.0

/// The functions of the PC/SC resource manager that the driver uses, one call each, without policy.
///
/// Calls wait for the service, the reader and the card, so that they belong on a thread of the driver's own. Two calls
/// with one context don't run at once; ``abandon(_:)`` is the exception.
package protocol SmartCardLayer: Sendable {
    /// Whether the service may be there, without starting or asking anything.
    var isServiceLikely: Bool { get }

    /// Opens a connection to the service.
    ///
    /// - Parameter cut: ends the attempt from another thread.
    /// - Throws: `timeout` when the service is there and does not answer, `cancelled` when the attempt was ended.
    func establishContext(_ cut: WaitCut) throws(SmartCardError) -> Int

    /// Closes a connection to the service, and what was opened through it.
    func releaseContext(_ context: Int)

    /// Ends the call that another thread makes with the context, and does not wait for anything. The context is of no use
    /// afterwards but to be released.
    func abandon(_ context: Int)

    /// The names of the readers that are there; none is not an error.
    func listReaders(_ context: Int) throws(SmartCardError) -> [String]

    /// Waits until a reader's state differs from what is known of it.
    ///
    /// - Parameters:
    ///   - context: the connection to the service.
    ///   - milliseconds: how long to wait; nil for ever, 0 for a look.
    ///   - states: the readers, and what is known of them.
    /// - Returns: the same readers in the same order with their states, or nil when nothing has changed in time.
    func waitForChange(
        _ context: Int,
        milliseconds: UInt32?,
        of states: [SmartCardReaderState]
    ) throws(SmartCardError) -> [SmartCardReaderState]?

    /// Waits until the service may have come, or so many milliseconds have gone.
    ///
    /// - Parameters:
    ///   - milliseconds: how long to wait.
    ///   - cut: ends the wait from another thread.
    func waitForService(milliseconds: Int, _ cut: WaitCut)

    /// Opens a card, or with `direct` the reader whether it has a card or not.
    func connect(_ context: Int, reader: String, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle

    /// Resets a card that is open.
    func reset(_ card: SmartCardHandle, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle

    /// Closes a card.
    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition)

    /// Sends a command APDU.
    ///
    /// - Returns: what came back, which may be nothing: some readers say so when the card is lost.
    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8]

    /// Asks the reader's driver for an attribute.
    ///
    /// - Parameter identifier: SCARD_ATTR_…
    /// - Throws: ``SmartCardError`` with `removedCard` once the service has seen that the card which was opened has left,
    ///   also when another is there, and `unsupportedFeature` when the driver does not have the attribute.
    func attribute(_ card: SmartCardHandle, _ identifier: UInt32) throws(SmartCardError) -> [UInt8]

    /// Sends a control code to the reader.
    func control(_ card: SmartCardHandle, code: UInt32, _ data: [UInt8]) throws(SmartCardError) -> [UInt8]
}

/// A reader's name and state, as SCardGetStatusChange has them.
package struct SmartCardReaderState: Sendable, Hashable {
    /// The reader that stands for readers' coming and going.
    package static let plugAndPlay = #"\\?PnP?\Notification"#

    /// The reader's name.
    package var reader: String
    /// What is known of it; the upper 16 bits count the cards that came and went.
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

/// An open card, and the protocol in which it is spoken to.
package struct SmartCardHandle: Sendable, Hashable {
    package var handle: Int
    /// SCARD_PROTOCOL_…: 1 is T=0, 2 is T=1, 0 is a reader opened without its card.
    package var activeProtocol: UInt
    /// The card's ATR.
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

/// What happens to a card that is closed: SCARD_LEAVE_CARD and so on.
package enum SmartCardDisposition: UInt, Sendable {
    case leave
    case reset
    case unpower
}
