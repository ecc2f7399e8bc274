// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

@Suite struct `Damaged and hostile input` {
    /// The good messages of the vectors that are small enough to be cut everywhere.
    static let messages = Vector.all.filter { $0.ok && $0.bytes.count <= 512 }.map(\.bytes)

    @Test(arguments: messages)
    func `A message that is cut short anywhere is refused at the cut`(bytes: [UInt8]) throws {
        for count in 0..<bytes.count {
            let error = try #require(throws: NDEFError.self) { try NDEFMessage(decoding: Array(bytes[..<count])) }
            #expect(error.offset == count)
            let codes: [NDEFError.Code] = [.emptyInput, .truncatedHeader, .truncatedBody, .missingMessageEnd]
            #expect(codes.contains(error.code))
            #expect(throws: error) { try NDEFMessageView(Array(bytes[..<count])) }
        }
    }

    @Test(arguments: messages)
    func `A message in two pieces, split anywhere, gives the same records`(bytes: [UInt8]) throws {
        let whole = try NDEFMessage(decoding: bytes).records
        for count in 0...bytes.count {
            var decoder = NDEFStreamDecoder()
            let first = try decoder.append(bytes[..<count])
            #expect(decoder.isAtEnd == (count == bytes.count))
            let second = try decoder.append(bytes[count...])
            try decoder.finish()
            #expect(first + second == whole)
        }
    }

    @Test(arguments: messages)
    func `A message byte by byte gives the same records`(bytes: [UInt8]) throws {
        var decoder = NDEFStreamDecoder()
        var records: [NDEFRecord] = []
        for byte in bytes { records += try decoder.append(CollectionOfOne(byte)) }
        try decoder.finish()
        #expect(try records == NDEFMessage(decoding: bytes).records)
    }

    @Test func `A decoder that is finished too early says what is missing`() throws {
        var decoder = NDEFStreamDecoder()
        #expect(throws: NDEFError(.emptyInput)) { try decoder.finish() }
        _ = try decoder.append([0xD1, 0x01])
        #expect(throws: NDEFError(.truncatedHeader)) { try decoder.finish() }
        _ = try decoder.append([0x02, 0x55])
        #expect(throws: NDEFError(.truncatedBody)) { try decoder.finish() }
        #expect(try decoder.append([0x04, 0x61]).count == 1)
        #expect(throws: NDEFError(.trailingData)) { try decoder.append([0x00]) }
    }

    @Test(arguments: [
        "c203ffffffff612f62", "ca03fffffffe01612f6269", "caff00ffffffff", "c2037fffffff612f62616263", "daffffff55",
    ])
    func `Lengths that claim gigabytes are refused without asking for memory`(hex: String) {
        #expect(throws: NDEFError(.truncatedBody)) { try NDEFMessage(decoding: Hex.bytes(hex)) }
    }

    @Test func `A payload inside a record can claim gigabytes too`() throws {
        for type in ["Sp", "Hs", "Hr"] {
            let inner = (type == "Sp" ? [] : [0x15]) + Hex.bytes("c101ffffffff5500")
            let record = NDEFRecord(.wellKnown, type: Array(type.utf8), payload: inner)
            #expect(throws: RecordError(.inner(.truncatedBody))) { try record.content() }
        }
    }

    @Test func `Smart posters nested a thousand deep are looked at one level deep`() throws {
        var record = try NDEFRecord.uri("https://e.com")
        for _ in 0..<1000 {
            let message = NDEFMessage([try .uri("https://e.com"), record])
            record = NDEFRecord(.wellKnown, type: Array("Sp".utf8), payload: try message.encoded())
        }
        guard case .smartPoster(let poster) = try record.content() else {
            Issue.record("Not a smart poster")
            return
        }
        #expect(poster.uri.uri == "https://e.com")
    }

    @Test func `A byte of every value in every place of a message never traps`() throws {
        let poster = SmartPosterRecord(uri: URIRecord("https://e.com"), titles: [TextRecord("T", language: "en")])
        let message = try NDEFMessage([poster.makeRecord(), .text("x", language: "en")]).encoded()
        for index in message.indices {
            for value in UInt8.min...UInt8.max {
                var bytes = message
                bytes[index] = value
                for record in (try? NDEFMessage(decoding: bytes))?.records ?? [] { _ = try? record.content() }
            }
        }
    }

    @Test func `The work is linear in the size, whole and in pieces`() throws {
        // Counts the scanner's steps: one per record or chunk, for all lengths.
        for count in [10, 100, 1000] {
            let record = NDEFRecord(.unknown, payload: [UInt8](repeating: 7, count: count))
            let chunked = try NDEFMessage([record]).encoded(chunkSize: 1)
            #expect(chunked.count == count * 4)
            var decoder = NDEFStreamDecoder()
            var found = 0
            for byte in chunked { found += try decoder.append(CollectionOfOne(byte)).count }
            #expect(found == 1)
            var scanner = NDEFRecordScanner()
            var steps = 0
            // A chunk that was taken isn't looked at again when more bytes come.
            for end in stride(from: 4, to: chunked.count, by: 4) {
                let before = scanner.offset
                _ = try? scanner.next(in: chunked.span.extracting(0..<end))
                steps += (scanner.offset - before) / 4
            }
            #expect(steps == count - 1)
        }
    }
}
