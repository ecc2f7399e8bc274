// SPDX-License-Identifier: Apache-2.0

/// A checked message whose records refer to its bytes. It allocates nothing and doesn't copy the bytes.
///
/// ```swift
/// let message = try NDEFMessageView(bytes)
/// for record in message where message.bytes[record.type].elementsEqual("U".utf8) { … }
/// ```
@frozen public struct NDEFMessageView: Sequence, Sendable {
    /// The bytes that the view was created with.
    public let bytes: [UInt8]
    /// How many records there are.
    public let count: Int
    /// The offset after the last byte of the message.
    public let endOffset: Int
    @usableFromInline let options: NDEFDecodingOptions
    @usableFromInline let isPlain: Bool

    /// Checks a message.
    ///
    /// - Parameters:
    ///   - bytes: the message's bytes.
    ///   - options: the errors to accept.
    /// - Throws: ``NDEFError`` with any of the codes for reading.
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

    /// Checks a message against every rule, by the slow path.
    @usableFromInline
    static func check(_ bytes: Span<UInt8>, options: NDEFDecodingOptions) throws(NDEFError) -> (Int, Int) {
        var scanner = NDEFRecordScanner(options: options)
        while try scanner.next(in: bytes) != nil {}
        return (scanner.recordCount, scanner.offset)
    }

    /// The exact number of records.
    @inlinable public var underestimatedCount: Int { count }

    /// The payload of a record, with its chunks joined.
    ///
    /// - Parameter record: a record of this message.
    /// - Returns: a copy of the bytes.
    public func payload(of record: NDEFRecordReference) -> [UInt8] {
        NDEFRecord(record, of: bytes).payload
    }

    @inlinable
    @inline(__always)
    public consuming func makeIterator() -> Iterator { Iterator(self) }

    /// Iterates over the records of a view, in order.
    @frozen public struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let bytes: [UInt8]
        @usableFromInline var offset: Int
        /// Finds the records when the message isn't plain; otherwise nil.
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
            // The whole message was checked before, so this can't throw.
            do {
                return try scanner.next(in: bytes.span)
            } catch {
                return nil
            }
        }
    }
}
