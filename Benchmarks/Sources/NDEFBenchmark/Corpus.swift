// SPDX-License-Identifier: Apache-2.0
import NDEF

/// The messages to measure with: always the same, and of kinds that are common on tags.
enum Corpus {
    /// A random number generator with the same numbers everywhere (SplitMix64).
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    /// Makes messages: of every twenty, eight URIs, five texts, four smart posters and three of about 1 KB of MIME.
    static func make(count: Int) throws -> [[UInt8]] {
        var generator = Generator(state: 2026)
        return try (0..<count).map { index in
            try NDEFMessage(records(index, &generator)).encoded()
        }
    }

    private static func records(_ index: Int, _ generator: inout Generator) throws -> [NDEFRecord] {
        switch index % 20 {
        case 0..<8:
            return [try .uri("https://www.example.com/\(word(8...40, &generator))")]
        case 8..<13:
            return [try .text(word(20...100, &generator), language: index.isMultiple(of: 2) ? "en" : "ja-JP")]
        case 13..<17:
            let poster = SmartPosterRecord(
                uri: URIRecord("https://example.org/\(word(10...40, &generator))"),
                titles: [
                    TextRecord(word(10...30, &generator), language: "en"),
                    TextRecord(word(10...30, &generator), language: "de"),
                ],
                action: .perform
            )
            return [try poster.makeRecord()]
        default:
            let payload = (0..<1024).map { _ in UInt8.random(in: 0...255, using: &generator) }
            return [
                .media(type: "application/octet-stream", payload: payload),
                .androidApplication(package: "com.example.\(word(6...16, &generator))"),
            ]
        }
    }

    private static func word(_ length: ClosedRange<Int>, _ generator: inout Generator) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-")
        let count = Int.random(in: length, using: &generator)
        return String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
    }
}
