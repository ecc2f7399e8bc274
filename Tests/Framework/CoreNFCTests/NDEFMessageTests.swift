// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

@Suite struct `Messages and records` {
    @Test func `A message is parsed from its bytes and knows its length`() throws {
        let data = Data([0xD1, 0x01, 0x0C, 0x55, 0x04] + "example.com".utf8)
        let message = try #require(NFCNDEFMessage(data: data))
        #expect(message.records.count == 1)
        #expect(message.length == data.count)
        let record = message.records[0]
        #expect(record.typeNameFormat == .nfcWellKnown)
        #expect(record.type == Data("U".utf8))
        #expect(record.identifier.isEmpty)
        #expect(record.wellKnownTypeURIPayload() == URL(string: "https://example.com"))
        #expect(record.wellKnownTypeTextPayload() == (nil, nil))
    }

    @Test(arguments: [[], [0xD1], [0xD1, 1, 200, 0x55], [0xD0, 0, 0, 0]]) func `Bytes that are no message give nil`(
        bytes: [UInt8]
    ) {
        #expect(NFCNDEFMessage(data: Data(bytes)) == nil)
    }

    @Test func `A URI record abbreviates, and a text record names its language`() throws {
        let uri = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://www.example.com"))
        #expect(uri.payload == Data([2] + "example.com".utf8))
        let url = try #require(URL(string: "tel:+15551234"))
        #expect(NFCNDEFPayload.wellKnownTypeURIPayload(url: url)?.payload == Data([5] + "+15551234".utf8))
        #expect(NFCNDEFPayload.wellKnownTypeURIPayload(string: "") == nil)
        let text = try #require(
            NFCNDEFPayload.wellKnownTypeTextPayload(string: "Hi", locale: Locale(identifier: "en"))
        )
        #expect(text.payload == Data([2] + "enHi".utf8))
        #expect(text.wellKnownTypeTextPayload() == ("Hi", Locale(identifier: "en")))
    }

    @Test func `A text record's language has a hyphen before its region`() throws {
        let text = try #require(
            NFCNDEFPayload.wellKnownTypeTextPayload(string: "Hi", locale: Locale(identifier: "en_US"))
        )
        #expect(text.payload == Data([5] + "en-USHi".utf8))
    }

    @Test func `A record and a message print all that they hold`() {
        let record = NFCNDEFPayload(
            format: .nfcExternal,
            type: Data("a:b".utf8),
            identifier: Data([0x0A]),
            payload: Data([0xB0, 0x0C])
        )
        let text = "TNF=4, Payload Type=\"a:b\", Payload ID=0a, Payload=b00c"
        #expect(record.description == text)
        #expect(
            NFCNDEFMessage(records: [record, record]).description
                == "(\n    \"\(text)\",\n    \"\(text)\"\n)"
        )
    }

    @Test func `Each field of a record can be changed`() {
        let record = NFCNDEFPayload(format: .empty, type: Data(), identifier: Data(), payload: Data())
        record.typeNameFormat = .nfcExternal
        record.type = Data("a:b".utf8)
        record.identifier = Data([1])
        record.payload = Data([2, 3])
        #expect(record.typeNameFormat == .nfcExternal && record.type == Data("a:b".utf8))
        #expect(record.identifier == Data([1]) && record.payload == Data([2, 3]))
    }

    @Test(arguments: [(4, 2, true), (4, -1, true), (7, 0, false), (-1, 0, false), (260, 0, false)])
    func `An archive of a record that can't be is none`(format: Int, chunkSize: Int, isRecord: Bool) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(format, forKey: "typeNameFormat")
        archiver.encode(Data("a:b".utf8) as NSData, forKey: "type")
        archiver.encode(Data() as NSData, forKey: "identifier")
        archiver.encode(Data("12345".utf8) as NSData, forKey: "payload")
        archiver.encode(chunkSize, forKey: "chunkSize")
        archiver.finishEncoding()
        let record = NFCNDEFPayload(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
        #expect((record != nil) == isRecord)
        // A chunk size below 0 is none: the record is one piece. Otherwise there are three headers.
        let length = record.map { NFCNDEFMessage(records: [$0]).length }
        #expect(length == (isRecord ? (chunkSize > 0 ? 3 * 3 : 3) + 3 + 5 : nil))
    }

    @Test func `A record with a chunk size is written in chunks, and the length counts them`() throws {
        let record = NFCNDEFPayload(
            format: .media,
            type: Data("a/b".utf8),
            identifier: Data(),
            payload: Data("12345".utf8),
            chunkSize: 2
        )
        let message = NFCNDEFMessage(records: [record])
        // Three headers, the type and the payload.
        #expect(message.length == 3 * 3 + 3 + 5)
    }

    @Test(arguments: [0, -1, -2, Int.min]) func `A record without a chunk size is one piece`(chunkSize: Int) {
        let record = NFCNDEFPayload(
            format: .media,
            type: Data("a/b".utf8),
            identifier: Data(),
            payload: Data("12345".utf8),
            chunkSize: chunkSize
        )
        #expect(NFCNDEFMessage(records: [record]).length == 3 + 3 + 5)
    }

    @Test func `Messages survive secure coding`() throws {
        let message = NFCNDEFMessage(records: [
            NFCNDEFPayload(format: .nfcExternal, type: Data("a:b".utf8), identifier: Data([1]), payload: Data([2, 3])),
            NFCNDEFPayload(format: .empty, type: Data(), identifier: Data(), payload: Data()),
        ])
        let archive = try NSKeyedArchiver.archivedData(withRootObject: message, requiringSecureCoding: true)
        let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFMessage.self, from: archive))
        #expect(copy.records.map(\.typeNameFormat) == [.nfcExternal, .empty])
        #expect(copy.records.map(\.payload) == [Data([2, 3]), Data()])
    }

    @Test func `All fields of a record survive secure coding`() throws {
        let record = NFCNDEFPayload(
            format: .media,
            type: Data("a/b".utf8),
            identifier: Data([1]),
            payload: Data("12345".utf8),
            chunkSize: 2
        )
        let message = NFCNDEFMessage(records: [record])
        let archive = try NSKeyedArchiver.archivedData(withRootObject: message, requiringSecureCoding: true)
        let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFMessage.self, from: archive))
        let first = try #require(copy.records.first)
        #expect(first.type == record.type && first.identifier == record.identifier && first.payload == record.payload)
        #expect(copy.length == message.length)
    }

    @Test func `Records may be changed from several threads`() async {
        let message = NFCNDEFMessage(records: [])
        let record = NFCNDEFPayload(format: .empty, type: Data(), identifier: Data(), payload: Data())
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    record.payload = Data([UInt8(index)])
                    message.records.append(record)
                }
            }
        }
        #expect(record.payload.count == 1)
        #expect(!message.records.isEmpty)
    }
}
