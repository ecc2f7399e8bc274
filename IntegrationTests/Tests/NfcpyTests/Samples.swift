// SPDX-License-Identifier: Apache-2.0
import NDEF

/// A record as ndeflib describes and creates it.
struct RecordDescription: Codable, Hashable {
    struct Title: Codable, Hashable {
        var language: String
        var text: String
    }

    var kind: String
    var uri: String?
    var text: String?
    var language: String?
    var titles: [Title]?
    var type: String?
    var name: String?
    var data: String?

    static func uri(_ uri: String) -> RecordDescription { RecordDescription(kind: "uri", uri: uri) }

    static func text(_ text: String, _ language: String) -> RecordDescription {
        RecordDescription(kind: "text", text: text, language: language)
    }

    static func other(_ type: String, name: String = "", _ data: [UInt8]) -> RecordDescription {
        RecordDescription(kind: "other", type: type, name: name, data: data.hexadecimal)
    }
}

/// A message as both codecs see it.
struct Sample: Sendable, CustomStringConvertible {
    var description: String
    var message: NDEFMessage
    var records: [RecordDescription]

    /// Messages of every kind of record that both codecs know.
    static func all() throws -> [Sample] {
        let address = "https://example.com/t/ü"
        let titles = ["de": "Karte", "en": "Ticket"]
        let poster = SmartPosterRecord(
            uri: URIRecord(address),
            titles: titles.sorted { $0.key < $1.key }.map { TextRecord($0.value, language: $0.key) }
        )
        let data: [UInt8] = Array(0...255)
        return [
            Sample(
                description: "a URI",
                message: NDEFMessage([try .uri(address)]),
                records: [.uri(address)]
            ),
            Sample(
                description: "texts in two languages",
                message: NDEFMessage([
                    try .text("Grüße, 世界 🌍", language: "de"), try .text("Hello", language: "en-GB"),
                ]),
                records: [.text("Grüße, 世界 🌍", "de"), .text("Hello", "en-GB")]
            ),
            Sample(
                description: "a smart poster",
                message: NDEFMessage([try poster.makeRecord(identifier: [])]),
                records: [
                    RecordDescription(
                        kind: "poster",
                        uri: address,
                        titles: [.init(language: "de", text: "Karte"), .init(language: "en", text: "Ticket")]
                    )
                ]
            ),
            Sample(
                description: "data of three formats, with identifiers, short and long",
                message: NDEFMessage([
                    .media(type: "application/json", payload: Array("{}".utf8), identifier: Array("a".utf8)),
                    .media(type: "application/octet-stream", payload: data),
                    .external(type: "example.com:t", payload: data.dropLast(), identifier: Array("b".utf8)),
                    .androidApplication(package: "com.example.app"),
                ]),
                records: [
                    .other("application/json", name: "a", Array("{}".utf8)),
                    .other("application/octet-stream", data),
                    .other("urn:nfc:ext:example.com:t", name: "b", data.dropLast()),
                    .other("urn:nfc:ext:android.com:pkg", Array("com.example.app".utf8)),
                ]
            ),
            Sample(
                description: "an empty record",
                message: .empty,
                records: [.other("", [])]
            ),
        ]
    }

    /// A message of a given length, 10 bytes or more: one record of media type `x/y`.
    static func filling(_ length: Int, seed: UInt8) -> Sample {
        // A short record needs 6 bytes more than its payload, a long one 9. In between, an identifier fills the gap.
        let identifier = (262...264).contains(length) ? "i12" : ""
        let overhead = identifier.isEmpty ? (length < 262 ? 6 : 9) : 10
        let payload = (0..<(length - overhead)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(seed)) }
        return Sample(
            description: "\(length) bytes",
            message: NDEFMessage([.media(type: "x/y", payload: payload, identifier: Array(identifier.utf8))]),
            records: [.other("x/y", name: identifier, payload)]
        )
    }
}
