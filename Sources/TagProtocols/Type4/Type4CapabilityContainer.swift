// SPDX-License-Identifier: Apache-2.0

/// The capability container file of a Type 4 tag (NFC Forum T4T 1.2, 4.3).
struct Type4CapabilityContainer: Equatable {
    /// The file's identifier.
    static let file: UInt16 = 0xE103
    /// The octets up to the end of an NDEF file control TLV of mapping versions 1 and 2.
    static let minimumLength = 15
    /// The octets up to the end of an extended one, of mapping version 3.
    static let extendedLength = 17

    /// The mapping version: 0x20 is 2.0.
    var version: UInt8
    /// MLe: the most octets that one READ BINARY brings.
    var maximumRead: Int
    /// MLc: the most octets that one UPDATE BINARY takes.
    var maximumWrite: Int
    /// The NDEF file's identifier.
    var messageFile: UInt16
    /// The NDEF file's size, with its length field.
    var fileSize: Int
    /// The read access octet: 00 is free.
    var readAccess: UInt8
    /// The write access octet: 00 is free, FF is none.
    var writeAccess: UInt8
    /// Octets of the NDEF file's length field: 2 (NLEN), or 4 (ENLEN) with an extended control TLV.
    var lengthSize: Int

    /// The longest message.
    var capacity: Int { max(0, fileSize - lengthSize) }
    /// Where the write access octet is in the file.
    var writeAccessOffset: Int { lengthSize == 4 ? 16 : 14 }

    /// How many octets of the file have to be read, by those that are known.
    static func wantedLength(_ octets: [UInt8]) -> Int {
        octets.count > 7 && octets[7] == 0x06 ? extendedLength : minimumLength
    }

    /// Reads the file's first octets; proprietary control TLVs behind the first are of no concern.
    ///
    /// - Parameter octets: at least ``minimumLength`` octets from the start of the file, where it has them.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`.
    init(_ octets: [UInt8]) throws(TagError) {
        guard octets.count >= 3 else {
            throw TagError(.noCapabilityContainer, "The capability container file is empty (NFC Forum T4T 1.2, 4.3).")
        }
        guard (1...3).contains(octets[2] >> 4) else {
            throw TagError(
                .badVersion,
                "The mapping version is \(octets[2] >> 4).\(octets[2] & 0x0F); 1, 2 and 3 are known (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let length = Self.number(octets[0..<2])
        guard length >= Self.minimumLength, octets.count >= Self.minimumLength else {
            throw TagError(
                .noCapabilityContainer,
                "The capability container has fewer than 15 octets (NFC Forum T4T 1.2, 4.3)."
            )
        }
        version = octets[2]
        maximumRead = Self.number(octets[3..<5])
        maximumWrite = Self.number(octets[5..<7])
        guard maximumRead >= 15, maximumWrite >= 1 else {
            throw TagError(
                .noCapabilityContainer,
                "MLe \(maximumRead) or MLc \(maximumWrite) is below 15 or 1 (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let isExtended = octets[7] == 0x06 && octets[8] == 0x08 && octets.count >= Self.extendedLength
        guard isExtended || octets[7] == 0x04 && octets[8] == 0x06 else {
            throw TagError(
                .noMessageTLV,
                "The capability container does not begin with an NDEF file control TLV (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let sizeEnd = isExtended ? 15 : 13
        messageFile = UInt16(octets[9]) << 8 | UInt16(octets[10])
        fileSize = Self.number(octets[11..<sizeEnd])
        readAccess = octets[sizeEnd]
        writeAccess = octets[sizeEnd + 1]
        lengthSize = isExtended ? 4 : 2
        guard ![0x0000, 0xE102, 0xE103, 0x3F00, 0x3FFF, 0xFFFF].contains(messageFile), fileSize >= lengthSize else {
            throw TagError(
                .noMessageTLV,
                "The NDEF file control TLV gives a reserved file identifier or no room (NFC Forum T4T 1.2, 4.3)."
            )
        }
    }

    static func number(_ octets: some Sequence<UInt8>) -> Int {
        octets.reduce(0) { $0 << 8 | Int($1) }
    }
}
