// SPDX-License-Identifier: Apache-2.0

/// The capability container of a Type 2 tag: page 3 (NFC Forum T2T 1.2, 4.5).
struct Type2CapabilityContainer: Equatable {
    static let magicNumber: UInt8 = 0xE1
    /// The low half of the access byte when writing is not allowed.
    static let noWriteAccess: UInt8 = 0x0F

    /// The four bytes, as stored on the tag.
    let bytes: [UInt8]

    /// Reads and checks a container.
    ///
    /// - Parameter bytes: the four bytes of page 3.
    /// - Throws: ``TagError`` with `noCapabilityContainer` or `badVersion`; `readProtected` when reading is
    ///   restricted.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == 4, bytes[0] == Self.magicNumber else {
            throw TagError(
                .noCapabilityContainer,
                "The tag is not formatted for NDEF: its page 3 does not begin with E1 (NFC Forum T2T 1.2, 4.5)."
            )
        }
        guard bytes[1] >> 4 == 1 else {
            throw .badVersion(bytes[1] >> 4, bytes[1] & 0x0F, "T2T 1.2, 4.5")
        }
        guard bytes[3] >> 4 == 0 else {
            throw TagError(
                .readProtected,
                "The tag's capability container does not grant free reading (NFC Forum T2T 1.2, 4.5)."
            )
        }
        self.bytes = bytes
    }

    /// The third byte: the size of the data area in units of 8 bytes.
    var sizeByte: UInt8 { bytes[2] }

    /// Whether writing is unrestricted. Proprietary conditions (8 to E) count as not writable.
    var isWritable: Bool { bytes[3] & 0x0F == 0 }

    /// The bytes of the data area.
    var area: Range<Int> {
        Type2Memory.dataAreaStart..<Type2Memory.dataAreaStart + Int(sizeByte) * 8
    }

    /// The page after the last one of the data area.
    var endPage: Int { area.upperBound / Type2Memory.pageSize }
}
