// SPDX-License-Identifier: Apache-2.0

/// Exchanges frames in one technology with the tags in a reader's field.
///
/// `transceive(_:timeout:)` is the only operation. A link sends a frame unchanged and returns the answer; it never
/// retries and never interprets. Make one exchange at a time: wait for one exchange to finish before you start the
/// next.
public protocol FrameLink: AnyObject, Sendable {
    /// The technology in which the frames are sent.
    var technology: Technology { get }

    /// The longest answer that the reader can receive, in bytes with the checksum: 256 for most readers.
    var maximumFrameLength: Int { get }

    /// What the link has counted since it was created.
    var statistics: LinkStatistics { get }

    /// Whether ``statistics`` counts the frames on the air. False if the reader reads and writes with its own commands
    /// and does not report the frames it sends for them.
    var countsAir: Bool { get }

    /// Whether the reader authenticates to a MIFARE Classic with its own cipher. ``transceive(_:timeout:)`` then takes
    /// commands as a PN532 does (PN532 user manual, 7.3.8): 60 or 61, block, key and four bytes of the UID, or a whole
    /// WRITE or value command in one frame. It returns the data, ACK or NAK.
    var authenticatesClassic: Bool { get }

    /// Sends a frame and waits for the answer.
    ///
    /// - Parameters:
    ///   - frame: the frame to send. Its `checksum` applies to the answer too, except for answers shorter than 8 bits,
    ///     which never have a checksum.
    ///   - timeout: how long to wait for the start of the answer, in addition to the technology's minimum delay.
    /// - Returns: the answer. Its `checksum` is that of the request, or `.none` for an answer shorter than 8 bits.
    /// - Throws: ``LinkError`` with `timeout` when no tag answered, `tagRemoved` when the reader knows that the tag
    ///   left, `transmission` when the answer was damaged, `collision` when several tags answered at once,
    ///   `frameTooLong`, `readerUnavailable`, `unsupported` or `cancelled`.
    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame

    /// Switches the field off and on, so that every tag loses its power and its volatile state, for example after a
    /// wrong password silenced the tag. A ``SelfActivatingLink`` also selects its tag again; over other links, an NFC-A
    /// or NFC-B tag has to be activated.
    ///
    /// - Throws: ``LinkError`` with `unsupported` when the reader can't, `tagRemoved` or `timeout` when the tag doesn't
    ///   answer the selection, `readerUnavailable` or `cancelled`.
    func resetField() async throws(LinkError)
}

extension FrameLink {
    /// Throws `unsupported`: the default is for a link that can't switch the field.
    public func resetField() async throws(LinkError) {
        throw LinkError(.unsupported, "The reader can't switch its field off and on for a tag.")
    }

    /// True: the default is for a link that sends each frame unchanged.
    public var countsAir: Bool { true }

    /// False: the default is for a link that sends each frame unchanged.
    public var authenticatesClassic: Bool { false }
}

/// A link to one tag that the reader selects itself. REQA, polling and inventory can't be sent over this link.
public protocol SelfActivatingLink: FrameLink {
    /// Selects the tag again, for example after the tag refused a command and went silent.
    ///
    /// - Throws: ``LinkError`` with `tagRemoved` or `timeout` when the tag doesn't answer or another tag does,
    ///   `readerUnavailable` or `cancelled`.
    func reactivate() async throws(LinkError)
}

/// Exchanges ISO/IEC 7816-4 APDUs with one activated card.
///
/// Two kinds of links conform: a reader whose chip implements ISO/IEC 14443-4, and the host's own ISO-DEP over a
/// ``FrameLink``. Errors are transport errors; a status word such as 6A82 is an answer. A link handles chaining,
/// waiting time extension and repeated blocks, but does not send GET RESPONSE.
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

    /// What the link has counted since it was created.
    var statistics: LinkStatistics { get }

    /// Whether ``statistics`` counts the blocks on the air. False if the reader builds the blocks itself; then only
    /// commands and responses are counted.
    var countsAir: Bool { get }

    /// Sends a command and waits for the response.
    ///
    /// - Parameter apdu: the command APDU, or any other command that the card accepts over ISO-DEP.
    /// - Returns: the response APDU, with its status word.
    /// - Throws: ``LinkError`` with `timeout` or `tagRemoved` when the card left, `transmission` when blocks were
    ///   damaged too often, `protocolViolation` when the card broke a rule of its transport protocol, `frameTooLong`
    ///   when the command is longer than ``maximumCommandLength``, `readerUnavailable`, `unsupported` or `cancelled`.
    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8]

    /// Returns whether the card still answers. The check doesn't disturb the card's applications.
    func isPresent() async -> Bool

    /// Notifies the link that other code has activated and selected the card again. The link restarts the protocol.
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
