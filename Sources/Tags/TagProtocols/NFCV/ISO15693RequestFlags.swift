// SPDX-License-Identifier: Apache-2.0

/// Request flags that nothing else implies (ISO/IEC 15693-3, 7.3.1).
public struct ISO15693RequestFlags: OptionSet, Sendable, Hashable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Two sub-carriers.
    public static let dualSubCarriers = Self(rawValue: 0x01)
    /// The high data rate, which NFC Forum tags use.
    public static let highDataRate = Self(rawValue: 0x02)
    /// The request is an inventory.
    public static let inventory = Self(rawValue: 0x04)
    /// Protocol extension.
    public static let protocolExtension = Self(rawValue: 0x08)
    /// Only the selected tag answers. In an inventory: an AFI follows.
    public static let select = Self(rawValue: 0x10)
    /// The UID follows. In an inventory: there is one slot.
    public static let address = Self(rawValue: 0x20)
    /// The command's option.
    public static let option = Self(rawValue: 0x40)
}
