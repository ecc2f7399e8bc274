// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

/// Messages and records as values of an app.
@Suite struct NDEFMessageTests {
    static func record(
        _ format: NFCTypeNameFormat = .media,
        _ type: String = "a/b",
        id: [UInt8] = [],
        _ payload: String = "12345",
        chunk: Int = 0
    ) -> NFCNDEFPayload {
        NFCNDEFPayload(
            format: format,
            type: Data(type.utf8),
            identifier: Data(id),
            payload: Data(payload.utf8),
            chunkSize: chunk
        )
    }

    @Test func `NFCNDEFMessage(data:): has the records and the length of the bytes; nil for invalid bytes`() throws {
        let data = Data([0xD1, 0x01, 0x0C, 0x55, 0x04] + "example.com".utf8)
        let message = try #require(NFCNDEFMessage(data: data))
        #expect(message.records.count == 1 && message.length == data.count)
        let record = message.records[0]
        #expect(record.typeNameFormat == .nfcWellKnown && record.type == Data("U".utf8) && record.identifier.isEmpty)
        #expect(record.wellKnownTypeURIPayload() == URL(string: "https://example.com"))
        #expect(record.wellKnownTypeTextPayload() == (nil, nil))
        for hex in ["", "d1", "d101c855", "d0000000"] {
            #expect(NFCNDEFMessage(data: Data(bytes(hex))) == nil, "\(hex)")
        }
    }

    @Test func `Well-known records: URI prefixes are abbreviated; text is UTF-16, its language code has a hyphen`()
        throws
    {
        for (link, payload) in [("https://www.example.com", "\u{2}example.com"), ("tel:+15551234", "\u{5}+15551234")] {
            let record = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: link))
            #expect(record.payload == Data(payload.utf8))
            let url = try #require(URL(string: link))
            #expect(NFCNDEFPayload.wellKnownTypeURIPayload(url: url)?.payload == Data(payload.utf8))
            #expect(record.wellKnownTypeURIPayload() == url)
        }
        #expect(NFCNDEFPayload.wellKnownTypeURIPayload(string: "") == nil)
        // A phone writes UTF-16 (Apple forum thread 123445, nfc_in_flutter#76).
        for (locale, start) in [("en", [0x82] + Array("en".utf8)), ("en_US", [0x85] + Array("en-US".utf8))] {
            let text = try #require(
                NFCNDEFPayload.wellKnownTypeTextPayload(string: "Hi", locale: Locale(identifier: locale))
            )
            let payload = Data(start + [0xFF, 0xFE, 0x48, 0, 0x69, 0])
            #expect(text.payload == payload && text.wellKnownTypeTextPayload().0 == "Hi")
            if locale == "en" { #expect(text.wellKnownTypeTextPayload().1 == Locale(identifier: "en")) }
        }
    }

    // The type and the payload have 8 bytes, and a header 3.
    @Test(arguments: [(2, 17), (5, 11), (0, 11), (-1, 11), (-2, 11), (Int.min, 11)])
    func `Chunk size: length counts a header for each chunk; sizes of 0 and less mean no chunks`(
        chunk: Int,
        length: Int
    ) {
        #expect(NFCNDEFMessage(records: [Self.record(chunk: chunk)]).length == length)
    }

    @Test func `Secure coding: keeps every field of each record; a record with an invalid type name format is nil`()
        throws
    {
        let records = [Self.record(id: [1], chunk: 2), Self.record(.nfcExternal, "a:b"), Self.record(.empty, "", "")]
        let message = NFCNDEFMessage(records: records)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: message, requiringSecureCoding: true)
        let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFMessage.self, from: archive))
        #expect(copy.records.map(\.description) == records.map(\.description) && copy.length == message.length)
        for (format, isRecord) in [(4, true), (7, false), (-1, false), (260, false)] {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            archiver.encode(format, forKey: "typeNameFormat")
            for (key, text) in [("type", "a:b"), ("identifier", ""), ("payload", "12345")] {
                archiver.encode(Data(text.utf8) as NSData, forKey: key)
            }
            archiver.encode(-1, forKey: "chunkSize")
            archiver.finishEncoding()
            let record = NFCNDEFPayload(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
            #expect((record != nil) == isRecord, "\(format)")
            // A negative chunk size is none.
            if let record { #expect(NFCNDEFMessage(records: [record]).length == 11) }
        }
    }

    // MARK: Activities

    @Test func `User activity: one from a tag has the tag's link and message; any other has one empty record`() throws {
        let activity = NSUserActivity(activityType: "com.example.read")
        #expect(activity.ndefMessagePayload.records.map(\.typeNameFormat) == [.empty] && activity.webpageURL == nil)
        activity.title = "Read"
        activity.webpageURL = URL(string: TestTag.link)
        #expect(activity.title == "Read" && activity.webpageURL?.absoluteString == TestTag.link)
        let url = try #require(URL(string: TestTag.link))
        let read = NSUserActivity(webpageURL: url, ndefMessagePayload: TestTag.message())
        #expect(read.activityType == NSUserActivityTypeBrowsingWeb && read.webpageURL == url)
        #expect(read.ndefMessagePayload.link == TestTag.link)
    }
}
