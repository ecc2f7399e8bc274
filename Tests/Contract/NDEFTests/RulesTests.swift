// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

@Suite struct `Rules of framing` {
    @Test(arguments: [
        ("", "empty-input", 0), ("99", "truncated-header", 1), ("d10100", "truncated-body", 3),
        ("1101045504782e79", "missing-mb", 0), ("9101045504782e79", "missing-me", 8),
        ("9101045504782e799101045504782e79", "unexpected-mb", 8), ("d1010155040000", "trailing-data", 5),
        ("d0010054", "empty-record-not-empty", 0), ("d0000154", "empty-record-not-empty", 0),
        ("d500", "truncated-header", 2), ("d501015478", "type-not-allowed", 0), ("d60000", "unexpected-unchanged", 0),
        ("9101015504560000", "unexpected-unchanged", 5), ("f20301612f6278", "chunk-with-me", 0),
        ("b20301612f6278760000", "chunk-with-me", 7), ("b20301612f62785e0001016979", "chunk-with-id", 7),
        ("b20301612f62785601016379", "type-not-allowed", 7), ("b200017856000179", "chunk-without-type", 0),
        ("b00000560000", "chunk-without-type", 0), ("b20301612f6278510101550478", "chunk-interrupted", 7),
        ("b20301612f6278500000", "chunk-interrupted", 7), ("b20301612f6278d60000", "unexpected-mb", 7),
    ])
    func `Every fault has its name and its place`(hex: String, name: String, offset: Int) throws {
        let error = try #require(throws: NDEFError.self) { try NDEFMessage(decoding: Hex.bytes(hex)) }
        #expect(error.code.description == name)
        #expect(error.offset == offset)
        #expect(!error.reason.isEmpty)
    }

    @Test func `Trailing data and no data are errors unless they are allowed`() throws {
        let bytes = Hex.bytes("d1010155040000")
        #expect(throws: NDEFError(.trailingData)) { try NDEFMessage(decoding: bytes) }
        let lenient = NDEFDecodingOptions(allowsTrailingData: true, allowsEmptyInput: true)
        #expect(try NDEFMessage(decoding: bytes, options: lenient).records.count == 1)
        #expect(try NDEFMessageView(bytes, options: lenient).endOffset == 5)
        #expect(try NDEFMessage(decoding: [], options: lenient).records.isEmpty)
    }

    @Test func `Each leniency overlooks its own fault and no other`() throws {
        let faults: [(String, WritableKeyPath<NDEFDecodingOptions, Bool>)] = [
            ("d1010155040000", \.allowsTrailingData), ("", \.allowsEmptyInput),
            ("5101015504", \.allowsMissingMessageBegin), ("9101015504", \.allowsMissingMessageEnd),
            ("d501015478", \.allowsTypeOnUnknown),
        ]
        for (index, (hex, _)) in faults.enumerated() {
            for (other, (_, leniency)) in faults.enumerated() {
                var options = NDEFDecodingOptions.strict
                options[keyPath: leniency] = true
                let message = try? NDEFMessage(decoding: Hex.bytes(hex), options: options)
                #expect((message != nil) == (index == other))
            }
        }
    }

    @Test func `A reserved format is kept, and read as unknown`() throws {
        let bytes = Hex.bytes("d70002abcd")
        let record = try #require(try NDEFMessage(decoding: bytes).records.first)
        #expect(record.typeNameFormat == .reserved)
        #expect(record.kind == .unknown)
        #expect(try record.content() == .unknown)
        #expect(try NDEFMessage([record]).encoded() == bytes)
    }

    @Test(arguments: ["d7010254abcd", "d6010155aa", "d5010155aa", "b50001015601015502"])
    func `Formats without a type do not have one, in whole records and in chunks`(hex: String) {
        #expect(throws: NDEFError(.typeNotAllowed)) { try NDEFMessage(decoding: Hex.bytes(hex)) }
    }

    @Test func `A lone later chunk without a type is unexpected`() {
        #expect(throws: NDEFError(.unexpectedUnchanged)) { try NDEFMessage(decoding: Hex.bytes("d60001aa")) }
    }

