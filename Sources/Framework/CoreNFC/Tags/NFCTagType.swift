// SPDX-License-Identifier: Apache-2.0

/// The technology of a tag. Clients need it only for their own tag classes.
public enum __NFCTagType: UInt, Sendable {
    /// An ISO/IEC 15693 tag.
    case ISO15693 = 1
    /// A FeliCa card.
    case feliCa = 2
    /// An ISO/IEC 14443 card with an application of the app's list.
    case iso7816Compatible = 3
    /// A MIFARE card.
    case miFare = 4
}
