// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A BER-TLV data object: a tag, a length and a value (ISO/IEC 7816-4, annex E). Lengths follow the rules of DER.
struct DataObject: Sendable, Hashable {
    var tag: UInt16
    var value: [UInt8]

    init(_ tag: UInt16, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    init(_ tag: UInt16, _ objects: [DataObject]) { self.init(tag, objects.flatMap(\.bytes)) }

    /// The encoded object. Its length field is as short as possible.
    var bytes: [UInt8] {
        let head = tag > 0xFF ? tag.bigEndianBytes : [UInt8(tag)]
        return head + Self.length(value.count) + value
    }

    private static func length(_ count: Int) -> [UInt8] {
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
    init?(takingFrom bytes: inout ArraySlice<UInt8>) {
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
        guard rest.count >= length else { return nil }
        self.init(tag, Array(rest.prefix(length)))
        bytes = rest.dropFirst(length)
    }

    static func sequence(_ bytes: [UInt8]) -> [DataObject]? {
        var rest = bytes[...]
        var objects: [DataObject] = []
        while !rest.isEmpty {
            guard let object = DataObject(takingFrom: &rest) else { return nil }
            objects.append(object)
        }
        return objects
    }
}

/// The ASN.1 tags and object identifiers in a document's security object.
enum DER {
    static let integer: UInt16 = 0x02
    static let octetString: UInt16 = 0x04
    static let sequence: UInt16 = 0x30
    static let set: UInt16 = 0x31

    /// The tag of a constructed object whose meaning depends on its position.
    static func context(_ number: UInt16) -> UInt16 { 0xA0 | number }

    /// 2.23.136.1.1.1, the hashes of the data groups (ICAO 9303-10, 4.6.2).
    static let securityObject = identifier([0x67, 0x81, 0x08, 0x01, 0x01, 0x01])
    /// 1.2.840.113549.1.7.2 (RFC 5652, 5.1).
    static let signedData = identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02])
    /// 1.2.840.113549.1.9.3 (RFC 5652, 11.1).
    static let contentType = identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03])
    /// 1.2.840.113549.1.9.4 (RFC 5652, 11.2).
    static let messageDigest = identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04])
    /// 2.16.840.1.101.3.4.2.1, without parameters (RFC 5754, 2).
    static let sha256 = sequence(of: identifier([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]))
    /// 1.2.840.113549.1.1.11, with its empty parameters (RFC 5754, 3.2).
    static let sha256WithRSA = sequence(
        of: identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]),
        DataObject(0x05, [UInt8]())
    )

    private static func identifier(_ bytes: [UInt8]) -> DataObject { DataObject(0x06, bytes) }

    static func sequence(of objects: DataObject...) -> DataObject { DataObject(sequence, objects) }

    static func number(_ value: UInt8) -> DataObject { DataObject(integer, [value]) }
}
