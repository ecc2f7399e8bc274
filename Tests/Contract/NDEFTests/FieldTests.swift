// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Each field of a record that may be missing, alone and with all others, and the first and the last character that text may
/// have.
@Suite struct `Fields of records` {
    private func wellKnown(_ type: String, _ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array(type.utf8), payload: payload)
    }

    // MARK: Networks

    @Test func `A network keeps whichever of its fields it has`() throws {
        for present in 0..<16 {
            let credential = WiFiCredential(
                ssid: "a",
                key: "b",
                authentication: present & 1 != 0 ? 0x0102 : nil,
                encryption: present & 2 != 0 ? 0x0304 : nil,
                networkIndex: present & 4 != 0 ? 5 : nil,
                macAddress: present & 8 != 0 ? [1, 2, 3, 4, 5, 6] : nil
            )
            let record = try WiFiRecord(credential).makeRecord(identifier: [7])
            #expect(record.identifier == [7])
            let found = try #require(try WiFiRecord(record).credentials.first)
            #expect(found == credential, "\(present)")
            #expect(found.authentication == credential.authentication && found.encryption == credential.encryption)
            #expect(found.networkIndex == credential.networkIndex && found.macAddress == credential.macAddress)
            // The address of the device comes last.
            #expect(record.payload.suffix(10) == [0x10, 0x20, 0, 6, 1, 2, 3, 4, 5, 6] || present & 8 == 0)
        }
    }

    /// The credential of a network with a name and one other attribute.
    private func credential(_ attribute: UInt8, _ value: [UInt8]) throws -> WiFiCredential {
        let inner: [UInt8] = [0x10, attribute, 0, UInt8(value.count)] + value + [0x10, 0x45, 0, 1, 0x61]
        let payload = [0x10, 0x0E, 0, UInt8(inner.count)] + inner
        let record = NDEFRecord.media(type: WiFiRecord.mediaType, payload: payload)
        return try #require(try WiFiRecord(record).credentials.first)
    }

    @Test func `Numbers of a network have two bytes, and others are left out`() throws {
        for (value, number): ([UInt8], UInt16?) in [([], nil), ([1], nil), ([1, 2], 0x0102), ([1, 2, 3], nil)] {
            #expect(try credential(0x03, value).authentication == number)
            #expect(try credential(0x0F, value).encryption == number)
        }
    }

    @Test func `The index of a network has one byte, and another is left out`() throws {
        for (value, index): ([UInt8], UInt8?) in [([], nil), ([5], 5), ([5, 6], nil)] {
            #expect(try credential(0x26, value).networkIndex == index)
        }
    }

    // MARK: URIs

    @Test func `A URI has no control characters, and may have a space`() throws {
        for (byte, isTaken): (UInt8, Bool) in [(0x00, false), (0x1F, false), (0x20, true), (0x7E, true)] {
            let text = "a" + String(decoding: [byte], as: UTF8.self) + "b"
            for code: UInt8 in [0, 4] {
                let record = wellKnown("U", [code, 0x61, byte, 0x62])
                let prefix = URIPrefix.text(for: code)
                if isTaken {
                    #expect(try URIRecord(record).uri == prefix + text)
                    #expect(try URIRecord(prefix + text).makeRecord(identifier: []) == record)
                } else {
                    #expect(throws: RecordError(.controlCharacter)) { try URIRecord(record) }
                    #expect(throws: RecordError(.controlCharacter)) {
                        try URIRecord(prefix + text).makeRecord(identifier: [])
                    }
                }
            }
        }
    }

    @Test func `The longest beginning that fits is abbreviated, and the codes beyond the table are none`() throws {
        for (uri, code): (String, UInt8) in [
            ("http://www.a", 1), ("http://ww.a", 3), ("https://www.", 2), ("urn:a", 19), ("urn:epc:a", 34),
            ("urn:epc:id:a", 30), ("urn:nfc:a", 35), ("ftp://ftp.a", 8), ("ftp://a", 13), ("HTTP://a", 0), ("", 0),
            ("ftp://anonymous:anonymous@a", 7),
        ] {
            #expect(URIPrefix.longestCode(for: uri) == code, "\(uri)")
        }
        #expect(try URIRecord(wellKnown("U", [35, 0x61])).uri == "urn:nfc:a")
        for code: UInt8 in [36, 255] {
            let record = try URIRecord(wellKnown("U", [code, 0x61]))
            #expect(record.uri == "a" && record.hasReservedPrefix)
        }
        #expect(try !URIRecord(wellKnown("U", [35])).hasReservedPrefix)
        #expect(throws: RecordError(.emptyPayload)) { try URIRecord(wellKnown("U", [])) }
    }
}
