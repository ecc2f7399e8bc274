// SPDX-License-Identifier: Apache-2.0

/// A text in one language. NFC Forum Text RTD 1.0.
///
/// The specification doesn't allow an empty language code, but some tags contain one. It is accepted when reading and
/// rejected when writing.
public struct TextRecord: PayloadRecord {
    static let kind = RecordKind.text

    /// How the text is encoded on the tag.
    public enum Encoding: Sendable, Hashable, CaseIterable {
        case utf8
        /// UTF-16, big endian, without a byte order mark.
        case utf16
        /// UTF-16, big endian, after a byte order mark.
        case utf16BigEndianMark
        /// UTF-16, little endian, after a byte order mark.
        case utf16LittleEndianMark
    }

    /// The text, without its byte order mark.
    public var text: String
    /// The language, an IANA language code (BCP 47).
    public var language: String
    /// How the text is encoded on the tag.
    public var encoding: Encoding

    /// Creates a text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - language: the text's language, 1 to 63 ASCII characters.
    ///   - encoding: how the text is encoded on the tag.
    public init(_ text: String, language: String, encoding: Encoding = .utf8) {
        self.text = text
        self.language = language
        self.encoding = encoding
    }

    init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard let status = payload.nextByte() else { throw NDEFError(.emptyPayload) }
        // Bit 6 is reserved and ignored.
        guard let name = payload.part(Int(status & 0x3F)) else { throw NDEFError(.languageOverrun) }
        language = try name.string()
        guard language.utf8.allSatisfy({ $0 < 0x80 }) else { throw NDEFError(.badEncoding) }
        if status & 0x80 == 0 {
            encoding = .utf8
            text = try payload.string()
        } else {
            (text, encoding) = try UTF16Text.decode(payload)
        }
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        guard !language.isEmpty, language.utf8.allSatisfy({ $0 < 0x80 }) else { throw NDEFError(.badEncoding) }
        guard language.utf8.count <= 0x3F else { throw NDEFError(.valueTooLong) }
        var payload = [UInt8(language.utf8.count) | (encoding == .utf8 ? 0 : 0x80)]
        payload.append(contentsOf: language.utf8)
        if encoding == .utf8 {
            payload.append(contentsOf: text.utf8)
        } else {
            UTF16Text.encode(text, encoding, into: &payload)
        }
        return .wellKnown("T", identifier: identifier, payload: payload)
    }
}

/// UTF-16 in text records: big endian, unless a byte order mark specifies otherwise (RFC 2781).
enum UTF16Text {
    static func decode(_ payload: PayloadReader) throws(NDEFError) -> (String, TextRecord.Encoding) {
        guard payload.count.isMultiple(of: 2) else { throw NDEFError(.badEncoding) }
        var payload = payload
        var units: [UInt16] = []
        while let unit = payload.integer16() { units.append(unit) }
        let encoding: TextRecord.Encoding =
            switch units.first {
            case 0xFEFF: .utf16BigEndianMark
            case 0xFFFE: .utf16LittleEndianMark
            default: .utf16
            }
        if encoding != .utf16 { units.removeFirst() }
        if encoding == .utf16LittleEndianMark { units = units.map(\.byteSwapped) }
        guard let text = String(validating: units, as: UTF16.self) else { throw NDEFError(.badEncoding) }
        return (text, encoding)
    }

    static func encode(_ text: String, _ encoding: TextRecord.Encoding, into payload: inout [UInt8]) {
        let isLittleEndian = encoding == .utf16LittleEndianMark
        // A decoder would mistake a leading U+FEFF of the text for the mark and drop it, so a mark is written first.
        let needsMark = encoding == .utf16 && (text.utf16.first == 0xFEFF || text.utf16.first == 0xFFFE)
        let mark: [UInt16] = encoding == .utf16 && !needsMark ? [] : [0xFEFF]
        for unit in mark + Array(text.utf16) {
            let swapped = isLittleEndian ? unit.byteSwapped : unit
            payload.append(UInt8(truncatingIfNeeded: swapped >> 8))
            payload.append(UInt8(truncatingIfNeeded: swapped))
        }
    }
}
