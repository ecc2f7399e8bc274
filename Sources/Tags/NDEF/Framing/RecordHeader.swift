// SPDX-License-Identifier: Apache-2.0

/// The fixed part of a record or chunk: flags and lengths. NFC Forum NDEF 1.0, 3.2.
///
/// ```
/// header byte: MB 80, ME 40, CF 20, SR 10, IL 08, TNF 07
/// TYPE_LENGTH (1), PAYLOAD_LENGTH (1 with SR, else 4, big endian), ID_LENGTH (1 with IL)
/// ```
@usableFromInline
@frozen
struct RecordHeader {
    @usableFromInline static let messageBegin: UInt8 = 0x80
    @usableFromInline static let messageEnd: UInt8 = 0x40
    @usableFromInline static let chunk: UInt8 = 0x20
    @usableFromInline static let shortRecord: UInt8 = 0x10
    @usableFromInline static let identifierLength: UInt8 = 0x08

    @usableFromInline let flags: UInt8
    @usableFromInline let typeCount: UInt8
    @usableFromInline let identifierCount: UInt8
    @usableFromInline let count: Int
    @usableFromInline let payloadCount: UInt32

    /// Reads the header at an offset. Returns nil when the input ends inside it.
    @inlinable
    @inline(__always)
    init?(_ bytes: Span<UInt8>, at offset: Int) {
        // Every index that is read was compared with the count before, and the offset is never negative.
        let available = bytes.count - offset
        guard available >= 3 else { return nil }
        flags = unsafe bytes[unchecked: offset]
        typeCount = unsafe bytes[unchecked: offset + 1]
        let hasIdentifier = flags & Self.identifierLength != 0
        if flags & Self.shortRecord != 0 {
            payloadCount = unsafe UInt32(bytes[unchecked: offset + 2])
            count = hasIdentifier ? 4 : 3
        } else {
            guard available >= 6 else { return nil }
            payloadCount =
                unsafe UInt32(bytes[unchecked: offset + 2]) << 24 | UInt32(bytes[unchecked: offset + 3]) << 16
                | UInt32(bytes[unchecked: offset + 4]) << 8 | UInt32(bytes[unchecked: offset + 5])
            count = hasIdentifier ? 7 : 6
        }
        if hasIdentifier {
            guard available >= count else { return nil }
            identifierCount = unsafe bytes[unchecked: offset + count - 1]
        } else {
            identifierCount = 0
        }
    }

    /// Whether the format has no rules about which of type, identifier and payload a record has: well-known, media,
    /// absolute URI, external.
    @inlinable var isOfFreeFormat: Bool { 0b0001_1110 >> (flags & 0x07) & 1 == 1 }

    /// The length of type, identifier and payload together. The sum of the largest lengths needs more than 32 bits.
    @inlinable var bodyCount: UInt64 { UInt64(typeCount) + UInt64(identifierCount) + UInt64(payloadCount) }

    @inlinable
    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
}
