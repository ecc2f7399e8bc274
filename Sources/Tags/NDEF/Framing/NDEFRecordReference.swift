// SPDX-License-Identifier: Apache-2.0

/// A record as ranges of its message's bytes. Nothing is copied, so it has a meaning only together with those bytes.
@frozen public struct NDEFRecordReference: Sendable, Hashable {
    /// The header byte of the record, or of its first chunk.
    @usableFromInline var flags: UInt8
    @usableFromInline var typeCount: UInt8
    @usableFromInline var identifierCount: UInt8
    @usableFromInline var bodyOffset: Int
    @usableFromInline var firstPayloadCount: Int

    /// The length of the whole payload, in all chunks.
    @inlinable public var payloadCount: Int { joinedPayloadCount }
    /// The offset after the last byte of the record.
    @inlinable public var endOffset: Int { end }
    @usableFromInline var joinedPayloadCount: Int
    @usableFromInline var end: Int

    @inlinable
    init(header: RecordHeader, offset: Int) {
        flags = header.flags
        typeCount = header.typeCount
        identifierCount = header.identifierCount
        bodyOffset = offset + header.count
        firstPayloadCount = Int(header.payloadCount)
        joinedPayloadCount = firstPayloadCount
        end = bodyOffset + Int(header.typeCount) + Int(header.identifierCount) + firstPayloadCount
    }

    /// Returns this record with one more chunk.
    @usableFromInline
    func joined(with chunk: NDEFRecordReference) -> NDEFRecordReference {
        var record = self
        record.joinedPayloadCount += chunk.firstPayloadCount
        record.end = chunk.end
        return record
    }

    /// The format of the type.
    @inlinable public var typeNameFormat: TypeNameFormat { TypeNameFormat(header: flags) }

    /// The range of the type.
    @inlinable public var type: Range<Int> {
        unsafe Range(uncheckedBounds: (bodyOffset, bodyOffset + Int(typeCount)))
    }

    /// The range of the identifier.
    @inlinable public var identifier: Range<Int> {
        let start = bodyOffset + Int(typeCount)
        return unsafe Range(uncheckedBounds: (start, start + Int(identifierCount)))
    }

    /// The range of the payload. For a chunked record, the range of the first chunk's payload.
    @inlinable public var payload: Range<Int> {
        let start = bodyOffset + Int(typeCount) + Int(identifierCount)
        return unsafe Range(uncheckedBounds: (start, start + firstPayloadCount))
    }

    /// Whether the record is in chunks. Then ``payload`` covers only the first one.
    @inlinable public var isChunked: Bool { flags & RecordHeader.chunk != 0 }

    /// Returns the range of the payload in each chunk.
    ///
    /// - Parameter bytes: the bytes that the record was found in.
    /// - Returns: one range for each chunk; one range for a record without chunks.
    public func payloadRanges(in bytes: Span<UInt8>) -> [Range<Int>] {
        guard isChunked else { return [payload] }
        var ranges = [payload]
        var offset = payload.upperBound
        while offset < endOffset, let header = RecordHeader(bytes, at: offset) {
            let start = offset + header.count
            offset = start + Int(header.payloadCount)
            ranges.append(start..<offset)
        }
        return ranges
    }
}
