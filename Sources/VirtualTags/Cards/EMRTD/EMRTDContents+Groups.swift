// SPDX-License-Identifier: Apache-2.0

/// The data groups (ICAO 9303-10, 4.7).
extension EMRTDContents {
    /// The tag that a data group begins with, or nil where there is no such group.
    static func tag(ofGroup number: Int) -> UInt8? {
        let tags: [UInt8] = [
            0x61, 0x75, 0x63, 0x76, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70,
        ]
        return tags.indices.contains(number - 1) ? tags[number - 1] : nil
    }

    /// EF.COM: versions 1.7 of the data structure and 4.0.0 of Unicode, and the tags of the groups that there are.
    static func commonData(ofGroups numbers: [Int]) -> [UInt8] {
        DataObject(
            0x60,
            [
                DataObject(0x5F01, Array("0107".utf8)), DataObject(0x5F36, Array("040000".utf8)),
                DataObject(0x5C, numbers.compactMap { tag(ofGroup: $0) }),
            ]
        ).bytes
    }

    /// Data group 1: the zone as it is printed.
    static func zoneGroup(_ zone: MachineReadableZone) -> [UInt8] {
        DataObject(0x61, [DataObject(0x5F1F, zone.characters)]).bytes
    }

    /// Data group 2: one facial image.
    ///
    /// - Parameter portrait: a picture in JPEG.
    /// - Returns: nil when it is none.
    static func faceGroup(_ portrait: [UInt8]) -> [UInt8]? {
        guard let record = faceRecord(portrait) else { return nil }
        // The header of ISO/IEC 7816-11: facial features, in the format 8 of ISO/IEC JTC 1/SC 37.
        let header = DataObject(
            0xA1,
            [
                DataObject(0x81, [0x02]), DataObject(0x82, [0x00]), DataObject(0x87, [0x01, 0x01]),
                DataObject(0x88, [0x00, 0x08]),
            ]
        )
        let template = DataObject(0x7F60, [header, DataObject(0x5F2E, record)])
        return DataObject(0x75, [DataObject(0x7F61, [DER.number(1), template])]).bytes
    }

    /// The facial record of ISO/IEC 19794-5:2005, 5.
    private static func faceRecord(_ portrait: [UInt8]) -> [UInt8]? {
        guard let picture = JPEGSize(portrait) else { return nil }
        let length = 20 + 12 + portrait.count
        var record = Array("FAC\0010\0".utf8) + number(14 + length, octets: 4) + number(1, octets: 2)
        // Facial information: no feature points; sex, eyes, hair, properties, expression and pose are not told.
        record += number(length, octets: 4) + Array(repeating: 0, count: 16)
        // Image information: full frontal, JPEG; the source, the camera and the quality are not told.
        record += [0x01, 0x00] + number(picture.width, octets: 2) + number(picture.height, octets: 2)
        record += [picture.components == 1 ? 0x03 : 0x01, 0x00, 0x00, 0x00, 0x00, 0x00]
        return record + portrait
    }

    private static func number(_ value: Int, octets: Int) -> [UInt8] {
        (0..<octets).map { UInt8(truncatingIfNeeded: value >> (8 * (octets - 1 - $0))) }
    }
}

/// The size of a picture, from the frame header of a JPEG (ITU-T T.81, B.2.2).
struct JPEGSize {
    var width: Int
    var height: Int
    /// 1 for grey, 3 for colour.
    var components: Int

    /// Finds the frame header; nil when the octets are no JPEG from beginning to end.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0xFF, 0xD8]), bytes.suffix(2) == [0xFF, 0xD9] else { return nil }
        var position = 2
        while position + 10 <= bytes.count {
            guard bytes[position] == 0xFF else { return nil }
            let marker = bytes[position + 1]
            // C0 to CF begin a frame, but for the tables C4 and CC and the extension C8.
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                height = Int(bytes[position + 5]) << 8 | Int(bytes[position + 6])
                width = Int(bytes[position + 7]) << 8 | Int(bytes[position + 8])
                components = Int(bytes[position + 9])
                guard width > 0, height > 0 else { return nil }
                return
            }
            position += 2 + (Int(bytes[position + 2]) << 8 | Int(bytes[position + 3]))
        }
        return nil
    }
}
