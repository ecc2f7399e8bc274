// SPDX-License-Identifier: Apache-2.0

/// The way to exchange ISO/IEC 7816-4 APDUs with one activated card.
///
/// A reader whose chip speaks ISO/IEC 14443-4 by itself conforms to it, and so does the host's own ISO-DEP over a
/// ``FrameLink``. Errors are the transport's: status words such as 6A82 are answers, not errors. A link takes care of
/// chaining, waiting time extension and repeated blocks, and does not send GET RESPONSE.
///
/// Exchanges are made one at a time. After an error other than `frameTooLong` the card has to be activated anew.
public protocol APDULink: AnyObject, Sendable {
    /// The longest command APDU that can be sent, header included.
    var maximumCommandLength: Int { get }

    /// The longest response APDU that can be taken, status word included.
    var maximumResponseLength: Int { get }

    /// The longest command APDU that goes in one block, without chaining.
    var singleBlockCommandLength: Int { get }

    /// The longest response APDU that comes in one block, without chaining.
    var singleBlockResponseLength: Int { get }

    /// What the link has counted since it was made.
    var statistics: LinkStatistics { get }

    /// Whether ``statistics`` are of what goes on the air: false where the reader makes the blocks of it, and shows commands
    /// and responses alone.
    var countsAir: Bool { get }

    /// Sends a command and waits for the response.
    ///
    /// - Parameter apdu: the command APDU, or any other command that the card takes over ISO-DEP.
    /// - Returns: the response APDU, with its status word.
    /// - Throws: ``LinkError`` with `timeout` or `tagRemoved` when the card is gone, `transmission` when blocks were
    ///   damaged too often, `protocolViolation` when the card broke a rule of its transport protocol, `frameTooLong`
    ///   when the command is longer than ``maximumCommandLength``, `readerUnavailable`, `unsupported` or `cancelled`.
    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8]

    /// Says whether the card still answers, without disturbing its applications.
    func isPresent() async -> Bool

    /// Tells the link that someone else has just selected the card anew, so that the protocol begins from its start.
    func wasActivated()
}

extension APDULink {
    /// False, for a reader whose chip speaks the card's transport protocol.
    public var countsAir: Bool { false }

    /// Nothing to do, for a reader whose chip activates cards by itself.
    public func wasActivated() {}

    /// Command data and header of a card that takes frames of 256 octets: PCB and CRC come on top.
    public var singleBlockCommandLength: Int { 253 }

    /// Response data and status word in a frame of 256 octets: PCB and CRC come on top.
    public var singleBlockResponseLength: Int { 253 }
}
