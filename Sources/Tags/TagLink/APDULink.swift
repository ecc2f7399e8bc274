// SPDX-License-Identifier: Apache-2.0

/// Exchanges ISO/IEC 7816-4 APDUs with one activated card.
///
/// A reader whose chip implements ISO/IEC 14443-4 conforms to it, and so does the host's own ISO-DEP over a
/// ``FrameLink``. Errors come from the transport. A status word such as 6A82 is an answer, not an error. A link handles
/// chaining, waiting time extension and repeated blocks; it does not send GET RESPONSE.
///
/// Make one exchange at a time. After an error other than `frameTooLong`, activate the card again before the next
/// exchange.
public protocol APDULink: AnyObject, Sendable {
    /// The longest command APDU that can be sent, header included.
    var maximumCommandLength: Int { get }

    /// The longest response APDU that can be received, status word included.
    var maximumResponseLength: Int { get }

    /// The longest command APDU that fits in one block, without chaining.
    var singleBlockCommandLength: Int { get }

    /// The longest response APDU that fits in one block, without chaining.
    var singleBlockResponseLength: Int { get }

    /// The link's counts since it was created.
    var statistics: LinkStatistics { get }

    /// Whether ``statistics`` count the blocks on the air. False when the reader makes the blocks itself: then only
    /// commands and responses are counted.
    var countsAir: Bool { get }

    /// Sends a command and waits for the response.
    ///
    /// - Parameter apdu: the command APDU, or any other command that the card accepts over ISO-DEP.
    /// - Returns: the response APDU, with its status word.
    /// - Throws: ``LinkError`` with `timeout` or `tagRemoved` when the card is gone, `transmission` when blocks were
    ///   damaged too often, `protocolViolation` when the card broke a rule of its transport protocol, `frameTooLong`
    ///   when the command is longer than ``maximumCommandLength``, `readerUnavailable`, `unsupported` or `cancelled`.
    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8]

    /// Returns whether the card still answers. The check doesn't disturb the card's applications.
    func isPresent() async -> Bool

    /// Notifies the link that other code has just activated and selected the card again, so the protocol restarts.
    func wasActivated()
}

extension APDULink {
    /// False: the default is for a reader whose chip implements the card's transport protocol.
    public var countsAir: Bool { false }

    /// Does nothing: the default is for a reader whose chip activates cards itself.
    public func wasActivated() {}

    /// Command header and data in a frame of 256 bytes, without PCB and CRC.
    public var singleBlockCommandLength: Int { 253 }

    /// Response data and status word in a frame of 256 bytes, without PCB and CRC.
    public var singleBlockResponseLength: Int { 253 }
}
