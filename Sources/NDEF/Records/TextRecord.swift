// SPDX-License-Identifier: Apache-2.0

/// A text in a language. NFC Forum Text RTD 1.0.
///
/// A language of no characters isn't allowed by the definition and is found on tags; it is read, and not written.
public struct TextRecord: TypedRecord {
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
    ///   - language: its language, 1 to 63 ASCII characters.
    ///   - encoding: how it is encoded on the tag.
    public init(_ text: String, language: String, encoding: Encoding = .utf8) {
        self.text = text
        self.language = language
        self.encoding = encoding
    }

    public init(_ record: NDEFRecord) throws(RecordError) {
        try record.require(.text)
        try self.init(PayloadReader(record))
    }

    init(_ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let status = payload.octet() else { throw RecordError(.emptyPayload) }
        // Bit 6 is reserved and not looked at.
        guard let name = payload.take(Int(status & 0x3F)) else { throw RecordError(.languageOverrun) }
        language = try PayloadReader.string(payload.bytes, name)
        guard language.utf8.allSatisfy({ $0 < 0x80 }) else { throw RecordError(.badEncoding) }
        if status & 0x80 == 0 {
            encoding = .utf8
            text = try payload.string()
        } else {
            (text, encoding) = try UTF16Text.decode(payload)
        }
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        guard !language.isEmpty, language.utf8.allSatisfy({ $0 < 0x80 }) else { throw RecordError(.badEncoding) }
        guard language.utf8.count <= 0x3F else { throw RecordError(.valueTooLong) }
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
