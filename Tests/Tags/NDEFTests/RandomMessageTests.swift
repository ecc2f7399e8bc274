// SPDX-License-Identifier: Apache-2.0
import NDEF
import PropertyTesting
import Testing

/// Rules of the codec that hold for any message and any bytes.
struct RandomMessageTests {
    private static func record(_ draws: inout Draws) -> NDEFRecord {
        let format = draws.element(of: [TypeNameFormat.wellKnown, .media, .absoluteURI, .external, .unknown, .empty])
        if format == .empty { return NDEFRecord(.empty) }
        // The lengths at which a field of the header changes, and their neighbours.
        let lengths = [0...3, 60...70, 250...260, 0...0, 300...700]
        let type = format == .unknown ? [] : draws.bytes(count: 1...(draws.happens(onceIn: 9) ? 255 : 4))
        let identifier = draws.happens(onceIn: 3) ? draws.bytes(count: 1...(draws.happens(onceIn: 9) ? 255 : 3)) : []
        return NDEFRecord(
            format,
            type: type,
            identifier: identifier,
            payload: draws.bytes(count: draws.element(of: lengths))
        )
    }

    @Test func `NDEF: a random message is decoded as it was encoded, in chunks or not`() async throws {
        struct Case: Sendable {
            var message: NDEFMessage
            var chunkSize: Int?
        }
        try await checkRule(cases: 400) { draws in
            Case(
                message: NDEFMessage(draws.array(count: 1...4, of: Self.record)),
                chunkSize: draws.happens(onceIn: 2) ? draws.int(in: 1...300) : nil
            )
        } problem: { value in
            let bytes = try value.message.encoded(chunkSize: value.chunkSize)
            let length = value.message.records.reduce(0) { $0 + $1.encodedLength(chunkSize: value.chunkSize ?? 0) }
            if bytes.count != length { return "It has \(bytes.count) bytes, not \(length)." }
            return try NDEFMessage(decoding: bytes) == value.message ? nil : "It is read as another."
        }
    }

    @Test func `NDEF: a randomly damaged message is refused, or its records survive encoding and decoding`()
        async throws
    {
        var read = 0
        try await checkRule(cases: 3_000) { draws in
            let message = NDEFMessage(draws.array(count: 1...3, of: Self.record))
            var bytes = (try? message.encoded(chunkSize: draws.happens(onceIn: 3) ? 9 : nil)) ?? []
            for _ in 0...draws.int(in: 0...2) where !bytes.isEmpty {
                let place = draws.int(in: 0...min(bytes.count - 1, draws.happens(onceIn: 2) ? 5 : 2000))
                switch draws.int(in: 0...2) {
                case 0: bytes[place] ^= 1 << UInt8(draws.int(in: 0...7))
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8(draws.int(in: 0...255)), at: place)
                }
            }
            return bytes
        } problem: { bytes in
            guard let records = try? NDEFMessage(decoding: bytes).records else { return nil }
            read += 1
            let again = try NDEFMessage(decoding: NDEFMessage(records).encoded()).records
            return again == records ? nil : "Written again it is another."
        }
        #expect(read > 200, "\(read) were read")
    }

    @Test func `Text record: a random text in any language and encoding is read as it was written`() async throws {
        try await checkRule(cases: 400) { draws in
            TextRecord(
                draws.array(count: 0...9) { $0.element(of: ["a", "é", "字", "🙂", "\u{FEFF}", "\0", "\u{FFFE}"]) }
                    .joined(),
                language: draws.array(count: 1...63) { $0.element(of: ["e", "n", "-", "Z"]) }.joined(),
                encoding: draws.element(of: TextRecord.Encoding.allCases)
            )
        } problem: { text in
            let record = try text.makeRecord(identifier: [])
            let read = try TextRecord(record)
            if read.text.unicodeScalars.elementsEqual(text.text.unicodeScalars), read.language == text.language {
                return nil
            }
            return "It is read as \(read)."
        }
    }

    @Test func `URI record: a random URI is read as written, with the longest prefix shortened`() async throws {
        try await checkRule(cases: 400) { draws in
            draws.element(of: URIPrefix.all + ["HTTP://", "urn:epc:id", "https:/", "é"])
                + draws.array(count: 0...5) { $0.element(of: ["a", "www.", "é", "%20", "://"]) }.joined()
        } problem: { uri in
            let written = URIRecord(uri)
            let read = try URIRecord(written.makeRecord(identifier: []))
            if read.uri != uri { return "It is read as \(read.uri)." }
            let longest = URIPrefix.all.filter { uri.utf8.starts(with: $0.utf8) }.map(\.utf8.count).max() ?? 0
            let spared = URIPrefix.text(for: read.prefixCode).utf8.count
            return spared == longest ? nil : "\(spared) bytes are spared, not \(longest)."
        }
    }
}
