// SPDX-License-Identifier: Apache-2.0

/// A message: a list of records. A value type.
@frozen public struct NDEFMessage: Sendable, Hashable {
    /// The records.
    public var records: [NDEFRecord]

    /// Creates a message.
    ///
    /// - Parameter records: the records. Encoding needs at least one.
    @inlinable
    public init(_ records: [NDEFRecord]) {
        self.records = records
    }

    /// The shortest message, one record of format `empty`: `D0 00 00`.
    public static let empty = NDEFMessage([NDEFRecord(.empty)])

    /// Reads a message. Its records share `bytes`; only the array of records is allocated.
    ///
    /// - Parameters:
    ///   - bytes: the message's bytes.
    ///   - options: the errors to accept.
    /// - Throws: ``NDEFError`` with any of the codes for reading.
    @inlinable
    public init(decoding bytes: [UInt8], options: NDEFDecodingOptions = .strict) throws(NDEFError) {
        try self.init(decoding: bytes, in: 0..<bytes.count, options: options)
    }

    /// Reads a message that is part of a larger array, such as the payload of a record.
    ///
    /// - Parameters:
    ///   - bytes: an array that contains the message. The records share it.
    ///   - range: the range of the message. Offsets in errors count from its start.
    ///   - options: the errors to accept.
    /// - Throws: ``NDEFError`` with any of the codes for reading.
    @inlinable
    public init(
        decoding bytes: [UInt8],
        in range: Range<Int>,
        options: NDEFDecodingOptions = .strict
    ) throws(NDEFError) {
        let span = bytes.span.extracting(0..<range.upperBound)
        if let count = PlainMessage.recordCount(span, from: range.lowerBound) {
            records = []
            records.reserveCapacity(count)
            var offset = range.lowerBound
            while let reference = PlainMessage.record(span, at: offset) {
                offset = reference.endOffset
                records.append(NDEFRecord(sharing: reference, of: bytes))
            }
        } else {
            records = try Self.scan(bytes, in: range, options: options)
        }
    }

    /// Reads a message against every rule. The first pass checks and counts, so that the second pass allocates only
    /// once.
    @usableFromInline
    static func scan(
        _ bytes: [UInt8],
        in range: Range<Int>,
        options: NDEFDecodingOptions
    ) throws(NDEFError) -> [NDEFRecord] {
        let span = bytes.span.extracting(0..<range.upperBound)
        var records: [NDEFRecord] = []
        var scanner = NDEFRecordScanner(at: range.lowerBound, options: options)
        do {
            while try scanner.next(in: span) != nil {}
            records.reserveCapacity(scanner.recordCount)
            scanner = NDEFRecordScanner(at: range.lowerBound, options: options)
            while let reference = try scanner.next(in: span) {
                records.append(NDEFRecord(reference, of: bytes))
            }
        } catch {
            throw NDEFError(error.code, offset: error.offset - range.lowerBound, record: error.record)
        }
        return records
    }
}
