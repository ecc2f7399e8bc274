// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Text records (NFC Forum Text RTD 1.0) and URI records (NFC Forum URI RTD 1.0).
struct TextAndURITests {
    // MARK: Texts

    /// The first and the last character of planes with an even and an odd number, in UTF-16.
    private static let planes: [(UInt32, [UInt8])] = [
        (0x1_0000, [0xD8, 0x00, 0xDC, 0x00]), (0x1_FFFF, [0xD8, 0x3F, 0xDF, 0xFF]),
        (0x2_0000, [0xD8, 0x40, 0xDC, 0x00]), (0x2_0BB7, [0xD8, 0x42, 0xDF, 0xB7]),
        (0x3_0000, [0xD8, 0x80, 0xDC, 0x00]), (0xF_FFFF, [0xDB, 0xBF, 0xDF, 0xFF]),
        (0x10_0000, [0xDB, 0xC0, 0xDC, 0x00]), (0x10_FFFF, [0xDB, 0xFF, 0xDF, 0xFF]),
    ]

    @Test func `Text record: a character of every plane is read and written in both byte orders`() throws {
        for (character, units) in Self.planes {
            let wanted = "a" + String(try #require(Unicode.Scalar(character))) + "b"
            let big: [UInt8] = [0x00, 0x61] + units + [0x00, 0x62]
            var little = big
            for place in stride(from: 0, to: big.count, by: 2) { little.swapAt(place, place + 1) }
            let forms: [(TextRecord.Encoding, [UInt8])] = [
                (.utf16, big), (.utf16BigEndianMark, [0xFE, 0xFF] + big),
                (.utf16LittleEndianMark, [0xFF, 0xFE] + little),
            ]
            for (encoding, bytes) in forms {
                let payload = [0x82, 0x65, 0x6E] + bytes
                let read = try TextRecord(wellKnown("T", payload))
                #expect(read.text == wanted && read.encoding == encoding)
                #expect(try TextRecord(wanted, language: "en", encoding: encoding).makeRecord().payload == payload)
            }
        }
    }

    @Test(arguments: ["dc00", "dc00d840", "d840d840", "d840", "00"])
    func `Text record: half a surrogate pair or half a unit throws badEncoding`(units: String) {
        for before in ["", "0061", "feff"] {
            let payload = Hex.bytes("82656e" + before + units)
            #expect(throws: NDEFError(.badEncoding)) { try TextRecord(wellKnown("T", payload)) }
        }
    }

    @Test func `Text record: the language code has 1 to 63 ASCII characters, and may be missing when read`() throws {
        for count in [1, 2, 15, 16, 31, 32, 62, 63] {
            for encoding: TextRecord.Encoding in [.utf8, .utf16] {
                let written = TextRecord("A text", language: String(repeating: "x", count: count), encoding: encoding)
                let record = try written.makeRecord()
                #expect(record.payload.first == UInt8(count) | (encoding == .utf8 ? 0 : 0x80))
                #expect(try TextRecord(record) == written)
            }
        }
        let refused: [(String, NDEFError.Code)] = [
            ("", .badEncoding), ("dé", .badEncoding), (String(repeating: "x", count: 64), .valueTooLong),
        ]
        for (language, code) in refused {
            #expect(throws: NDEFError(code)) { try NDEFRecord.text("a", language: language) }
        }
        let text = try TextRecord(wellKnown("T", [0, 0x78]))
        #expect(text.text == "x" && text.language == "")
    }

    // MARK: URIs

    @Test func `URI record: the longest prefix in the same case is shortened; a reserved prefix code is read as none`()
        throws
    {
        let codes: [(String, UInt8)] = [
            ("http://www.a", 1), ("http://ww.a", 3), ("https://www.", 2), ("urn:a", 19), ("urn:epc:a", 34),
            ("urn:epc:id:a", 30), ("urn:nfc:a", 35), ("ftp://ftp.a", 8), ("ftp://a", 13), ("HTTP://a", 0), ("", 0),
            ("ftp://anonymous:anonymous@a", 7),
        ]
        for (uri, code) in codes {
            #expect(URIPrefix.longestCode(for: uri) == code, "\(uri)")
            #expect(try URIRecord(uri).makeRecord().payload.first == code, "\(uri)")
        }
        #expect(URIPrefix.all.count == 36)
        #expect(try URIRecord(wellKnown("U", [35, 0x61])).uri == "urn:nfc:a")
        for code: UInt8 in [36, 255] {
            let record = try URIRecord(wellKnown("U", [code, 0x61]))
            #expect(record.uri == "a" && record.hasReservedPrefix)
        }
        #expect(try !URIRecord(wellKnown("U", [35])).hasReservedPrefix)
    }

    @Test func `URI record: a control character is refused when read and written, a space is not`() throws {
        for (byte, isTaken): (UInt8, Bool) in [(0x00, false), (0x1F, false), (0x20, true), (0x7E, true)] {
            for code: UInt8 in [0, 4] {
                let record = wellKnown("U", [code, 0x61, byte, 0x62])
                let uri = URIPrefix.text(for: code) + "a" + String(decoding: [byte], as: UTF8.self) + "b"
                if isTaken {
                    #expect(try URIRecord(record).uri == uri)
                    #expect(try URIRecord(uri).makeRecord() == record)
                } else {
                    #expect(throws: NDEFError(.controlCharacter)) { try URIRecord(record) }
                    #expect(throws: NDEFError(.controlCharacter)) { try URIRecord(uri).makeRecord() }
                }
            }
        }
    }
}
