// SPDX-License-Identifier: Apache-2.0

/// A data object of a transparent session with a PC/SC reader: BER-TLV, with a tag of one or two bytes (PC/SC part 3,
/// supplement 2.02.03, 2).
package struct TransparentDataObject: Sendable {
    package var tag: UInt16
    package var value: [UInt8]

    package init(tag: UInt16, value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    /// Parses data objects; nil when any of them is invalid.
    package static func all(in bytes: [UInt8]) -> [TransparentDataObject]? {
        var objects: [TransparentDataObject] = []
        var rest = bytes[...]
        while let first = rest.popFirst() {
            var tag = UInt16(first)
            if first & 0x1F == 0x1F, first != 0xFF {
                guard let second = rest.popFirst() else { return nil }
                tag = tag << 8 | UInt16(second)
            }
            guard let length = length(&rest), rest.count >= length else { return nil }
            objects.append(TransparentDataObject(tag: tag, value: Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return objects
    }

    private static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard let first = rest.popFirst() else { return nil }
        switch first {
        case 0..<0x80: return Int(first)
        case 0x81: return rest.popFirst().map { Int($0) }
        case 0x82:
            guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
            return Int(high: high, low: low)
        default: return nil
        }
    }

    /// The object's bytes.
    package var bytes: [UInt8] {
        let name = tag > 0xFF ? tag.bigEndianBytes : [UInt8(tag)]
        let count = value.count
        let length: [UInt8] =
            switch count {
            case 0..<0x80: [UInt8(count)]
            case 0x80...0xFF: [0x81, UInt8(count)]
            default: [0x82] + [UInt8](bigEndian: count, count: 2)
            }
        return name + length + value
    }
}
