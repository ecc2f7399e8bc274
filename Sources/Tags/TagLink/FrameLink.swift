// SPDX-License-Identifier: Apache-2.0

/// Exchanges frames in one technology with the tags in a reader's field.
///
/// `transceive(_:timeout:)` is the only operation. A link sends the frame that it is given and returns the answer. It
/// never retries and never interprets. Make one exchange at a time: wait for one to finish before you start the next.
public protocol FrameLink: AnyObject, Sendable {
    /// The technology that the frames are sent in.
    var technology: Technology { get }

    /// The longest answer that the reader can receive, in bytes with the checksum: 256 for most readers.
    var maximumFrameLength: Int { get }

    /// The link's counts since it was created.
    var statistics: LinkStatistics { get }

    /// Whether ``statistics`` count the frames on the air. False when the reader has its own commands for reading and
    /// writing and doesn't report the frames that it sends for them.
    var countsAir: Bool { get }

    /// Sends a frame and waits for the answer.
    ///
    /// - Parameters:
    ///   - frame: the frame to send. Its `checksum` applies to the answer too, but an answer of fewer than 8 bits never
    ///     has a checksum.
    ///   - timeout: how long to wait for the start of the answer, in addition to the technology's minimum delay.
    /// - Returns: the answer. Its `checksum` is that of the request, or `.none` for an answer of fewer than 8 bits.
    /// - Throws: ``LinkError`` with `timeout` when no answer came, `tagRemoved` when the reader knows that the tag
    ///   left, `transmission` when the answer was damaged, `collision` when several tags answered at once,
    ///   `frameTooLong`,
    ///   `readerUnavailable`, `unsupported` or `cancelled`.
    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame
}

extension FrameLink {
    /// True: the default is for a link that sends each frame as it is.
    public var countsAir: Bool { true }
}
