// SPDX-License-Identifier: Apache-2.0
/// A BER-TLV data object: a tag, a length and a value (ISO/IEC 7816-4, annex E). Lengths follow the rules of DER.
package struct DataObject: Sendable, Hashable {
    package var tag: UInt16
    package var value: [UInt8]

    package init(_ tag: UInt16, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    package init(_ tag: UInt16, _ objects: [DataObject]) { self.init(tag, objects.flatMap(\.bytes)) }

    /// The encoded object. Its length field is as short as possible.
    package var bytes: [UInt8] {
        let head = tag > 0xFF ? tag.bigEndianBytes : [UInt8(tag)]
        return head + Self.lengthField(value.count) + value
    }

    package static func lengthField(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    /// Takes the first object from `bytes`; nil when they don't start with a complete object of definite length.
    package init?(takingFrom bytes: inout ArraySlice<UInt8>) {
        guard let head = Self.head(bytes), bytes.count >= head.count + head.length else { return nil }
        let value = bytes.dropFirst(head.count)
        self.init(head.tag, Array(value.prefix(head.length)))
        bytes = value.dropFirst(head.length)
    }

    /// Returns the length of the first object with its head; nil when its head is not complete.
    package static func length(_ bytes: [UInt8]) -> Int? { head(bytes[...]).map { $0.count + $0.length } }

    /// Reads tag and length, which take `count` bytes.
    private static func head(_ bytes: ArraySlice<UInt8>) -> (tag: UInt16, length: Int, count: Int)? {
        var rest = bytes
        guard let first = rest.popFirst() else { return nil }
        var tag = UInt16(first)
        if first & 0x1F == 0x1F {
            guard let second = rest.popFirst(), second & 0x80 == 0 else { return nil }
            tag = tag << 8 | UInt16(second)
        }
        guard let head = rest.popFirst() else { return nil }
        var length = Int(head)
        if head >= 0x80 {
            guard (0x81...0x83).contains(head), rest.count >= Int(head & 0x7F) else { return nil }
            length = rest.prefix(Int(head & 0x7F)).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(Int(head & 0x7F))
        }
        return (tag, length, bytes.count - rest.count)
    }

    /// Reads objects that follow each other; nil when they are not complete.
    package static func sequence(_ bytes: [UInt8]) -> [DataObject]? {
        var rest = bytes[...]
        var objects: [DataObject] = []
        while !rest.isEmpty {
            guard let object = DataObject(takingFrom: &rest) else { return nil }
            objects.append(object)
        }
        return objects
    }
}
