// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A route for frames to the tag in a reader. Exchanges wait, on the driver's thread.
protocol FrameRoute: Sendable {
    /// The longest answer that the route can carry, with its checksum.
    var maximumFrameLength: Int { get }

    /// Whether the tag receives frames unchanged, and not an equivalent command of the reader.
    var carriesFrames: Bool { get }

    /// Prepares the reader, after the tag was activated.
    ///
    /// - Throws: `LinkError` with `unsupported` when the reader does not support this route.
    func begin(_ connection: CardConnection) throws(LinkError)

    /// Sends a frame. The errors are those of `FrameLink.transceive`.
    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame

    /// Restores the reader's previous state.
    func end(_ connection: CardConnection)
}

extension FrameRoute {
    var maximumFrameLength: Int { 256 }
    var carriesFrames: Bool { true }
    func begin(_ connection: CardConnection) throws(LinkError) {}
    func end(_ connection: CardConnection) {}
}

extension LinkError {
    /// The route can't carry the frame.
    static func noWay(_ route: String, _ what: String) -> LinkError {
        LinkError(.unsupported, "\(route) sends no \(what).")
    }
}
