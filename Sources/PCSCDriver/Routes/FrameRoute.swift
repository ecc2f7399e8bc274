// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A way to exchange frames with the tag in a reader. Exchanges wait, on the driver's thread.
protocol FrameRoute: Sendable {
    /// The largest answer that comes through, with its checksum.
    var maximumFrameLength: Int { get }

    /// Whether a frame goes to the tag as it is, rather than by a command of the reader's that does the same.
    var carriesFrames: Bool { get }

    /// Prepares the reader, after its tag was activated.
    ///
    /// - Throws: ``LinkError`` with `unsupported` when the reader does not have this way.
    func begin(_ connection: CardConnection) throws(LinkError)

    /// Sends a frame. The errors are those of `FrameLink.transceive`.
    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame

    /// Leaves the reader as it was before.
    func end(_ connection: CardConnection)
}

extension FrameRoute {
    var maximumFrameLength: Int { 256 }
    var carriesFrames: Bool { true }
    func begin(_ connection: CardConnection) throws(LinkError) {}
    func end(_ connection: CardConnection) {}
}

extension LinkError {
    /// The frame can't go this way.
    static func noWay(_ route: String, _ what: String) -> LinkError {
        LinkError(.unsupported, "\(route) sends no \(what).")
    }
}
