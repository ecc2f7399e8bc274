// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The commands for applications and transparent files (ISO/IEC 7816-4, 11.2 and 11.3), as used by NFC Forum T4T 1.2,
/// 5.
extension CommandAPDU {
    /// The largest offset that fits in P1 and P2 of READ BINARY and UPDATE BINARY.
    public static let maximumShortOffset = 0x7FFF
    /// The largest offset that fits in an offset data object with three bytes.
    public static let maximumOffset = 0xFF_FFFF

    /// SELECT by DF name.
    ///
    /// - Parameters:
    ///   - name: the application identifier, 5 to 16 bytes.
    ///   - expectsTemplate: whether Le asks for the file control information, as in NFC Forum T4T 1.2, 5.5.
    public static func select(application name: [UInt8], expectsTemplate: Bool = true) -> CommandAPDU {
        CommandAPDU(0x00, 0xA4, 0x04, 0x00, data: name, expectedLength: expectsTemplate ? 256 : nil)
    }

    /// SELECT by file identifier.
    ///
    /// - Parameters:
    ///   - file: the file identifier.
    ///   - parameter2: 0C asks for no file control information; mapping version 1.0 needs 00.
    public static func select(file: UInt16, parameter2: UInt8 = 0x0C) -> CommandAPDU {
        CommandAPDU(0x00, 0xA4, 0x00, parameter2, data: file.bigEndianBytes)
    }

    /// READ BINARY of the selected file.
    ///
    /// Up to offset 7FFF the offset is in P1 and P2. For higher offsets the instruction is B1 with an offset data
    /// object (54), and the answer has its data in a discretionary data object (53); see ``discretionaryData(_:)``.
    ///
    /// - Parameters:
    ///   - offset: where to start, 0 to FFFFFF.
    ///   - count: the number of bytes to read, 1 to 65,536, including the data object's tag and length.
    public static func readBinary(offset: Int, count: Int) -> CommandAPDU {
        guard offset > maximumShortOffset else {
            return CommandAPDU(0x00, 0xB0, UInt8(offset >> 8), UInt8(offset & 0xFF), expectedLength: count)
        }
        return CommandAPDU(
            0x00,
            0xB1,
            0x00,
            0x00,
            data: offsetDataObject(offset),
            expectedLength: count + discretionaryOverhead(count)
        )
    }

    /// UPDATE BINARY of the selected file. For offsets above 7FFF the instruction is D7 with data objects.
    ///
    /// - Parameters:
    ///   - offset: where to start, 0 to FFFFFF.
    ///   - data: the bytes to write.
    public static func updateBinary(offset: Int, data: [UInt8]) -> CommandAPDU {
        guard offset > maximumShortOffset else {
            return CommandAPDU(0x00, 0xD6, UInt8(offset >> 8), UInt8(offset & 0xFF), data: data)
        }
        return CommandAPDU(
            0x00,
            0xD7,
            0x00,
            0x00,
            data: offsetDataObject(offset) + [0x53] + berLength(data.count) + data
        )
    }

    /// 54 03 and the offset, as in mapping version 3.
    static func offsetDataObject(_ offset: Int) -> [UInt8] {
        [0x54, 0x03] + [UInt8](bigEndian: offset, count: 3)
    }

    /// Returns the length of the tag and length fields of a data object with so much data.
    static func discretionaryOverhead(_ count: Int) -> Int {
        1 + berLength(count).count
    }

    /// Returns a length in BER-TLV (ISO/IEC 7816-4, 5.2.2.2).
    static func berLength(_ count: Int) -> [UInt8] {
        switch count {
        case 0..<0x80: [UInt8(count)]
        case 0x80..<0x100: [0x81, UInt8(count)]
        default: [0x82] + [UInt8](bigEndian: count, count: 2)
        }
    }

    /// Extracts the data from the answer to a READ BINARY with the odd instruction.
    ///
    /// - Parameter bytes: the answer's data field: 53, a length and that many bytes.
    /// - Returns: nil when the bytes are something else.
    public static func discretionaryData(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 2, bytes[0] == 0x53 else { return nil }
        var start = 2
        var length = Int(bytes[1])
        if length == 0x81, bytes.count >= 3 {
            start = 3
            length = Int(bytes[2])
        } else if length == 0x82, bytes.count >= 4 {
            start = 4
            length = Int(high: bytes[2], low: bytes[3])
        } else if length >= 0x80 {
            return nil
        }
        guard bytes.count == start + length else { return nil }
        return Array(bytes[start...])
    }
}
