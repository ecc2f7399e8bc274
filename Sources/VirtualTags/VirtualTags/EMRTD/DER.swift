// SPDX-License-Identifier: Apache-2.0
import TagLink

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
