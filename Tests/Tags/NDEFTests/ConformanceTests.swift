// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// The conformance vectors: bytes, the records in them or the error, and what the records say.
struct ConformanceTests {
    @Test func `Conformance vectors: the file has all of them`() { #expect(Vector.all.count >= 190) }

    @Test func `Conformance vectors: each message is decoded to its records or refused with its code`() {
        for vector in Vector.all {
            let bytes = vector.bytes
            do {
                let message = try NDEFMessage(decoding: bytes)
                guard !vector.contested || vector.ok else { continue }
                #expect(vector.ok, "\(vector.id)")
                #expect(message.records == vector.records.map(\.record), "\(vector.id)")
                #expect(message.records.map(\.typeNameFormat.rawValue) == vector.records.map(\.tnf), "\(vector.id)")
                #expect(message.records.map { Hex.text($0.payload) } == vector.records.map(\.payload_hex))
            } catch {
                #expect(!vector.ok || vector.contested, "\(vector.id)")
                #expect(error.offset <= bytes.count, "\(vector.id)")
                guard vector.group == "error" || vector.contested else { continue }
                #expect(error.code.description == vector.error, "\(vector.id)")
            }
        }
    }

    @Test(arguments: Vector.all.filter { $0.ok && !$0.rtd_contested })
    func `Conformance vectors: each record's payload is decoded to the listed content or error`(vector: Vector) throws {
        let message = try NDEFMessage(decoding: vector.bytes)
        for (record, expected) in zip(message.records, vector.records) {
            #expect(record.decodedJSON == expected.decoded)
        }
    }

    @Test func `Conformance vectors: a canonical message is encoded to the same bytes`() throws {
        for vector in Vector.all where vector.ok {
            let message = NDEFMessage(vector.records.map(\.record))
            let encoded = try message.encoded()
            #expect(encoded.count == message.encodedLength, "\(vector.id)")
            #expect((encoded == vector.bytes) == vector.canonical, "\(vector.id)")
            #expect(try NDEFMessage(decoding: encoded) == message, "\(vector.id)")
        }
    }

    @Test func `Conformance vectors: a URI or text is built to the vector's bytes`() throws {
        let inputs = Vector.all.filter { $0.encode_input != nil }
        #expect(!inputs.isEmpty)
        for vector in inputs {
            guard case .object(let input) = vector.encode_input else {
                Issue.record("\(vector.id) has no object to build from")
                continue
            }
            let record: NDEFRecord
            switch (input["kind"], input["uri"], input["text"], input["language"]) {
            case (.string("uri"), .string(let uri), _, _): record = try .uri(uri)
            case (.string("text"), _, .string(let text), .string(let language)):
                record = try .text(text, language: language)
            default:
                Issue.record("\(vector.id) has nothing to build: \(input)")
                continue
            }
            #expect(try NDEFMessage([record]).encoded() == vector.bytes, "\(vector.id)")
        }
    }
}
