// SPDX-License-Identifier: Apache-2.0

/// The capability container of a Type 1 tag, octets 8 to 11 (NFC Forum T1T 1.2, 6.1).
struct Type1CapabilityContainer: Equatable {
    /// Where it is.
    static let address = 8
    /// Blocks D to F, reserved for lock and one-time bits: up to the end of the static memory, or of segment 0.
    static let reserved = 104..<128

    var octets: [UInt8]

    /// Reads a container.
    ///
    /// - Throws: ``TagError`` with `noCapabilityContainer` or `badVersion`.
    init(_ octets: [UInt8]) throws(TagError) {
        guard octets.count == 4, octets[0] == 0xE1 else {
            throw TagError(.noCapabilityContainer, "Octet 8 is not E1 (NFC Forum T1T 1.2, 6.1).")
        }
        guard octets[1] >> 4 == 1 else {
            throw TagError(
                .badVersion,
                "The mapping version is \(octets[1] >> 4).\(octets[1] & 0x0F); 1 is known (NFC Forum T1T 1.2, 6.1)."
            )
        }
        self.octets = octets
    }

    /// The data area, with the reserved octets in it.
    var area: Range<Int> { 12..<max(12, (Int(octets[2]) + 1) * 8) }
    /// Whether reading is free.
    var isReadable: Bool { octets[3] >> 4 == 0 }
    /// Whether writing is free.
    var isWritable: Bool { octets[3] & 0x0F == 0 }
}
