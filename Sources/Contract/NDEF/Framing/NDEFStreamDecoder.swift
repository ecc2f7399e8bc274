// SPDX-License-Identifier: Apache-2.0

/// Reads a message that arrives in pieces, such as blocks of a tag. Every record comes out with the piece that ends it.
///
/// The cost is linear in the size, whatever the pieces are.
public struct NDEFStreamDecoder: Sendable {
    private var bytes: [UInt8] = []
    private var scanner: NDEFRecordScanner

    /// Creates a decoder.
    ///
    /// - Parameter options: the faults to overlook.
    public init(options: NDEFDecodingOptions = .strict) {
        scanner = NDEFRecordScanner(options: options)
    }

    /// Whether the record with the Message End flag has come: what follows on a tag needn't be read.
    public var isAtEnd: Bool { scanner.isAtEnd }

    /// Takes the next piece.
    ///
    /// - Parameter piece: octets of the message, as many as there are.
    /// - Returns: the records that are now whole, in order.
    /// - Throws: ``NDEFError`` with any code that doesn't wait for more octets.
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

    /// Says that no more octets will come.
    ///
    /// - Throws: ``NDEFError`` with `emptyInput`, `truncatedHeader`, `truncatedBody` or `missingMessageEnd` when the
    ///   message isn't whole.
    public mutating func finish() throws(NDEFError) {
        var scanner = scanner
        _ = try scanner.next(in: bytes.span)
    }

    private static func waitsForMore(_ error: NDEFError) -> Bool {
        error.code == .truncatedHeader || error.code == .truncatedBody || error.code == .missingMessageEnd
    }
}
