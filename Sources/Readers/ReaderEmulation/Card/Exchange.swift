// SPDX-License-Identifier: Apache-2.0
package import TagTrace

/// One exchange between two sides, for traces.
package struct Exchange: Sendable {
    /// The two sides.
    package enum Layer: String, Sendable {
        /// The host's program and the reader, over pcscd.
        case pcsc
        /// The host's program and a PN532, over the serial line.
        case pn532
        /// The reader and the tag.
        case air
    }

    /// The two sides.
    package var layer: Layer
    /// The kind of exchange, if the bytes do not show it: `transmit`, `power up`, a command's name, a technology.
    package var name: String
    /// The bytes that were sent.
    package var request: [UInt8]
    /// The bytes that were received; nil for none.
    package var response: [UInt8]?
    /// Why there was no answer.
    package var failure: String?
    /// The frames, for an exchange with a tag.
    package var frames: Trace.Exchange?
}
