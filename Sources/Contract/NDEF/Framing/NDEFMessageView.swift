// SPDX-License-Identifier: Apache-2.0

/// A checked message whose records refer to its octets. Makes no allocation, and no copy of what it is given.
///
/// ```swift
/// let message = try NDEFMessageView(bytes)
/// for record in message where message.bytes[record.type].elementsEqual("U".utf8) { … }
/// ```
@frozen public struct NDEFMessageView: Sequence, Sendable {
    /// The octets, as they were given.
    public let bytes: [UInt8]
    /// How many records there are.
    public let count: Int
    /// The offset after the message's last octet.
    public let endOffset: Int
    @usableFromInline let options: NDEFDecodingOptions
    @usableFromInline let isPlain: Bool

    /// Checks a message.
    ///
    /// - Parameters:
    ///   - bytes: the message's octets.
    ///   - options: the faults to overlook.
    /// - Throws: ``NDEFError`` with any code for reading.
    @inlinable
    @inline(__always)
    public init(_ bytes: [UInt8], options: NDEFDecodingOptions = .strict) throws(NDEFError) {
        self.bytes = bytes
        self.options = options
        let span = bytes.span
        if let count = PlainMessage.recordCount(span, from: 0) {
            self.count = count
            endOffset = bytes.count
            isPlain = true
            return
        }
        (count, endOffset) = try Self.check(span, options: options)
        isPlain = false
    }

    /// Checks a message by every rule.
    @usableFromInline
    static func check(_ bytes: Span<UInt8>, options: NDEFDecodingOptions) throws(NDEFError) -> (Int, Int) {
        var scanner = NDEFRecordScanner(options: options)
        while try scanner.next(in: bytes) != nil {}
        return (scanner.recordCount, scanner.offset)
    }

    /// The number of records, exactly.
    @inlinable public var underestimatedCount: Int { count }

    /// The payload of a record, with its chunks joined.
    ///
    /// - Parameter record: a record of this message.
    /// - Returns: a copy of the octets.
    public func payload(of record: NDEFRecordReference) -> [UInt8] {
        NDEFRecord(record, of: bytes).payload
    }

    @inlinable
    @inline(__always)
    public consuming func makeIterator() -> Iterator { Iterator(self) }

    /// Gives the records of a view in order.
    @frozen public struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let bytes: [UInt8]
        @usableFromInline var offset: Int
        /// Finds the records of messages that aren't plain.
        @usableFromInline var scanner: NDEFRecordScanner?

        @inlinable
        @inline(__always)
        init(_ view: consuming NDEFMessageView) {
            scanner = view.isPlain ? nil : NDEFRecordScanner(options: view.options)
            offset = 0
            bytes = view.bytes
        }

        @inlinable
        @inline(__always)
        public mutating func next() -> NDEFRecordReference? {
            guard scanner == nil else { return scan() }
            let record = PlainMessage.record(bytes.span, at: offset)
            if let record { offset = record.endOffset }
            return record
        }

        @usableFromInline
        mutating func scan() -> NDEFRecordReference? {
            guard var scanner else { return nil }
            defer { self.scanner = scanner }
            // The message was checked as a whole, so nothing is thrown.
            do {
                return try scanner.next(in: bytes.span)
            } catch {
                return nil
            }
        }
    }
}