    @Test func `A reserved format is read and written in chunks as an unknown one is`() throws {
        let record = NDEFRecord(.reserved, payload: [1, 2, 3])
        let bytes = try NDEFMessage([record]).encoded(chunkSize: 2)
        #expect(bytes == Hex.bytes("b70002010256000103"))
        #expect(try NDEFMessage(decoding: bytes).records == [record])
    }

    @Test func `A handover error of the reserved reason is named, and one of the future is kept`() throws {
        func read(_ error: [UInt8]) throws(RecordError) -> HandoverRecord.Failure? {
            let inner: [UInt8] = [0xD1, 0x03, UInt8(error.count)] + Array("err".utf8) + error
            return try HandoverRecord(NDEFRecord(.wellKnown, type: Array("Hs".utf8), payload: [0x15] + inner)).failure
        }
        func write(_ failure: HandoverRecord.Failure) throws(RecordError) -> NDEFRecord {
            try HandoverRecord(.select, version: .init(1, 5), carriers: [], failure: failure).makeRecord(identifier: [])
        }
        #expect(throws: RecordError(.errorReserved)) { try read([0]) }
        #expect(throws: RecordError(.errorReserved)) { try read([0, 0x10]) }
        #expect(throws: RecordError(.errorReserved)) { try write(.init(reason: 0, data: [1])) }
        #expect(try read([4]) == .init(reason: 4, data: []))
        let future = HandoverRecord.Failure(reason: 0xFF, data: [1, 2])
        #expect(try HandoverRecord(write(future)).failure == future)
    }

    @Test func `What has no encoding is refused by name, with the index of the record`() {
        let long = [UInt8](repeating: 0x61, count: 256)
        let good = NDEFRecord(.empty)
        let cases: [(NDEFRecord, NDEFError.Code)] = [
            (NDEFRecord(.media, type: long), .typeTooLong),
            (NDEFRecord(.media, type: [0x61], identifier: long), .identifierTooLong),
            (NDEFRecord(.empty, payload: [1]), .emptyRecordNotEmpty),
            (NDEFRecord(.empty, identifier: [1]), .emptyRecordNotEmpty),
            (NDEFRecord(.unknown, type: [1]), .typeNotAllowed),
            (NDEFRecord(.reserved, type: [1]), .typeNotAllowed),
            (NDEFRecord(.unchanged, type: [1]), .typeNotAllowed),
            (NDEFRecord(.unchanged, payload: [1]), .unexpectedUnchanged),
        ]
        for (record, code) in cases {
            var buffer: [UInt8] = [9]
            let error = #expect(throws: NDEFError.self) { try NDEFMessage([good, record]).encode(into: &buffer) }
            #expect(error?.code == code)
            #expect(error?.record == 1)
            #expect(buffer == [9])
        }
        #expect(throws: NDEFError(.noRecords)) { try NDEFMessage([]).encoded() }
        #expect(throws: NDEFError(.invalidChunkSize)) { try NDEFMessage([good]).encoded(chunkSize: 0) }
    }

    @Test(arguments: [1, 2, 254, 255, 256, 257, 1000], [0, 1, 255, 256, 1000, 1024])
    func `A record in chunks is read as the record`(chunkSize: Int, count: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let message = NDEFMessage([
            .media(type: "a/b", payload: payload, identifier: [0x69]), NDEFRecord(.unknown, payload: payload),
            NDEFRecord(.wellKnown, payload: payload),
        ])
        let encoded = try message.encoded(chunkSize: chunkSize)
        #expect(encoded.count == message.encodedLength(chunkSize: chunkSize))
        #expect(try NDEFMessage(decoding: encoded) == message)
        let plain = try message.encoded()
        #expect(plain.count == message.encodedLength)
    }

    @Test func `Characters and language codes that are split between chunks are joined first`() throws {
        let text = try NDEFRecord.text("Привет", language: "ru-RU")
        for chunkSize in 1...15 {
            let bytes = try NDEFMessage([text]).encoded(chunkSize: chunkSize)
            let record = try #require(try NDEFMessage(decoding: bytes).records.first)
            #expect(try TextRecord(record).text == "Привет")
        }
    }
}
