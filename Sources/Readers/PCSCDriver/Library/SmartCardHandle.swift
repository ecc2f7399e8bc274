// SPDX-License-Identifier: Apache-2.0

/// An open card, and its protocol.
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
