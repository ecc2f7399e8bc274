// SPDX-License-Identifier: Apache-2.0

/// What an NFC-V tag says of itself in an inventory (ISO/IEC 15693-3, 4.1 and 10.3.1).
public struct NFCVTarget: Sendable, Hashable {
    /// The UID, eight octets from E0 and the manufacturer's code on, as it is printed; on the air it goes backwards.
    public var uid: [UInt8]
    /// DSFID: the data storage format identifier.
    public var dsfid: UInt8

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - uid: eight octets from E0 on.
    ///   - dsfid: the data storage format identifier.
    public init(uid: [UInt8], dsfid: UInt8 = 0) {
        precondition(uid.count == 8, "a UID of ISO/IEC 15693 has eight octets")
        self.uid = uid
        self.dsfid = dsfid
    }

    /// The manufacturer's code (ISO/IEC 7816-6): 02 is ST, 04 NXP, 07 Texas Instruments.
    public var manufacturer: UInt8 { uid[1] }
}
