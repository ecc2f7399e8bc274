// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// The rules of messages, records and their chunks (NFC Forum NDEF 1.0, 2 and 3).
struct FramingTests {
    @Test func `NDEF decoder: each malformed message throws its code, with byte offset and record number`() throws {
        for row in try Vector.lines(of: "faults.txt") {
            let fields = row.split(separator: " ")
            let bytes = Hex.bytes(String(fields[0]))
            let error = try #require(throws: NDEFError.self, "\(row)") { try NDEFMessage(decoding: bytes) }
            #expect("\(error.code) \(error.offset) \(error.record)" == fields[1...].joined(separator: " "), "\(row)")
        }
    }

    @Test func `NDEF decoder: the offset of an error in a part of the bytes counts from the part's start`() {
        // The second record has a reserved format, and a type.
        let message = Hex.bytes("9101005557010055")
        let whole = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: message) }
        let part = #expect(throws: NDEFError.self) {
            try NDEFMessage(decoding: [9, 9, 9] + message + [9], in: 3..<3 + message.count)
        }
        #expect(part == whole && part?.offset == whole?.offset && whole?.offset == 4)
    }

    /// Bytes with one fault, and the option that allows it.
    private static var leniencies: [(String, WritableKeyPath<NDEFDecodingOptions, Bool>)] {
        [
            ("d1010155040000", \.allowsTrailingData), ("", \.allowsEmptyInput),
            ("5101015504", \.allowsMissingMessageBegin), ("9101015504", \.allowsMissingMessageEnd),
            ("d501015478", \.allowsTypeOnUnknown),
        ]
    }

    @Test func `NDEF decoding options: each accepts one kind of malformed message and no other`() throws {
        for (index, (_, leniency)) in Self.leniencies.enumerated() {
            var alone = NDEFDecodingOptions.strict
            alone[keyPath: leniency] = true
            var others = NDEFDecodingOptions.strict
            for (_, other) in Self.leniencies { others[keyPath: other] = true }
            others[keyPath: leniency] = false
            for (other, (hex, _)) in Self.leniencies.enumerated() {
                let bytes = Hex.bytes(hex)
                for (options, isRead) in [(alone, index == other), (others, index != other)] {
                    let message = try? NDEFMessage(decoding: bytes, options: options)
                    #expect((message != nil) == isRead, "\(hex), option \(index)")
                }
            }
        }
        let some: NDEFDecodingOptions = .init(allowsTrailingData: true, allowsTypeOnUnknown: true)
        #expect(try NDEFMessage(decoding: Hex.bytes("9501015478510101550400"), options: some).records.count == 2)
    }

    @Test func `NDEF decoding options: allowsMissingMessageEnd reads all records of a message without ME`() throws {
        let options = NDEFDecodingOptions(allowsMissingMessageEnd: true)
        #expect(try NDEFMessage(decoding: Hex.bytes("91010155041101015505"), options: options).records.count == 2)
    }

    @Test func `NDEF decoding options: a missing last chunk, or a later chunk with a type, throws all the same`() throws
    {
        let options = NDEFDecodingOptions(allowsMissingMessageEnd: true)
        for (hex, record) in [("b20301612f6278", 0), ("910101550432020161620136000163", 1)] {
            let bytes = Hex.bytes(hex)
            let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: bytes, options: options) }
            #expect(error?.code == .missingMessageEnd && error?.record == record, "\(hex)")
        }
        // Later chunks of an unknown record have no type, whatever is allowed.
        for hex in ["b50001015601015502", "b20301612f62785601016379"] {
            #expect(throws: NDEFError(.typeNotAllowed), "\(hex)") {
                try NDEFMessage(decoding: Hex.bytes(hex), options: NDEFDecodingOptions(allowsTypeOnUnknown: true))
            }
        }
    }

    // MARK: Records

    @Test func `NDEF record: a reserved format is kept and read as unknown, also in chunks`() throws {
        let bytes = Hex.bytes("d70002abcd")
        let record = try #require(try NDEFMessage(decoding: bytes).records.first)
        #expect(record.typeNameFormat == .reserved && record.kind == .unknown)
        #expect(try record.content() == .unknown)
        #expect(try NDEFMessage([record]).encoded() == bytes)
        let long = NDEFRecord(.reserved, payload: [1, 2, 3])
        let chunks = try NDEFMessage([long]).encoded(chunkSize: 2)
        #expect(chunks == Hex.bytes("b70002010256000103"))
        #expect(try NDEFMessage(decoding: chunks).records == [long])
    }

    @Test func `NDEF record: equality and hash compare TNF, type, identifier and payload, not the chunks`() throws {
        let record = NDEFRecord(.media, type: [0x61], identifier: [1], payload: [2, 3])
        for bytes in [try NDEFMessage([record]).encoded(), try NDEFMessage([record]).encoded(chunkSize: 1)] {
            #expect(Set(try NDEFMessage(decoding: bytes).records + [record]).count == 1)
        }
        for other in [
            NDEFRecord(.external, type: [0x61], identifier: [1], payload: [2, 3]),
            NDEFRecord(.media, type: [0x62], identifier: [1], payload: [2, 3]),
            NDEFRecord(.media, type: [0x61, 1], identifier: [], payload: [2, 3]),
            NDEFRecord(.media, type: [0x61], identifier: [1], payload: [2, 4]),
        ] { #expect(record != other) }
    }

    @Test func `NDEF record: an identifier of no bytes is written without its length`() throws {
        let record = try #require(try NDEFMessage(decoding: Hex.bytes("d90101005504")).records.first)
        #expect(record.identifier.isEmpty && record.payload == [0x04])
        #expect(try NDEFMessage([record]).encoded() == Hex.bytes("d101015504"))
    }

    // MARK: Writing

    @Test func `NDEF encoder: a record that can't be encoded throws its code and number, whole and in chunks`() throws {
        let long = [UInt8](repeating: 0x61, count: 256)
        let cases: [(NDEFRecord, NDEFError.Code)] = [
            (NDEFRecord(.media, type: long, payload: [1]), .typeTooLong),
            (NDEFRecord(.media, type: [0x61], identifier: long, payload: [1]), .identifierTooLong),
            (NDEFRecord(.empty, payload: [1]), .emptyRecordNotEmpty),
            (NDEFRecord(.empty, identifier: [1]), .emptyRecordNotEmpty),
            (NDEFRecord(.unknown, type: [1], payload: [1]), .typeNotAllowed),
            (NDEFRecord(.reserved, type: [1], payload: [1]), .typeNotAllowed),
            (NDEFRecord(.unchanged, type: [1]), .typeNotAllowed),
            (NDEFRecord(.unchanged, payload: [1]), .unexpectedUnchanged),
        ]
        for (record, code) in cases {
            let message = NDEFMessage([NDEFRecord(.empty), record])
            let error = #expect(throws: NDEFError.self) { try message.encoded() }
            #expect(error?.code == code && error?.record == 1)
            let chunked = #expect(throws: NDEFError.self) { try message.encoded(chunkSizes: [0, 2]) }
            #expect(chunked?.code == code && chunked?.record == 1)
        }
        #expect(throws: NDEFError(.noRecords)) { try NDEFMessage([]).encoded() }
        #expect(throws: NDEFError(.noRecords)) { try NDEFMessage([]).encoded(chunkSizes: []) }
        #expect(throws: NDEFError(.invalidChunkSize)) { try NDEFMessage([NDEFRecord(.empty)]).encoded(chunkSize: 0) }
        for count in [254, 255] {
            let bytes = [UInt8](repeating: 0x61, count: count)
            let message = NDEFMessage([NDEFRecord(.media, type: bytes, identifier: bytes, payload: [1])])
            #expect(try NDEFMessage(decoding: message.encoded()) == message)
        }
    }
}
