// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The capability container of a Type 5 tag, 4 or 8 bytes at the start of the memory (NFC Forum T5T 1.0, 4.3).
struct Type5CapabilityContainer: Equatable {
    /// The bytes, 4 or 8.
    var bytes: [UInt8]
    /// MLEN: the size of the data area in units of 8 bytes.
    var areaLength: Int

    /// Returns whether the container has 8 bytes, by its first four.
    static func isLong(_ bytes: [UInt8]) -> Bool {
        bytes.count > 2 && bytes[2] == 0
    }

    /// Reads a container.
    ///
    /// - Parameter bytes: the memory's first bytes: at least four, and eight if there are as many.
    /// - Throws: ``TagError`` with `noCapabilityContainer` or `badVersion`.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count >= 4, bytes[0] == 0xE1 || bytes[0] == 0xE2 else {
            throw TagError(
                .noCapabilityContainer,
                "The memory does not begin with E1 or E2 (NFC Forum T5T 1.0, 4.3.1)."
            )
        }
        guard bytes[1] >> 6 == 1 else {
            throw .badVersion(bytes[1] >> 6, bytes[1] >> 4 & 3, "T5T 1.0, 4.3.2")
        }
        if Self.isLong(bytes) {
            guard bytes.count >= 8 else {
                throw TagError(
                    .noCapabilityContainer,
                    "The memory ends within the capability container (NFC Forum T5T 1.0, 4.3.1)."
                )
            }
            self.bytes = Array(bytes[..<8])
            self.areaLength = Int(high: bytes[6], low: bytes[7])
        } else {
            self.bytes = Array(bytes[..<4])
            self.areaLength = Int(bytes[2])
        }
    }

    /// Creates the container for a memory.
    ///
    /// - Parameters:
    ///   - size: the memory's size in bytes.
    ///   - hasLongAddresses: whether the memory has more than 256 blocks.
    init?(forMemoryOf size: Int, hasLongAddresses: Bool) {
        guard size >= 16 else { return nil }
        let magic: UInt8 = hasLongAddresses ? 0xE2 : 0xE1
        let short = (size - 4) / 8
        if short <= 255, !hasLongAddresses {
            bytes = [magic, 0x40, UInt8(short), 0x01]
            areaLength = short
        } else {
            let long = min(0xFFFF, (size - 8) / 8)
            bytes = [magic, 0x40, 0x00, 0x01, 0x00, 0x00, UInt8(long >> 8), UInt8(long & 0xFF)]
            areaLength = long
        }
    }

    /// The addresses of the data area, according to the container.
    var area: Range<Int> { bytes.count..<bytes.count + 8 * areaLength }
    /// Whether block addresses have two bytes.
    var hasLongAddresses: Bool { bytes[0] == 0xE2 }
    /// Whether reading is unrestricted.
    var isReadable: Bool { bytes[1] >> 2 & 3 == 0 }
    /// Whether writing is unrestricted.
    var isWritable: Bool { bytes[1] & 3 == 0 }
    /// Whether the tag answers a write only after another EOF.
    var usesSpecialFrame: Bool { bytes[3] & 0x10 != 0 }

    /// This container with write access 11: no access.
    var readOnly: Type5CapabilityContainer {
        var result = self
        result.bytes[1] |= 0x03
        return result
    }
}
