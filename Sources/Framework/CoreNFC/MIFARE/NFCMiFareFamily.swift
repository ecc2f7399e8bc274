// SPDX-License-Identifier: Apache-2.0

/// The family of a MIFARE card.
public enum NFCMiFareFamily: UInt, Sendable {
    /// A card that is compatible with ISO/IEC 14443-3A, of an unknown family.
    case unknown = 1
    /// MIFARE Ultralight, and NTAG.
    case ultralight = 2
    /// MIFARE Plus.
    case plus = 3
    /// MIFARE DESFire.
    case desfire = 4
}
