// SPDX-License-Identifier: Apache-2.0

/// Reads a message that arrives in pieces, such as the blocks of a tag. Each record is returned with the piece that
/// completes it.
///
/// The work grows linearly with the message's size, no matter how it is cut into pieces.
public struct NDEFStreamDecoder: Sendable {
    private var bytes: [UInt8] = []
    private var scanner: NDEFRecordScanner

    /// Creates a decoder.
    ///
    /// - Parameter options: the errors to accept.
    public init(options: NDEFDecodingOptions = .strict) {
        scanner = NDEFRecordScanner(options: options)
    }

    /// Whether the record with the Message End flag has arrived. Then nothing more needs to be read from the tag.
    public var isAtEnd: Bool { scanner.isAtEnd }

    /// Takes the next piece.
    ///
    /// - Parameter piece: the next bytes of the message; any number of them.
    /// - Returns: the records that this piece completed, in order.
    /// - Throws: ``NDEFError`` with any of the codes for reading, except those that only mean that more bytes are
    ///   needed. The message is then to be refused as a whole: no record of this piece is returned.
    public mutating func append(_ piece: some Sequence<UInt8>) throws(NDEFError) -> [NDEFRecord] {
        let before = bytes.count
        bytes.append(contentsOf: piece)
        if scanner.isAtEnd {
            if bytes.count > before, !scanner.options.allowsTrailingData {
                throw NDEFError(.trailingData, offset: before, record: scanner.recordCount)
            }
            return []
        }
        var found: [NDEFRecordReference] = []
        var scanner = scanner
        defer { self.scanner = scanner }
        while !scanner.isAtEnd, scanner.offset < bytes.count {
            do {
                guard let record = try scanner.next(in: bytes.span) else { break }
                found.append(record)
            } catch {
                guard Self.waitsForMore(error) else { throw error }
                break
            }
        }
        return found.map { NDEFRecord(copying: $0, of: bytes) }
    }

    /// Ends the input.
    ///
    /// - Throws: ``NDEFError`` with `emptyInput`, `truncatedHeader`, `truncatedBody` or `missingMessageEnd` when the
    ///   message isn't complete.
    public mutating func finish() throws(NDEFError) {
        var scanner = scanner
        _ = try scanner.next(in: bytes.span)
    }

    private static func waitsForMore(_ error: NDEFError) -> Bool {
        error.code == .truncatedHeader || error.code == .truncatedBody || error.code == .missingMessageEnd
    }
}
