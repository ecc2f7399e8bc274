// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

@Suite struct `Conformance vectors` {
    @Test func `All of them are there`() {
        #expect(Vector.all.count >= 190)
    }

    @Test(arguments: Vector.all)
    func `A message is read as it should be, or refused by the right name`(vector: Vector) {
        let bytes = vector.bytes
        do {
            let message = try NDEFMessage(decoding: bytes)
            guard !vector.contested || vector.ok else { return }
            #expect(vector.ok)
            #expect(message.records == vector.records.map { NDEFRecord($0) })
            #expect(message.records.map(\.typeNameFormat.rawValue) == vector.records.map(\.tnf))
        } catch {
            #expect(!vector.ok || vector.contested)
            #expect(error.offset <= bytes.count)
            if vector.group == "error" || vector.contested {
                #expect(error.code.description == vector.error)
            }
        }
    }

    @Test(arguments: Vector.all.filter { $0.ok && !$0.rtd_contested })
    func `A payload says what it should, or carries the right error`(vector: Vector) throws {
        let message = try NDEFMessage(decoding: vector.bytes)
        for (record, expected) in zip(message.records, vector.records) {
            #expect(record.decodedJSON == expected.decoded)
        }
    }

    @Test(arguments: Vector.all.filter(\.ok))
    func `A canonical message is encoded to the same bytes`(vector: Vector) throws {
        let message = NDEFMessage(vector.records.map { NDEFRecord($0) })
        let encoded = try message.encoded()
        #expect(encoded.count == message.encodedLength)
        #expect((encoded == vector.bytes) == vector.canonical)
        #expect(try NDEFMessage(decoding: encoded) == message)
    }

    @Test(arguments: Vector.all.filter { $0.encode_input != nil })
    func `Building a URI or a text gives the bytes`(vector: Vector) throws {
        guard case .object(let input) = vector.encode_input else {
            Issue.record("No object to build from")
            return
        }
        let record: NDEFRecord
        switch (input["kind"], input["uri"], input["text"], input["language"]) {
        case ("uri", .string(let uri), _, _): record = try .uri(uri)
        case ("text", _, .string(let text), .string(let language)): record = try .text(text, language: language)
        default:
            Issue.record("Nothing to build: \(input)")
            return
        }
        #expect(try NDEFMessage([record]).encoded() == vector.bytes)
    }

    @Test(arguments: Vector.all.filter(\.ok))
    func `Records that refer to the bytes are the same records`(vector: Vector) throws {
        let bytes = vector.bytes
        let view = try NDEFMessageView(bytes)
        #expect(view.count == vector.records.count)
        #expect(view.map { NDEFRecord($0, of: bytes) } == vector.records.map { NDEFRecord($0) })
        #expect(view.map { Hex.text(view.payload(of: $0)) } == vector.records.map(\.payload_hex))
    }

    @Test func `The payload of a record is in one range, or in one for each of its chunks`() throws {
        let message = NDEFMessage([NDEFRecord(.media, type: [0x61], payload: [1, 2, 3])])
        let (whole, chunked) = (try message.encoded(), try message.encoded(chunkSize: 2))
        for (bytes, ranges) in [(whole, [4..<7]), (chunked, [4..<6, 9..<10])] {
            let found = try NDEFMessageView(bytes).map { $0.payloadRanges(in: bytes.span) }
            #expect(found == [ranges])
        }
    }
}
