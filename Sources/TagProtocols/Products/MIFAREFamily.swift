// SPDX-License-Identifier: Apache-2.0

/// The families of NXP's MIFARE products, as activation tells them apart (NXP AN10833).
public enum MIFAREFamily: Sendable, Hashable, CaseIterable {
    /// MIFARE Ultralight and NTAG 2xx: Type 2 tags.
    case ultralight
    /// MIFARE Plus in a security level in which it speaks ISO-DEP.
    case plus
    /// MIFARE DESFire and NTAG 4xx.
    case desfire
    /// MIFARE Classic, and MIFARE Plus in its place. Phones without NXP's reader chips don't read it.
    case classic

    /// Tells a tag's family.
    ///
    /// - Parameters:
    ///   - target: the tag as activation found it.
    ///   - historicalBytes: those of its ATS, when it has one.
    /// - Returns: nil when the tag is no MIFARE product.
    public init?(_ target: NFCATarget, historicalBytes: [UInt8] = []) {
        if target.isMIFAREClassic {
            self = .classic
        } else if target.isType2 {
            guard target.uid.first == 0x04 else { return nil }
            self = .ultralight
        } else if target.isISODEP {
            // MIFARE Plus has C1 05 21 30 or C1 05 2F 2F, the tag of a MIFARE application (NXP AN10833, 4).
            if historicalBytes.starts(with: [0xC1, 0x05]) {
                self = .plus
            } else if target.atqa & 0x0F00 == 0x0300, historicalBytes.isEmpty || historicalBytes == [0x80] {
                self = .desfire
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}
