// SPDX-License-Identifier: Apache-2.0

extension NDEFRecord {
    /// The length of the record in bytes, written in one piece and in the shortest form.
    @inlinable public var encodedLength: Int {
        let body = Int(typeLength) + Int(identifierLength) + payloadCount
        return body + (payloadCount > 0xFF ? 6 : 3) + (identifierLength > 0 ? 1 : 0)
    }

    /// Returns the length of the record in bytes, written in chunks.
    ///
    /// - Parameter chunkSize: the largest number of payload bytes in a chunk.
    public func encodedLength(chunkSize: Int) -> Int {
        guard isDivided(by: chunkSize) else { return encodedLength }
        let (whole, rest) = payloadCount.quotientAndRemainder(dividingBy: chunkSize)
        let headers = whole * (chunkSize > 0xFF ? 6 : 3) + (rest == 0 ? 0 : rest > 0xFF ? 6 : 3)
        return headers + Int(typeLength) + Int(identifierLength) + payloadCount + (identifierLength > 0 ? 1 : 0)
    }

    /// Why the record can't be written in one piece; nil when it can.
    @inlinable
    @inline(__always)
    var encodingFault: NDEFError.Code? {
        let isOfFreeFormat = 0b0001_1110 >> typeNameFormat.rawValue & 1 == 1
        if isOfFreeFormat, typeLength | identifierLength <= 0xFF, payloadCount <= UInt32.max { return nil }
        return encodingFault(chunkSize: nil)
    }

    /// Returns why the record can't be written in chunks of a size; nil when it can.
    @usableFromInline
    func encodingFault(chunkSize: Int?) -> NDEFError.Code? {
        if typeLength > 0xFF { return .typeTooLong }
        if identifierLength > 0xFF { return .identifierTooLong }
        let part = chunkSize.map { isDivided(by: $0) ? $0 : payloadCount } ?? payloadCount
        if UInt64(part) > UInt64(UInt32.max) { return .payloadTooLong }
        switch typeNameFormat {
        case .empty:
            return typeLength == 0 && identifierLength == 0 && payloadCount == 0 ? nil : .emptyRecordNotEmpty
        case .unknown, .reserved:
            return typeLength == 0 ? nil : .typeNotAllowed
        case .unchanged:
            return typeLength == 0 ? .unexpectedUnchanged : .typeNotAllowed
        default:
            return nil
        }
    }

    /// Returns whether the record is split when chunks have this size.
    @usableFromInline
    func isDivided(by chunkSize: Int) -> Bool {
        chunkSize > 0 && payloadCount > chunkSize
            && (typeLength > 0 || typeNameFormat == .unknown || typeNameFormat == .reserved)
    }

    /// Writes the record in one piece into a span that has enough room.
    @inlinable
    @inline(__always)
    func write(to output: inout OutputSpan<UInt8>, flags: UInt8) {
        var flags = flags | typeNameFormat.rawValue
        if identifierLength > 0 { flags |= RecordHeader.identifierLength }
        if payloadCount <= 0xFF {
            output.append(flags | RecordHeader.shortRecord)
            output.append(UInt8(truncatingIfNeeded: typeLength))
        } else {
            output.append(flags)
            output.append(UInt8(truncatingIfNeeded: typeLength))
            output.append(UInt8(truncatingIfNeeded: payloadCount >> 24))
            output.append(UInt8(truncatingIfNeeded: payloadCount >> 16))
            output.append(UInt8(truncatingIfNeeded: payloadCount >> 8))
        }
        output.append(UInt8(truncatingIfNeeded: payloadCount))
        if identifierLength > 0 { output.append(UInt8(truncatingIfNeeded: identifierLength)) }
        let body = start..<payloadRange.upperBound
        precondition(body.count <= output.freeCapacity, "The length of the record was counted before.")
        // Both ends are checked: the source by the slice, the room by the precondition.
        unsafe storage[body].withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { memory, count in
                if let base = memory.baseAddress, let from = source.baseAddress {
                    unsafe (base + count).initialize(from: from, count: source.count)
                    count += source.count
                }
            }
        }
    }

    /// Appends the record in chunks. The first chunk has the type and the identifier. NFC Forum NDEF 1.0, 2.3.3.
    func appendChunks(to bytes: inout [UInt8], flags: UInt8, chunkSize: Int) {
        let payload = payloadRange
        appendHeader(
            to: &bytes,
            flags: flags & RecordHeader.messageBegin | RecordHeader.chunk | typeNameFormat.rawValue,
            typeLength: UInt8(truncatingIfNeeded: typeLength),
            payloadLength: chunkSize,
            identifierLength: UInt8(truncatingIfNeeded: identifierLength)
        )
        var offset = payload.lowerBound + chunkSize
        bytes.append(contentsOf: storage[start..<offset])
        while offset < payload.upperBound {
            let end = min(offset + chunkSize, payload.upperBound)
            let isLast = end == payload.upperBound
            let chunkFlags = isLast ? flags & RecordHeader.messageEnd : RecordHeader.chunk
            appendHeader(
                to: &bytes,
                flags: chunkFlags | TypeNameFormat.unchanged.rawValue,
                typeLength: 0,
                payloadLength: end - offset,
                identifierLength: 0
            )
            bytes.append(contentsOf: storage[offset..<end])
            offset = end
        }
    }

    private func appendHeader(
        to bytes: inout [UInt8],
        flags: UInt8,
        typeLength: UInt8,
        payloadLength: Int,
        identifierLength: UInt8
    ) {
        let flags = identifierLength > 0 ? flags | RecordHeader.identifierLength : flags
        if payloadLength <= 0xFF {
            bytes.append(flags | RecordHeader.shortRecord)
            bytes.append(typeLength)
            bytes.append(UInt8(truncatingIfNeeded: payloadLength))
        } else {
            bytes.append(flags)
            bytes.append(typeLength)
            bytes.append(UInt8(truncatingIfNeeded: payloadLength >> 24))
            bytes.append(UInt8(truncatingIfNeeded: payloadLength >> 16))
            bytes.append(UInt8(truncatingIfNeeded: payloadLength >> 8))
            bytes.append(UInt8(truncatingIfNeeded: payloadLength))
        }
        if identifierLength > 0 { bytes.append(identifierLength) }
    }
}
