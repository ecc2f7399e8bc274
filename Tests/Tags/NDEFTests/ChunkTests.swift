// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Records in chunks (NFC Forum NDEF 1.0, 2.3.3 and 3.2).
struct ChunkTests {
    /// A message, and the payload of its only record.
    private static let messages = """
        b20301612f627856000179 7879
        b20300612f6256000179 79
        b20301612f627836000056000179 7879
        b20301612f6278560000 78
        b20300612f62560000 -
        a20300000001612f627846000000000179 7879
        b20301612f62782600000000013956000179 783979
        ba030102612f6269697856000179 7879
        b500017856000179 7879
        d20302612f627879 7879
        """

    @Test func `NDEF chunks: a record is joined from chunks of any size`() throws {
        for row in Self.messages.split(separator: "\n") {
            let fields = row.split(separator: " ").map(String.init)
            let (bytes, payload) = (Hex.bytes(fields[0]), Hex.bytes(fields[1]))
            let records = try NDEFMessage(decoding: bytes).records
            #expect(records.map(\.payload) == [payload], "\(row)")
            // The identifier is in the first chunk.
            let identifier: [UInt8] = row.hasPrefix("ba") ? [0x69, 0x69] : []
            #expect(records.map(\.identifier) == [identifier], "\(row)")
        }
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
