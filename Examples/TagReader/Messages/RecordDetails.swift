// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// A record for people, with the card's own text. ``MessageLines`` escapes it for display.
struct RecordDetails {
    var format: String
    var type: String
    var identifier: String
    /// The decoded payload; the first line names its kind.
    var payload: [String]

    init(_ record: NFCNDEFPayload) {
        format = Self.name(of: record.typeNameFormat)
        type = Self.text(record.type)
        identifier = Self.text(record.identifier)
        payload = Self.payload(of: record, depth: 0)
    }

    /// The message in one line, for the list.
    static func summary(of message: NFCNDEFMessage) -> String {
        message.records.first.flatMap { payload(of: $0, depth: 0).first } ?? "no record"
    }

    /// "1 record", "2 records".
    static func count(of message: NFCNDEFMessage) -> String {
        message.records.count == 1 ? "1 record" : "\(message.records.count) records"
    }

    private static func payload(of record: NFCNDEFPayload, depth: Int) -> [String] {
        switch record.typeNameFormat {
        case .empty:
            return ["Empty"]
        case .nfcWellKnown:
            return wellKnown(record, depth: depth)
        case .media:
            let type = text(record.type)
            let head = "Media: \(type), \(size(record.payload))"
            return type.lowercased().hasPrefix("text/")
                ? [head] + preview(record.payload) : [head] + hex(record.payload)
        case .absoluteURI:
            return ["Link: \(text(record.type))"]
        case .nfcExternal:
            if record.type == Data("android.com:pkg".utf8) { return ["Android app: \(text(record.payload))"] }
            return ["External: \(text(record.type)), \(size(record.payload))"] + hex(record.payload)
        case .unknown, .unchanged:
            return ["Data: \(size(record.payload))"] + hex(record.payload)
        }
    }

    private static func wellKnown(_ record: NFCNDEFPayload, depth: Int) -> [String] {
        if let url = record.wellKnownTypeURIPayload() {
            return ["Link: " + url.absoluteString]
        }
        if case (let text?, let locale?) = record.wellKnownTypeTextPayload() {
            let lines = lines(of: text)
            return ["Text (\(locale.identifier(.bcp47))): " + (lines.first ?? "")] + lines.dropFirst()
        }
        if record.type == Data("Sp".utf8), depth == 0, let poster = NFCNDEFMessage(data: record.payload) {
            let parts = poster.records.map { payload(of: $0, depth: depth + 1) }
            let title = parts.joined().first { $0.hasPrefix("Text") } ?? parts.first?.first ?? ""
            return ["Poster: " + title] + parts.flatMap { $0 }.filter { $0 != title }
        }
        return ["Well-known: \(text(record.type)), \(size(record.payload))"] + hex(record.payload)
    }

    private static func name(of format: NFCTypeNameFormat) -> String {
        switch format {
        case .empty: "0, empty"
        case .nfcWellKnown: "1, well-known"
        case .media: "2, media"
        case .absoluteURI: "3, absolute URI"
        case .nfcExternal: "4, external"
        case .unknown: "5, unknown"
        case .unchanged: "6, unchanged"
        }
    }

    private static func size(_ data: Data) -> String {
        data.count == 1 ? "1 byte" : "\(data.count) bytes"
    }

    /// The lines of a payload that is text.
    private static func preview(_ data: Data) -> [String] {
        let text = String(decoding: data.prefix(textLimit), as: UTF8.self)
        return lines(of: text) + rest(of: data, textLimit)
    }

    private static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }

    private static func text(_ data: Data) -> String {
        if data.isEmpty { return "none" }
        let text = String(decoding: data.prefix(nameLimit), as: UTF8.self)
        return ([text] + rest(of: data, nameLimit)).joined(separator: " ")
    }

    private static func hex(_ data: Data) -> [String] {
        if data.isEmpty { return [] }
        let digits = data.prefix(hexLimit).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }
        return [digits.joined()] + rest(of: data, hexLimit)
    }

    /// The maximum number of bytes to show of a name, a text, and other data. Some cards have many kilobytes.
    private static let (nameLimit, textLimit, hexLimit) = (400, 4000, 256)

    /// The line that says that data was cut.
    private static func rest(of data: Data, _ limit: Int) -> [String] {
        data.count > limit ? ["… and \(data.count - limit) more bytes, which are not shown"] : []
    }
}
