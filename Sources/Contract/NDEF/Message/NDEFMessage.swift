// SPDX-License-Identifier: Apache-2.0

/// A message: records in order. A value of its own.
@frozen public struct NDEFMessage: Sendable, Hashable {
    /// The records.
    public var records: [NDEFRecord]

    /// Creates a message.
    ///
    /// - Parameter records: its records; one at least, to be encoded.
    @inlinable
    public init(_ records: [NDEFRecord]) {
        self.records = records
    }

    /// The shortest message, one record of format `empty`: `D0 00 00`.
    public static let empty = NDEFMessage([NDEFRecord(.empty)])

    /// Reads a message. Its records share `bytes`; nothing is allocated but the array of records.
    ///
    /// - Parameters:
    ///   - bytes: the message's octets.
    ///   - options: the faults to overlook.
    /// - Throws: ``NDEFError`` with any code for reading.
    @inlinable
    public init(decoding bytes: [UInt8], options: NDEFDecodingOptions = .strict) throws(NDEFError) {
        try self.init(decoding: bytes, in: 0..<bytes.count, options: options)
    }

    /// Reads a message that is a part of other octets, such as the payload of a record.
    ///
    /// - Parameters:
    ///   - bytes: octets that hold the message; shared by the records.
    ///   - range: where the message is. Offsets in errors count from its start.
    ///   - options: the faults to overlook.
    /// - Throws: ``NDEFError`` with any code for reading.
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

    /// Reads a message by every rule. The first pass checks and counts, so that the second one allocates once.
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
