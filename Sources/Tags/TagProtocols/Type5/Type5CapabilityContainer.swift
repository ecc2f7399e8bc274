// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The capability container of a Type 5 tag, 4 or 8 bytes at the start of the memory (NFC Forum T5T 1.0, 4.3).
struct Type5CapabilityContainer: Equatable {
    /// The bytes, 4 or 8.
    var octets: [UInt8]
    /// MLEN: the size of the data area in units of 8 bytes.
    var areaLength: Int

    /// Returns whether the container has 8 bytes, by its first four.
    static func isLong(_ octets: [UInt8]) -> Bool {
        octets.count > 2 && octets[2] == 0
    }

    /// Reads a container.
    ///
    /// - Parameter octets: the memory's first bytes: at least four, and eight if there are as many.
    /// - Throws: ``TagError`` with `noCapabilityContainer` or `badVersion`.
    init(_ octets: [UInt8]) throws(TagError) {
        guard octets.count >= 4, octets[0] == 0xE1 || octets[0] == 0xE2 else {
            throw TagError(
                .noCapabilityContainer,
                "The memory does not begin with E1 or E2 (NFC Forum T5T 1.0, 4.3.1)."
            )
        }
        guard octets[1] >> 6 == 1 else {
            throw .badVersion(octets[1] >> 6, octets[1] >> 4 & 3, "T5T 1.0, 4.3.2")
        }
        if Self.isLong(octets) {
            guard octets.count >= 8 else {
                throw TagError(
                    .noCapabilityContainer,
                    "The memory ends within the capability container (NFC Forum T5T 1.0, 4.3.1)."
                )
            }
            self.octets = Array(octets[..<8])
            self.areaLength = Int(high: octets[6], low: octets[7])
        } else {
            self.octets = Array(octets[..<4])
            self.areaLength = Int(octets[2])
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
            octets = [magic, 0x40, UInt8(short), 0x01]
            areaLength = short
        } else {
            let long = min(0xFFFF, (size - 8) / 8)
            octets = [magic, 0x40, 0x00, 0x01, 0x00, 0x00, UInt8(long >> 8), UInt8(long & 0xFF)]
            areaLength = long
        }
    }

    /// The addresses of the data area, according to the container.
    var area: Range<Int> { octets.count..<octets.count + 8 * areaLength }
    /// Whether block addresses have two bytes.
    var hasLongAddresses: Bool { octets[0] == 0xE2 }
    /// Whether reading is unrestricted.
    var isReadable: Bool { octets[1] >> 2 & 3 == 0 }
    /// Whether writing is unrestricted.
    var isWritable: Bool { octets[1] & 3 == 0 }
    /// Whether the tag answers a write only after another EOF.
    var usesSpecialFrame: Bool { octets[3] & 0x10 != 0 }

    /// This container with write access 11: no access.
    var readOnly: Type5CapabilityContainer {
        var result = self
        result.octets[1] |= 0x03
        return result
    }
}
