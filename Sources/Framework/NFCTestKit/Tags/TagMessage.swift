// SPDX-License-Identifier: Apache-2.0
import NDEF

/// An NDEF message in a test: the contents of a tag before the test, or the expected contents after it.
public struct TagMessage: Sendable, Hashable, CustomStringConvertible {
    /// The bytes of the message; empty for a tag without a message.
    public var bytes: [UInt8]

    /// Creates a message from its bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// No message.
    public static let empty = TagMessage(bytes: [])

    /// A message of one URI record, with the longest prefix that fits.
    public static func uri(_ uri: String) -> TagMessage {
        TagMessage { () throws(NDEFError) in try .uri(uri) }
    }

    /// A message of one text record.
    public static func text(_ text: String, language: String = "en") -> TagMessage {
        TagMessage { () throws(NDEFError) in try .text(text, language: language) }
    }

    /// If the record is invalid, the bytes are not a message, and creating a tag with it reports that.
    private init(_ record: () throws(NDEFError) -> NDEFRecord) {
        bytes = (try? record()).flatMap { try? NDEFMessage([$0]).encoded() } ?? [0]
    }

    /// The records as text, such as `URI https://example.com`.
    public var description: String {
        guard !bytes.isEmpty else { return "no message" }
        guard let message = try? NDEFMessage(decoding: bytes) else {
            return "damaged: \(bytes.hexText(separator: " "))"
        }
        return message.records.map { record in
            if let uri = try? URIRecord(record) { return "URI \(Self.short(uri.uri))" }
            if let text = try? TextRecord(record) { return "text \(Self.short(text.text))" }
            return "\(record.payloadCount) bytes of type \(String(decoding: record.type, as: UTF8.self))"
        }.joined(separator: ", ")
    }

    /// The beginning of a long text.
    private static func short(_ text: String) -> String {
        text.unicodeScalars.count > 200 ? String(text.unicodeScalars.prefix(200)) + "…" : text
    }
}
