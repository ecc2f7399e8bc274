// SPDX-License-Identifier: Apache-2.0

/// What an NFC-A tag says of itself while it is activated (ISO/IEC 14443-3, 6).
public struct NFCATarget: Sendable, Hashable {
    /// ATQA, the second octet on the air being the high one: 0x0044 for a Type 2 tag with a 7-octet UID.
    public var atqa: UInt16
    /// SAK of the last cascade level; nil for a Type 1 tag, which has none.
    public var sak: UInt8?
    /// The UID: 4, 7 or 10 octets, without cascade tags.
    public var uid: [UInt8]

    /// Creates a target.
    public init(atqa: UInt16, sak: UInt8?, uid: [UInt8]) {
        self.atqa = atqa
        self.sak = sak
        self.uid = uid
    }
}
