// SPDX-License-Identifier: Apache-2.0

/// A Type 1 tag product.
public enum Type1Product: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Topaz 96 (BCM20203T96): 120 bytes, static memory.
    case topaz96 = "Topaz 96"
    /// Topaz 512 (BCM20203T512): 512 bytes, dynamic memory.
    case topaz512 = "Topaz 512"

    public var description: String { rawValue }

    /// Finds a product by name, such as `Topaz 96`; nil for an unknown name.
    public init?(named name: String) {
        self.init(rawValue: name)
    }

    /// The size of the memory, in bytes.
    public var memorySize: Int { self == .topaz96 ? 120 : 512 }

    package var header: [UInt8] { self == .topaz96 ? [0x11, 0x48] : [0x12, 0x4C] }

    /// The capability container and the TLVs after it, as on a new tag.
    package var factoryData: [UInt8] {
        switch self {
        case .topaz96: [0xE1, 0x10, 0x0E, 0x00, 0x03, 0x00]
        case .topaz512:
            // Lock control: byte 122, 48 bits, 8 bytes per bit. Memory control: bytes 120 and 121.
            [0xE1, 0x10, 0x3F, 0x00, 0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03, 0x03, 0x00]
        }
    }
}
