// SPDX-License-Identifier: Apache-2.0

/// The way to exchange frames with whatever is in a reader's field, in one technology.
///
/// `transceive(_:timeout:)` is the only verb. A link sends what it is given and says what came back; it never retries
/// and never interprets. Exchanges are made one at a time: a caller waits for one before it begins the next.
public protocol FrameLink: AnyObject, Sendable {
    /// The technology in which the frames are sent.
    var technology: Technology { get }

    /// The largest answer that the reader can take, in octets with the checksum: 256 for most readers.
    var maximumFrameLength: Int { get }

    /// What the link has counted since it was made.
    var statistics: LinkStatistics { get }

    /// Whether ``statistics`` are of what goes on the air: true, unless the reader has commands of its own for reading and
    /// writing, and keeps the frames that it makes of them to itself.
    var countsAir: Bool { get }

    /// Sends a frame and waits for the answer.
    ///
    /// - Parameters:
    ///   - frame: the frame to send. `Frame.checksum` says who takes care of the checksum, of the answer's too; an
    ///     answer of fewer than 8 bits never has one.
    ///   - timeout: how long to wait for the start of the answer, beyond the technology's minimum delay.
    /// - Returns: the answer. Its `checksum` is what the request's was, or `.none` for an answer of a few bits.
    /// - Throws: ``LinkError`` with `timeout` when nothing came, `tagRemoved` when the reader knows that the tag left,
    ///   `transmission` when the answer was damaged, `collision` when several tags spoke at once, `frameTooLong`,
    ///   `readerUnavailable`, `unsupported` or `cancelled`.
    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame
}

extension FrameLink {
    /// True: each frame goes out as it's given.
    public var countsAir: Bool { true }
}
