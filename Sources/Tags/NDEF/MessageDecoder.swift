// SPDX-License-Identifier: Apache-2.0

/// Reads the records of a message, one after the other. NFC Forum NDEF 1.0, 2 and 3.
///
/// Memory use is bounded by one copy of the input: a length is compared with the input before it is used.
struct MessageDecoder {
    private let bytes: [UInt8]
    private let range: Range<Int>
    private let options: NDEFDecodingOptions
    /// The offset of the next record or chunk.
    private var offset: Int
    private var records: [NDEFRecord] = []
    /// The record whose chunks are being joined: the first chunk's header, and the type, identifier and payload so far.
    private var pending: (header: RecordHeader, content: [UInt8])?

    init(_ bytes: [UInt8], _ range: Range<Int>, _ options: NDEFDecodingOptions) {
        self.bytes = bytes
        self.range = range
        self.options = options
        offset = range.lowerBound
    }

    mutating func decode() throws(NDEFError) -> [NDEFRecord] {
        while offset < range.upperBound {
            guard let header = RecordHeader(bytes, at: offset, end: range.upperBound) else {
                throw error(.truncatedHeader, at: range.upperBound)
            }
            // Most messages have one record; few have more than three.
            if records.isEmpty { records.reserveCapacity(header.has(RecordHeader.messageEnd) ? 1 : 3) }
            let isPlain = pending == nil && header.isPlain && header.has(RecordHeader.messageBegin) == records.isEmpty
            if !isPlain, let code = brokenRule(header) { throw error(code, at: offset) }
            let body = offset + header.count
            guard header.bodyCount <= UInt64(range.upperBound - body) else {
                throw error(.truncatedBody, at: range.upperBound)
            }
            offset = body + Int(header.bodyCount)
            take(header, body: body..<offset)
            if header.has(RecordHeader.messageEnd) {
                guard offset == range.upperBound || options.allowsTrailingData else {
                    throw error(.trailingData, at: offset)
                }
                return records
            }
        }
        if range.isEmpty {
            guard options.allowsEmptyInput else { throw error(.emptyInput, at: offset) }
        } else {
            guard options.allowsMissingMessageEnd, pending == nil else { throw error(.missingMessageEnd, at: offset) }
        }
        return records
    }

    /// Adds a checked record or chunk to the result. Only chunks are copied.
    private mutating func take(_ header: RecordHeader, body: Range<Int>) {
        let isChunk = header.has(RecordHeader.chunk)
        guard isChunk || pending != nil else {
            records.append(NDEFRecord(header, bytes, start: body.lowerBound, payloadCount: Int(header.payloadCount)))
            return
        }
        var (first, content) = pending ?? (header, [])
        content += bytes[body]
        pending = isChunk ? (first, content) : nil
        if !isChunk {
            let payloadCount = content.count - Int(first.typeCount) - Int(first.identifierCount)
            records.append(NDEFRecord(first, content, start: 0, payloadCount: payloadCount))
        }
    }

    /// Returns the rule for flags, chunks or formats that a header breaks. NFC Forum NDEF 1.0, 2.3.3 and 3.2.6.
    private func brokenRule(_ header: RecordHeader) -> NDEFError.Code? {
        let isFirst = offset == range.lowerBound
        let startsChunks = header.has(RecordHeader.chunk)
        if header.has(RecordHeader.messageBegin), !isFirst { return .unexpectedMessageBegin }
        if startsChunks, header.has(RecordHeader.messageEnd) { return .chunkWithMessageEnd }
        let format = TypeNameFormat(header: header.flags)
        if format == .empty, header.bodyCount != 0 { return .emptyRecordNotEmpty }
        if pending != nil {
            guard format == .unchanged else { return .chunkInterrupted }
            if header.has(RecordHeader.identifierLength) { return .chunkWithIdentifier }
            return header.typeCount == 0 ? nil : .typeNotAllowed
        }
        switch format {
        case .unknown, .reserved:
            if header.typeCount > 0, !options.allowsTypeOnUnknown { return .typeNotAllowed }
        case .unchanged:
            return header.typeCount == 0 ? .unexpectedUnchanged : .typeNotAllowed
        default:
            if startsChunks, header.typeCount == 0 { return .chunkWithoutType }
        }
        if isFirst, !header.has(RecordHeader.messageBegin), !options.allowsMissingMessageBegin {
            return .missingMessageBegin
        }
        return nil
    }

    private func error(_ code: NDEFError.Code, at offset: Int) -> NDEFError {
        NDEFError(code, offset: offset - range.lowerBound, record: records.count)
    }
}

/// The fixed part of a record or chunk: flags and lengths. NFC Forum NDEF 1.0, 3.2.
///
/// ```
/// header byte: MB 80, ME 40, CF 20, SR 10, IL 08, TNF 07
/// TYPE_LENGTH (1), PAYLOAD_LENGTH (1 with SR, else 4, big endian), ID_LENGTH (1 with IL)
/// ```
struct RecordHeader {
    static let messageBegin: UInt8 = 0x80
    static let messageEnd: UInt8 = 0x40
    static let chunk: UInt8 = 0x20
    static let shortRecord: UInt8 = 0x10
    static let identifierLength: UInt8 = 0x08

    let flags: UInt8
    let typeCount: UInt8
    let identifierCount: UInt8
    let payloadCount: UInt32
    /// The length of the header.
    let count: Int

    /// Reads the header at an offset. Returns nil when the input ends inside it.
    init?(_ bytes: [UInt8], at offset: Int, end: Int) {
        guard end - offset >= 3 else { return nil }
        flags = bytes[offset]
        typeCount = bytes[offset + 1]
        let isShort = flags & Self.shortRecord != 0
        let hasIdentifier = flags & Self.identifierLength != 0
        count = (isShort ? 3 : 6) + (hasIdentifier ? 1 : 0)
        guard end - offset >= count else { return nil }
        var length = UInt32(bytes[offset + 2])
        if !isShort {
            length =
                length << 24 | UInt32(bytes[offset + 3]) << 16 | UInt32(bytes[offset + 4]) << 8
                | UInt32(bytes[offset + 5])
        }
        payloadCount = length
        identifierCount = hasIdentifier ? bytes[offset + count - 1] : 0
    }

    /// The length of type, identifier and payload together. The sum of the largest lengths needs more than 32 bits.
    var bodyCount: UInt64 { UInt64(typeCount) + UInt64(identifierCount) + UInt64(payloadCount) }

    /// Whether this is not a chunk, and its format allows any combination of type, identifier and payload: well-known,
    /// media, absolute URI or external. Most records are of this kind.
    var isPlain: Bool { !has(Self.chunk) && (1...4).contains(flags & 0x07) }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
}
