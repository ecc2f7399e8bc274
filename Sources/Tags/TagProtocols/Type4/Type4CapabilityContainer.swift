// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The capability container file of a Type 4 tag (NFC Forum T4T 1.2, 4.3).
struct Type4CapabilityContainer: Equatable {
    /// The file's identifier.
    static let file: UInt16 = 0xE103
    /// The number of bytes up to the end of an NDEF file control TLV of mapping versions 1 and 2.
    static let minimumLength = 15
    /// The number of bytes up to the end of an extended control TLV of mapping version 3.
    static let extendedLength = 17

    /// The mapping version: 0x20 is 2.0.
    var version: UInt8
    /// MLe: the most bytes that one READ BINARY returns.
    var maximumRead: Int
    /// MLc: the most bytes that one UPDATE BINARY accepts.
    var maximumWrite: Int
    /// The NDEF file's identifier.
    var messageFile: UInt16
    /// The NDEF file's size, including its length field.
    var fileSize: Int
    /// The read access byte: 00 is unrestricted.
    var readAccess: UInt8
    /// The write access byte: 00 is unrestricted, FF is no access.
    var writeAccess: UInt8
    /// The size of the NDEF file's length field: 2 (NLEN), or 4 (ENLEN) with an extended control TLV.
    var lengthSize: Int

    /// The longest message.
    var capacity: Int { max(0, fileSize - lengthSize) }
    /// The offset of the write access byte in the file.
    var writeAccessOffset: Int { lengthSize == 4 ? 16 : 14 }

    /// Returns how many bytes of the file are needed, from its first bytes.
    static func wantedLength(_ bytes: [UInt8]) -> Int {
        bytes.count > 7 && bytes[7] == 0x06 ? extendedLength : minimumLength
    }

    /// Reads the file's first bytes. Proprietary control TLVs after the first TLV are ignored.
    ///
    /// - Parameter bytes: at least ``minimumLength`` bytes from the start of the file, if it has them.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count >= 3 else {
            throw TagError(.noCapabilityContainer, "The capability container file is empty (NFC Forum T4T 1.2, 4.3).")
        }
        guard (1...3).contains(bytes[2] >> 4) else {
            throw .badVersion(bytes[2] >> 4, bytes[2] & 0x0F, known: "1, 2 and 3 are", "T4T 1.2, 4.3")
        }
        let length = Int(bytes: bytes[0..<2])
        guard length >= Self.minimumLength, bytes.count >= Self.minimumLength else {
            throw TagError(
                .noCapabilityContainer,
                "The capability container has fewer than 15 bytes (NFC Forum T4T 1.2, 4.3)."
            )
        }
        version = bytes[2]
        maximumRead = Int(bytes: bytes[3..<5])
        maximumWrite = Int(bytes: bytes[5..<7])
        guard maximumRead >= 15, maximumWrite >= 1 else {
            throw TagError(
                .noCapabilityContainer,
                "MLe \(maximumRead) or MLc \(maximumWrite) is below 15 or 1 (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let isExtended = bytes[7] == 0x06 && bytes[8] == 0x08 && bytes.count >= Self.extendedLength
        guard isExtended || bytes[7] == 0x04 && bytes[8] == 0x06 else {
            throw TagError(
                .noMessageTLV,
                "The capability container does not begin with an NDEF file control TLV (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let sizeEnd = isExtended ? 15 : 13
        messageFile = UInt16(high: bytes[9], low: bytes[10])
        fileSize = Int(bytes: bytes[11..<sizeEnd])
        readAccess = bytes[sizeEnd]
        writeAccess = bytes[sizeEnd + 1]
        lengthSize = isExtended ? 4 : 2
        guard ![0x0000, 0xE102, 0xE103, 0x3F00, 0x3FFF, 0xFFFF].contains(messageFile), fileSize >= lengthSize else {
            throw TagError(
                .noMessageTLV,
                "The NDEF file control TLV gives a reserved file identifier or no room (NFC Forum T4T 1.2, 4.3)."
            )
        }
    }
}
