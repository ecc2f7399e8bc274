// SPDX-License-Identifier: Apache-2.0

/// The data of an NFC-A tag of which only the activation is known.
public struct NFCAContents: Sendable, Hashable {
    /// The UID, 4, 7 or 10 bytes.
    public var uid: [UInt8]
    /// ATQA. The low byte is sent first.
    public var atqa: UInt16
    /// SAK.
    public var sak: UInt8

    /// Creates contents.
    public init(uid: [UInt8], atqa: UInt16, sak: UInt8) {
        self.uid = uid
        self.atqa = atqa
        self.sak = sak
    }
}
