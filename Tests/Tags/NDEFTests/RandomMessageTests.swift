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

    /// Reads bytes in pieces.
    private static func streamed(_ bytes: [UInt8], _ cuts: [Int]) throws(NDEFError) -> [NDEFRecord] {
        var decoder = NDEFStreamDecoder()
        var records: [NDEFRecord] = []
        var start = 0
        for end in (cuts.map { $0 % (bytes.count + 1) } + [bytes.count]).sorted() {
            records += try decoder.append(bytes[start..<end])
            start = end
        }
        try decoder.finish()
        return records
    }

    private static func records(_ bytes: [UInt8]) -> Result<[NDEFRecord], NDEFError> {
        Result { () throws(NDEFError) in try NDEFMessage(decoding: bytes).records }
    }

    @Test func `NDEF: a random message is decoded as it was encoded, in chunks or not, whole or in pieces`()
        async throws
    {
        struct Case: Sendable {
            var message: NDEFMessage
            var chunkSize: Int?
            var cuts: [Int]
        }
        try await checkRule(cases: 400) { draws in
            Case(
                message: NDEFMessage(draws.array(count: 1...4, of: Self.record)),
                chunkSize: draws.happens(onceIn: 2) ? draws.int(in: 1...300) : nil,
                cuts: draws.array(count: 0...4) { $0.int(in: 0...3000) }
            )
        } problem: { value in
            let bytes = try value.message.encoded(chunkSize: value.chunkSize)
            let length = value.chunkSize.map(value.message.encodedLength) ?? value.message.encodedLength
            if bytes.count != length { return "It has \(bytes.count) bytes, not \(length)." }
            if try NDEFMessage(decoding: bytes) != value.message { return "It is read as another." }
            if try Self.streamed(bytes, value.cuts) != value.message.records { return "In pieces it is another." }
            let view = try NDEFMessageView(bytes)
            if view.map({ NDEFRecord($0, of: bytes) }) != value.message.records { return "Its view is another." }
            var appended: [UInt8] = [1, 2]
            try value.message.encode(into: &appended, chunkSize: value.chunkSize)
            return appended == [1, 2] + bytes ? nil : "It is encoded otherwise behind other bytes."
        }
    }

    @Test func `NDEF: all decoders read random damaged bytes alike, or refuse them with the same code`() async throws {
        struct Case: Sendable {
            var bytes: [UInt8]
            var cuts: [Int]
        }
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
            return Case(bytes: bytes, cuts: draws.array(count: 0...4) { $0.int(in: 0...3000) })
        } problem: { value in
            let whole = Self.records(value.bytes)
            let pieces = Result { () throws(NDEFError) in try Self.streamed(value.bytes, value.cuts) }
            let view = Result { () throws(NDEFError) in
                try NDEFMessageView(value.bytes).map { NDEFRecord($0, of: value.bytes) }
            }
            if view != whole { return "The view says \(view), the message \(whole)." }
            guard case .success(let records) = whole else {
                guard case .failure(let error) = pieces, case .failure(let first) = whole else {
                    return "In pieces it is read."
                }
                return error.code == first.code ? nil : "In pieces \(error), whole \(first)."
            }
            read += 1
            if pieces != whole { return "In pieces \(pieces), whole \(whole)." }
            let again = try NDEFMessage(records).encoded()
            return Self.records(again) == whole ? nil : "Written again it is another."
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
