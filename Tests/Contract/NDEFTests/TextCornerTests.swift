// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Texts of rare characters, with a mark of their own, and in languages with long names.
@Suite struct `Corners of texts` {
    private func text(_ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array("T".utf8), payload: payload)
    }

    /// The first and the last character of planes that have an even and an odd number, in UTF-16.
    private static let planes: [(UInt32, [UInt8])] = [
        (0x1_0000, [0xD8, 0x00, 0xDC, 0x00]), (0x1_FFFF, [0xD8, 0x3F, 0xDF, 0xFF]),
        (0x2_0000, [0xD8, 0x40, 0xDC, 0x00]), (0x2_0BB7, [0xD8, 0x42, 0xDF, 0xB7]),
        (0x3_0000, [0xD8, 0x80, 0xDC, 0x00]), (0xF_FFFF, [0xDB, 0xBF, 0xDF, 0xFF]),
        (0x10_0000, [0xDB, 0xC0, 0xDC, 0x00]), (0x10_FFFF, [0xDB, 0xFF, 0xDF, 0xFF]),
    ]

    @Test(arguments: planes)
    func `A character of every plane is read and written, in either order of bytes`(
        character: UInt32,
        units: [UInt8]
    ) throws {
        let wanted = "a" + String(try #require(Unicode.Scalar(character))) + "b"
        let big: [UInt8] = [0x00, 0x61] + units + [0x00, 0x62]
        let little = stride(from: 0, to: big.count, by: 2).flatMap { [big[$0 + 1], big[$0]] }
        for (encoding, bytes): (TextRecord.Encoding, [UInt8]) in [
            (.utf16, big), (.utf16BigEndianMark, [0xFE, 0xFF] + big), (.utf16LittleEndianMark, [0xFF, 0xFE] + little),
        ] {
            let payload = [0x82, 0x65, 0x6E] + bytes
            let read = try TextRecord(text(payload))
            #expect(read.text == wanted && read.encoding == encoding)
            #expect(try TextRecord(wanted, language: "en", encoding: encoding).makeRecord().payload == payload)
        }
    }

    @Test(
        arguments: [
            [0xDC, 0x00], [0xDC, 0x00, 0xD8, 0x40], [0xD8, 0x40, 0xD8, 0x40], [0xD8, 0x40], [0x00],
        ] as [[UInt8]]
    )
    func `Half of a pair, or half of a unit, is no text`(units: [UInt8]) {
        for bytes: [UInt8] in [units, [0x00, 0x61] + units, [0xFE, 0xFF] + units] {
            #expect(throws: RecordError(.badEncoding)) { try TextRecord(text([0x82, 0x65, 0x6E] + bytes)) }
        }
    }

    @Test(arguments: ["\u{FEFF}a", "\u{FFFE}a", "\u{FEFF}", "a\u{FEFF}"], TextRecord.Encoding.allCases)
    func `A text that begins like a mark of byte order keeps its first character`(
        content: String,
        encoding: TextRecord.Encoding
    ) throws {
        let record = try TextRecord(content, language: "en", encoding: encoding).makeRecord()
        let read = try TextRecord(record)
        #expect(Array(read.text.unicodeScalars) == Array(content.unicodeScalars))
    }

    @Test func `A text without characters has none in any encoding, and its mark is no character`() throws {
        for encoding in TextRecord.Encoding.allCases {
            let record = try TextRecord("", language: "en", encoding: encoding).makeRecord()
            let read = try TextRecord(record)
            #expect(read.text == "" && read.encoding == encoding)
        }
    }

    @Test(arguments: [1, 2, 15, 16, 31, 32, 62, 63])
    func `The name of a language has up to 63 characters`(count: Int) throws {
        let language = String(repeating: "x", count: count)
        for encoding: TextRecord.Encoding in [.utf8, .utf16] {
            let written = TextRecord("A text", language: language, encoding: encoding)
            let record = try written.makeRecord()
            #expect(record.payload.first == UInt8(count) | (encoding == .utf8 ? 0 : 0x80))
            #expect(try TextRecord(record) == written)
        }
    }
}
