// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Records in chunks (NFC Forum NDEF 1.0, 2.3.3 and 3.2).
struct ChunkTests {
    /// A message, the payload of its only record, and where each chunk's part of it is.
    private static let messages: [(String, [UInt8], [Range<Int>])] = [
        ("b20301612f62 78 56000179", [0x78, 0x79], [6..<7, 10..<11]),
        // Chunks without a byte, at the start, in the middle and at the end.
        ("b20300612f62 56000179", [0x79], [6..<6, 9..<10]),
        ("b20301612f62 78 360000 56000179", [0x78, 0x79], [6..<7, 10..<10, 13..<14]),
        ("b20301612f62 78 560000", [0x78], [6..<7, 10..<10]), ("b20300612f62 560000", [], [6..<6, 9..<9]),
        // Lengths of four bytes, where one would do.
        ("a20300000001612f62 78 46000000000179", [0x78, 0x79], [9..<10, 16..<17]),
        ("b20301612f62 78 26000000000139 56000179", [0x78, 0x39, 0x79], [6..<7, 13..<14, 17..<18]),
        // The identifier is in the first chunk.
        ("ba030102612f62 6969 78 56000179", [0x78, 0x79], [9..<10, 13..<14]),
        ("b50001 78 56000179", [0x78, 0x79], [3..<4, 7..<8]), ("d203 02612f62 7879", [0x78, 0x79], [6..<8]),
    ]

    @Test func `NDEF chunks: a record is joined from chunks of any size, also in two pieces`() throws {
        for (text, payload, ranges) in Self.messages {
            let bytes = Hex.bytes(text)
            let records = try NDEFMessage(decoding: bytes).records
            #expect(records.map(\.payload) == [payload], "\(text)")
            #expect(records.map(\.identifier) == [text.hasPrefix("ba") ? [0x69, 0x69] : []], "\(text)")
            let view = try NDEFMessageView(bytes)
            let record = try #require(view.first { _ in true })
            #expect(record.isChunked == (ranges.count > 1) && record.payloadRanges(in: bytes.span) == ranges, "\(text)")
            #expect(view.payload(of: record) == payload && view.endOffset == bytes.count, "\(text)")
            for count in bytes.indices {
                var decoder = NDEFStreamDecoder()
                #expect(try decoder.append(bytes[..<count]).isEmpty && !decoder.isAtEnd, "\(text)")
                #expect(try decoder.append(bytes[count...]) == records, "\(text)")
            }
        }
    }

    /// Bytes, the error's code and its offset.
    private static let faults: [(String, NDEFError.Code, Int)] = [
        ("f20301612f6278", .chunkWithMessageEnd, 0), ("b20301612f6278 760000", .chunkWithMessageEnd, 7),
        ("b20301612f6278 5e0001016979", .chunkWithIdentifier, 7),
        ("b20301612f6278 5e00010079", .chunkWithIdentifier, 7), ("b20301612f6278 5601016379", .typeNotAllowed, 7),
        ("b50001015601015502", .typeNotAllowed, 4), ("b20001 78 56000179", .chunkWithoutType, 0),
        ("b00000 560000", .chunkWithoutType, 0), ("b20301612f6278 510101550478", .chunkInterrupted, 7),
        ("b20301612f6278 500000", .chunkInterrupted, 7), ("b20301612f6278 550001 79", .chunkInterrupted, 7),
        ("b20301612f6278 d60000", .unexpectedMessageBegin, 7), ("b60001 78 56000179", .unexpectedUnchanged, 0),
        ("b20301612f6278 36000179", .missingMessageEnd, 11),
    ]

    @Test func `NDEF chunks: a chunk out of place throws its code`() {
        for (text, code, offset) in Self.faults {
            let bytes = Hex.bytes(text)
            let error = #expect(throws: NDEFError.self, "\(text)") { try NDEFMessage(decoding: bytes) }
            #expect(error?.code == code && error?.offset == offset && error?.record == 0, "\(text)")
            #expect(throws: NDEFError(code), "\(text)") { try NDEFMessageView(bytes) }
        }
    }

    @Test(arguments: [1, 2, 254, 255, 256, 257, 1000], [0, 1, 255, 256, 1000, 1024])
    func `NDEF chunks: records written in chunks of any size are read as the records`(size: Int, count: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let message = NDEFMessage([
            .media(type: "a/b", payload: payload, identifier: [0x69]), NDEFRecord(.unknown, payload: payload),
            NDEFRecord(.wellKnown, payload: payload),
        ])
        let encoded = try message.encoded(chunkSize: size)
        #expect(encoded.count == message.encodedLength(chunkSize: size))
        #expect(try NDEFMessage(decoding: encoded) == message)
    }

    @Test func `NDEF chunks: a chunk of 256 bytes or more has its length in four bytes`() throws {
        let size = 0x01_0203
        let payload = [UInt8](repeating: 5, count: size + 1)
        let bytes = try NDEFMessage([NDEFRecord(.media, type: [0x61], payload: payload)]).encoded(chunkSize: size)
        #expect(bytes.prefix(8) == [0xA2, 1, 0, 1, 2, 3, 0x61, 5])
        #expect(bytes.suffix(4) == [0x56, 0, 1, 5])
    }

    @Test func `NDEF chunks: each record has its own chunk size, and 0 keeps it whole`() throws {
        let message = NDEFMessage([
            NDEFRecord(.unknown, payload: [1, 2, 3]), NDEFRecord(.media, type: [0x61], payload: [4, 5, 6]),
            NDEFRecord(.unknown, payload: [7, 8]),
        ])
        let expected = "950003010203 320102610405 16000106 35000107 56000108"
        #expect(try message.encoded(chunkSizes: [0, 2, 1]) == Hex.bytes(expected))
        let error = #expect(throws: NDEFError.self) { try message.encoded(chunkSizes: [2, 0, -1]) }
        #expect(error?.code == .invalidChunkSize && error?.record == 2)
    }

    @Test func `NDEF chunks: a payload's content is read from its joined chunks, also inside another record`() throws {
        let text = try NDEFRecord.text("Привет", language: "ru-RU")
        for size in 1...15 {
            let bytes = try NDEFMessage([text]).encoded(chunkSize: size)
            let record = try #require(try NDEFMessage(decoding: bytes).records.first)
            #expect(try TextRecord(record).text == "Привет")
        }
        let inner = try NDEFMessage([.uri("https://e.com"), text]).encoded(chunkSize: 3)
        let outer = try NDEFMessage([.text("before", language: "en"), wellKnown("Sp", inner)]).encoded()
        let poster = try SmartPosterRecord(try #require(try NDEFMessage(decoding: outer).records.last))
        #expect(poster.uri.uri == "https://e.com" && poster.titles == [TextRecord("Привет", language: "ru-RU")])
    }
}
