// SPDX-License-Identifier: Apache-2.0

/// Reads fields from part of an array. Each read checks the remaining length first.
struct PayloadReader {
    let bytes: [UInt8]
    private(set) var position: Int
    let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    init(_ record: NDEFRecord) { self.init(record.storage, record.payloadRange) }

    var count: Int { end - position }
    var isAtEnd: Bool { position == end }
    var rest: Range<Int> { position..<end }
    var restBytes: [UInt8] { Array(bytes[rest]) }

    mutating func nextByte() -> UInt8? {
        guard position < end else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads an integer of two bytes, big endian.
    mutating func integer16() -> UInt16? {
        guard let range = take(2) else { return nil }
        return UInt16(bytes[range.lowerBound]) << 8 | UInt16(bytes[range.lowerBound + 1])
    }

    /// Reads an integer of four bytes, big endian.
    mutating func integer32() -> UInt32? {
        guard let high = integer16(), let low = integer16() else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    mutating func take(_ count: Int) -> Range<Int>? {
        guard count >= 0, count <= end - position else { return nil }
        defer { position += count }
        return position..<position + count
    }

    /// Reads bytes as a copy.
    mutating func nextBytes(_ count: Int) -> [UInt8]? { take(count).map { Array(bytes[$0]) } }

    /// Returns a reader for the next bytes.
    mutating func part(_ count: Int) -> PayloadReader? { take(count).map { PayloadReader(bytes, $0) } }

    /// Returns the remaining bytes as UTF-8 text.
    func string() throws(RecordError) -> String { try Self.string(bytes, rest) }

    static func string(_ bytes: [UInt8], _ range: Range<Int>) throws(RecordError) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes.span.extracting(range)))
        } catch {
            throw RecordError(.badEncoding)
        }
    }

    /// Returns the message in the remaining bytes.
    func message() throws(RecordError) -> NDEFMessage {
        do {
            return try NDEFMessage(decoding: bytes, in: rest)
        } catch {
            throw RecordError(.inner(error.code))
        }
    }
}

extension String {
    /// Creates the text of a name that should be ASCII: UTF-8 when it is valid, otherwise one character a byte (ISO
    /// 8859-1).
    package init(nameBytes bytes: ArraySlice<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            self = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }
}
