// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Chunks of odd sizes and with odd headers (NFC Forum NDEF 1.0, 2.3.3 and 3.2).
@Suite struct `Corners of chunks` {
    /// A message, the payload of its only record, and where each chunk's part of it is.
    private static let messages: [(hex: String, payload: [UInt8], ranges: [Range<Int>])] = [
        ("b20301612f627856000179", [0x78, 0x79], [6..<7, 10..<11]),
        // Chunks without a byte, at the start, in the middle and at the end.
        ("b20300612f6256000179", [0x79], [6..<6, 9..<10]),
        ("b20301612f627836000056000179", [0x78, 0x79], [6..<7, 10..<10, 13..<14]),
        ("b20301612f6278560000", [0x78], [6..<7, 10..<10]), ("b20300612f62560000", [], [6..<6, 9..<9]),
        // Lengths of four bytes, where one would do.
        ("a20300000001612f627846000000000179", [0x78, 0x79], [9..<10, 16..<17]),
        ("b20301612f62782600000000013956000179", [0x78, 0x39, 0x79], [6..<7, 13..<14, 17..<18]),
        // The identifier is in the first chunk.
        ("ba030102612f6269697856000179", [0x78, 0x79], [9..<10, 13..<14]),
        ("b500017856000179", [0x78, 0x79], [3..<4, 7..<8]),
    ]

    @Test(arguments: messages.indices) func `A record is joined from chunks of any size`(index: Int) throws {
        let (text, payload, ranges) = Self.messages[index]
        let bytes = Hex.bytes(text.filter { $0 != " " })
        let records = try NDEFMessage(decoding: bytes).records
        #expect(records.map(\.payload) == [payload], "\(text)")
        #expect(records.map(\.identifier) == [text.hasPrefix("ba") ? [0x69, 0x69] : []])
        let view = try NDEFMessageView(bytes)
        let record = try #require(view.first { _ in true })
        let found = record.payloadRanges(in: bytes.span)
        #expect(record.isChunked && found == ranges, "\(text)")
        #expect(view.payload(of: record) == payload && view.endOffset == bytes.count)
        // In two pieces, cut anywhere.
        for count in bytes.indices {
            var decoder = NDEFStreamDecoder()
            let first = try decoder.append(bytes[..<count])
            #expect(first.isEmpty && !decoder.isAtEnd)
            #expect(try decoder.append(bytes[count...]) == records)
        }
    }

    @Test(arguments: [
        // A later chunk has no identifier, not even an empty one, and no type; the first one is no later one.
        ("b20301612f62785e00010079", NDEFError.Code.chunkWithIdentifier), ("b20301612f62785601017879", .typeNotAllowed),
        ("b6000178560001 79", .unexpectedUnchanged), ("b20301612f6278d6000179", .unexpectedMessageBegin),
        ("b20301612f6278 160001 79", .missingMessageEnd), ("b20301612f6278 760001 79", .chunkWithMessageEnd),
        ("b20301612f6278 550001 79", .chunkInterrupted), ("b20301612f6278 36000179", .missingMessageEnd),
    ])
    func `A chunk that is out of place is named`(hex: String, code: NDEFError.Code) {
        let bytes = Hex.bytes(hex.filter { $0 != " " })
        #expect(throws: NDEFError(code)) { try NDEFMessage(decoding: bytes) }
        #expect(throws: NDEFError(code)) { try NDEFMessageView(bytes) }
    }

    @Test func `An identifier of no bytes is none, and is written without its length`() throws {
        let record = try #require(try NDEFMessage(decoding: Hex.bytes("d90101005504")).records.first)
        #expect(record.identifier.isEmpty && record.payload == [0x04])
        #expect(try NDEFMessage([record]).encoded() == Hex.bytes("d101015504"))
    }
}
