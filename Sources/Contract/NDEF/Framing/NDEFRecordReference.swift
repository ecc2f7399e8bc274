// SPDX-License-Identifier: Apache-2.0

/// A record as ranges of the message's octets: nothing is copied. Meaningful only together with those octets.
@frozen public struct NDEFRecordReference: Sendable, Hashable {
    /// The header octet of the record, or of its first chunk.
    @usableFromInline var flags: UInt8
    @usableFromInline var typeCount: UInt8
    @usableFromInline var identifierCount: UInt8
    @usableFromInline var bodyOffset: Int
    @usableFromInline var firstPayloadCount: Int

    /// The length of the whole payload, in all chunks.
    @inlinable public var payloadCount: Int { joinedPayloadCount }
    /// The offset after the record's last octet.
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

    /// The record with one more chunk.
    @usableFromInline
    func joined(with chunk: NDEFRecordReference) -> NDEFRecordReference {
        var record = self
        record.joinedPayloadCount += chunk.firstPayloadCount
        record.end = chunk.end
        return record
    }

    /// What the type is.
    @inlinable public var typeNameFormat: TypeNameFormat { TypeNameFormat(header: flags) }

    /// Where the type is.
    @inlinable public var type: Range<Int> {
        unsafe Range(uncheckedBounds: (bodyOffset, bodyOffset + Int(typeCount)))
    }

    /// Where the identifier is.
    @inlinable public var identifier: Range<Int> {
        let start = bodyOffset + Int(typeCount)
        return unsafe Range(uncheckedBounds: (start, start + Int(identifierCount)))
    }

    /// Where the payload is; of a chunked record, where the payload of its first chunk is.
    @inlinable public var payload: Range<Int> {
        let start = bodyOffset + Int(typeCount) + Int(identifierCount)
        return unsafe Range(uncheckedBounds: (start, start + firstPayloadCount))
    }

    /// Whether the record is in chunks, so that ``payload`` isn't the whole of it.
    @inlinable public var isChunked: Bool { flags & RecordHeader.chunk != 0 }

    /// Where the payload is, chunk by chunk.
    ///
    /// - Parameter bytes: the octets in which the record was found.
    /// - Returns: one range, or one for each chunk.
    public func payloadRanges(in bytes: Span<UInt8>) -> [Range<Int>] {
        // mutate: equivalent, because a record that is not in chunks ends with its payload.
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
