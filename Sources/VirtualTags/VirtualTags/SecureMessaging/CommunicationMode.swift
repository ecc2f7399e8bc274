// SPDX-License-Identifier: Apache-2.0

/// How data are protected between card and reader.
public enum CommunicationMode: Sendable, Hashable {
    case plain
    /// With a MAC.
    case maced
    /// Encrypted, and with a checksum or MAC.
    case enciphered
}

/// The communication settings of a file of a DESFire or NTAG 424 card: a byte, of which two bits are the mode.
public struct CommunicationSettings: RawRepresentable, Sendable, Hashable {
    /// Data are sent as they are.
    public static let plain = CommunicationSettings(rawValue: 0x00)
    /// Data are sent with a MAC.
    public static let maced = CommunicationSettings(rawValue: 0x01)
    /// Data are sent encrypted.
    public static let enciphered = CommunicationSettings(rawValue: 0x03)

    /// The byte, as the card reports it. Bits that are not part of the mode are kept.
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The mode in the lower two bits.
    public var mode: CommunicationMode {
        switch rawValue & 0x03 {
        case 0x01: .maced
        case 0x03: .enciphered
        default: .plain
        }
    }
}
