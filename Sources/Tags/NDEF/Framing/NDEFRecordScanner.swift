// SPDX-License-Identifier: Apache-2.0

/// Finds the records of a message one by one, without copying or allocating.
///
/// A small state machine: it keeps its position and takes the bytes as an argument of every step. After an error about
/// input that ends too early it can continue with more bytes. After any other error it can't be used any more.
@frozen public struct NDEFRecordScanner: Sendable {
    /// The offset of the next record or chunk.
    @inlinable public var offset: Int { position }
    /// The number of records found so far.
    @inlinable public var recordCount: Int { found }
    /// Whether the last record of the message was found.
    @inlinable public var isAtEnd: Bool { isFinished }
    @usableFromInline var position: Int
    @usableFromInline var found: Int
    @usableFromInline var isFinished: Bool
    @usableFromInline let options: NDEFDecodingOptions
    @usableFromInline let start: Int
    /// The record whose chunks are being joined.
    @usableFromInline var pending: NDEFRecordReference?

    /// Creates a scanner.
    ///
    /// - Parameters:
    ///   - offset: the start of the message; not negative.
    ///   - options: the errors to accept.
    @inlinable
    public init(at offset: Int = 0, options: NDEFDecodingOptions = .strict) {
        // The bytes of a header are read without a check of this.
        precondition(offset >= 0, "No message starts before its bytes.")
        position = offset
        self.start = offset
        self.options = options
        found = 0
        isFinished = false
        pending = nil
    }

    /// Finds the next record. The chunks of a record are checked and returned as one record.
    ///
    /// - Parameter bytes: all the message's bytes. Every call must pass them from the same start.
    /// - Returns: the record; nil after the last one.
    /// - Throws: ``NDEFError`` with any of the codes for reading. Records before the fault were returned by earlier
    ///   calls.
    @inlinable
    public mutating func next(in bytes: Span<UInt8>) throws(NDEFError) -> NDEFRecordReference? {
        if isAtEnd { return nil }
        while true {
            guard let header = RecordHeader(bytes, at: offset) else {
                if try endsHere(bytes) { return nil }
                throw NDEFError(.truncatedHeader, offset: bytes.count, record: recordCount)
            }
            // Most records are in one piece and of a format without special rules.
            let isPlain = pending == nil && header.flags & RecordHeader.chunk == 0 && header.isOfFreeFormat
            if !isPlain {
                try checkFormat(header)
            }
            if header.has(RecordHeader.messageBegin) != (offset == start) {
                try checkMessageBegin(header)
            }
            guard header.bodyCount <= UInt64(bytes.count - offset - header.count) else {
                throw NDEFError(.truncatedBody, offset: bytes.count, record: recordCount)
            }
            if let record = join(NDEFRecordReference(header: header, offset: offset), isPlain: isPlain) {
                if header.has(RecordHeader.messageEnd) {
                    isFinished = true
                    if offset < bytes.count, !options.allowsTrailingData {
                        throw NDEFError(.trailingData, offset: offset, record: recordCount)
                    }
                }
                return record
            }
        }
    }

    /// Takes a checked record or chunk. Returns the record when it is complete.
    @inlinable
    @inline(__always)
    mutating func join(_ part: NDEFRecordReference, isPlain: Bool) -> NDEFRecordReference? {
        position = part.endOffset
        guard !isPlain else {
            found += 1
            return part
        }
        var record = part
        if let first = pending {
            record = first.joined(with: part)
        }
        guard !part.isChunked else {
            pending = record
            return nil
        }
        pending = nil
        found += 1
        return record
    }

    /// Returns whether the input may end at the current offset.
    @usableFromInline
    mutating func endsHere(_ bytes: Span<UInt8>) throws(NDEFError) -> Bool {
        guard offset >= bytes.count else { return false }
        if offset == start {
            guard options.allowsEmptyInput else { throw NDEFError(.emptyInput, offset: offset) }
        } else {
            guard options.allowsMissingMessageEnd, pending == nil else {
                throw NDEFError(.missingMessageEnd, offset: offset, record: recordCount)
            }
        }
        isFinished = true
        return true
    }

    @usableFromInline
    func checkMessageBegin(_ header: RecordHeader) throws(NDEFError) {
        if offset != start {
            throw NDEFError(.unexpectedMessageBegin, offset: offset, record: recordCount)
        }
        if !options.allowsMissingMessageBegin {
            throw NDEFError(.missingMessageBegin, offset: offset, record: recordCount)
        }
    }

    /// The rules for chunks and for formats that restrict the other fields. NFC Forum NDEF 1.0, 2.3.3 and 3.2.6.
    @usableFromInline
    func checkFormat(_ header: RecordHeader) throws(NDEFError) {
        if let code = brokenRule(header) {
            throw NDEFError(code, offset: offset, record: recordCount)
        }
    }

    private func brokenRule(_ header: RecordHeader) -> NDEFError.Code? {
        if header.has(RecordHeader.messageBegin), offset != start { return .unexpectedMessageBegin }
        let format = TypeNameFormat(header: header.flags)
        let startsChunks = header.has(RecordHeader.chunk)
        if startsChunks, header.has(RecordHeader.messageEnd) { return .chunkWithMessageEnd }
        if format == .empty, header.bodyCount != 0 { return .emptyRecordNotEmpty }
        if pending != nil {
            guard format == .unchanged else { return .chunkInterrupted }
            if header.has(RecordHeader.identifierLength) { return .chunkWithIdentifier }
            return header.typeCount == 0 ? nil : .typeNotAllowed
        }
        switch format {
        case .empty:
            return startsChunks ? .chunkWithoutType : nil
        case .unknown, .reserved:
            return header.typeCount == 0 || options.allowsTypeOnUnknown ? nil : .typeNotAllowed
        case .unchanged:
            return header.typeCount == 0 ? .unexpectedUnchanged : .typeNotAllowed
        default:
            return startsChunks && header.typeCount == 0 ? .chunkWithoutType : nil
        }
    }
}
