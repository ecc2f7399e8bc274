// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Messages that are cut, split, damaged or made to cost memory and time.
struct HostileInputTests {
    /// The good messages of the vectors that are small enough to be cut everywhere.
    static let messages = Vector.all.filter { $0.ok && $0.bytes.count <= 512 }.map(\.bytes)

    @Test func `NDEF decoder: a message cut at any byte is refused at the cut`() throws {
        let codes: [NDEFError.Code] = [.emptyInput, .truncatedHeader, .truncatedBody, .missingMessageEnd]
        for bytes in Self.messages {
            for count in 0..<bytes.count {
                let error = try #require(throws: NDEFError.self) { try NDEFMessage(decoding: Array(bytes[..<count])) }
                #expect(error.offset == count && codes.contains(error.code), "\(Hex.text(bytes)) cut at \(count)")
            }
        }
    }

    @Test(arguments: [
        "c203ffffffff612f62", "ca03fffffffe01612f6269", "caff00ffffffff", "c2037fffffff612f62616263", "daffffff55",
    ]) func `NDEF decoder: a length of gigabytes is refused without memory for it`(hex: String) {
        #expect(throws: NDEFError(.truncatedBody)) { try NDEFMessage(decoding: Hex.bytes(hex)) }
    }

    @Test(arguments: ["Sp", "Hs", "Hr"]) func `NDEF record: a length of gigabytes in an inner message is refused`(
        type: String
    ) {
        let inner = (type == "Sp" ? [] : [0x15]) + Hex.bytes("c101ffffffff5500")
        #expect(throws: NDEFError(.inner(.truncatedBody))) { try wellKnown(type, inner).content() }
    }

    @Test func `Smart poster: posters nested a thousand deep are decoded one level deep`() throws {
        var record = try NDEFRecord.uri("https://e.com")
        for _ in 0..<1000 { record = wellKnown("Sp", try NDEFMessage([try .uri("https://e.com"), record]).encoded()) }
        #expect(try SmartPosterRecord(record).uri.uri == "https://e.com")
    }

    @Test func `NDEF decoder: any byte in any place of a message never traps`() throws {
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
}
