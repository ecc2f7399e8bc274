// SPDX-License-Identifier: Apache-2.0

/// The data that an NFC-V tag sends in an inventory (ISO/IEC 15693-3, 4.1 and 10.3.1).
public struct NFCVTarget: Sendable, Hashable {
    /// The UID as it is printed: eight bytes, E0 first, then the manufacturer's code. It is sent in the reverse order.
    public var uid: [UInt8]
    /// DSFID: the data storage format identifier.
    public var dsfid: UInt8

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - uid: eight bytes, starting with E0.
    ///   - dsfid: the data storage format identifier.
    public init(uid: [UInt8], dsfid: UInt8 = 0) {
        precondition(uid.count == 8, "a UID of ISO/IEC 15693 has eight bytes")
        self.uid = uid
        self.dsfid = dsfid
    }

    /// The manufacturer's code (ISO/IEC 7816-6): 02 is ST, 04 NXP, 07 Texas Instruments.
    public var manufacturer: UInt8 { uid[1] }
}
