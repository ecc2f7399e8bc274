// SPDX-License-Identifier: Apache-2.0
import NDEF

/// An NDEF message as a test writes it: what a tag holds before, or is to hold after.
public struct TagMessage: Sendable, Hashable, CustomStringConvertible {
    /// The octets of the message; none for a tag without one.
    public var octets: [UInt8]

    /// Creates a message of its octets.
    public init(octets: [UInt8]) {
        self.octets = octets
    }

    /// No message.
    public static let empty = TagMessage(octets: [])

    /// A message of one URI record, with the longest prefix that fits.
    public static func uri(_ uri: String) -> TagMessage {
        TagMessage { () throws(RecordError) in try .uri(uri) }
    }

    /// A message of one text record.
    public static func text(_ text: String, language: String = "en") -> TagMessage {
        TagMessage { () throws(RecordError) in try .text(text, language: language) }
    }

    /// A record that can't be is no message, and a tag that should hold it says so.
    private init(_ record: () throws(RecordError) -> NDEFRecord) {
        octets = (try? record()).flatMap { try? NDEFMessage([$0]).encoded() } ?? [0]
    }

    /// The records in words, such as `URI https://example.com`.
    public var description: String {
        guard !octets.isEmpty else { return "no message" }
        guard let message = try? NDEFMessage(decoding: octets) else {
            return "damaged: \(octets.hexText(separator: " "))"
        }
        return message.records.map { record in
            if let uri = try? URIRecord(record) { return "URI \(uri.uri)" }
            if let text = try? TextRecord(record) { return "text \(text.text)" }
            return "\(record.payloadCount) octets of type \(String(decoding: record.type, as: UTF8.self))"
        }.joined(separator: ", ")
    }
}
