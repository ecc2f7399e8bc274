// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// A message as lines of text, with the card's own text.
enum MessageLines {
    /// The message's row in the list: its number, the number of records, and the content of the first one.
    static func row(of stored: StoredMessage) -> String {
        "\(stored.number)  \(stored.isNew ? "new  " : "")\(count(of: stored.message))  \(summary(of: stored.message))"
    }

    /// The message in one line.
    static func summary(of message: NFCNDEFMessage) -> String {
        message.records.first.flatMap { RecordDetails($0).payload.first } ?? "no record"
    }

    /// "1 record", "2 records".
    static func count(of message: NFCNDEFMessage) -> String {
        message.records.count == 1 ? "1 record" : "\(message.records.count) records"
    }

    /// The details of the message's records, below a heading.
    static func details(of stored: StoredMessage) -> [String] {
        let message = stored.message
        let heading = "Message \(stored.number): \(count(of: message)), \(message.length) bytes"
        return [heading]
            + message.records.enumerated().flatMap { index, record in
                let details = RecordDetails(record)
                return [
                    "Record \(index + 1)", "  Format      \(details.format)", "  Type        \(details.type)",
                    "  Identifier  \(details.identifier)", "  Payload     \(details.payload.first ?? "")",
                ] + details.payload.dropFirst().map { "              " + $0 }
            }
    }
}

/// A record in words.
struct RecordDetails {
    var format: String
    var type: String
    var identifier: String
    /// The decoded payload; the first line names its kind.
    var payload: [String]

    init(_ record: NFCNDEFPayload) {
        format = Self.name(of: record.typeNameFormat)
        type = Self.name(record.type)
        identifier = Self.name(record.identifier)
        payload = Self.payload(of: record, isInPoster: false)
    }

    private static func payload(of record: NFCNDEFPayload, isInPoster: Bool) -> [String] {
        let size = record.payload.count == 1 ? "1 byte" : "\(record.payload.count) bytes"
        switch record.typeNameFormat {
        case .empty: return ["Empty"]
        case .nfcWellKnown:
            if let url = record.wellKnownTypeURIPayload() { return ["Link: \(url.absoluteString)"] }
            if case (let text?, let locale?) = record.wellKnownTypeTextPayload() {
                let lines = lines(of: text)
                return ["Text (\(locale.identifier(.bcp47))): \(lines.first ?? "")"] + lines.dropFirst()
            }
            if record.type == Data("Sp".utf8), !isInPoster, let poster = NFCNDEFMessage(data: record.payload) {
                let lines = poster.records.flatMap { payload(of: $0, isInPoster: true) }
                let title = lines.first { $0.hasPrefix("Text") } ?? lines.first ?? ""
                return ["Poster: \(title)"] + lines.filter { $0 != title }
            }
            return ["Well-known: \(name(record.type)), \(size)"] + hex(record.payload)
        case .media:
            let type = name(record.type)
            let isText = type.lowercased().hasPrefix("text/")
            return ["Media: \(type), \(size)"] + (isText ? text(record.payload) : hex(record.payload))
        case .absoluteURI: return ["Link: \(name(record.type))"]
        case .nfcExternal:
            if record.type == Data("android.com:pkg".utf8) { return ["Android app: \(name(record.payload))"] }
            return ["External: \(name(record.type)), \(size)"] + hex(record.payload)
        case .unknown, .unchanged: return ["Data: \(size)"] + hex(record.payload)
        }
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

    private static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }

    // Some cards have many kilobytes, so only the first bytes are shown.

    private static func name(_ data: Data) -> String {
        data.isEmpty ? "none" : shown(data, 400) { [String(decoding: $0, as: UTF8.self)] }.joined(separator: " ")
    }

    private static func text(_ data: Data) -> [String] {
        shown(data, 4000) { lines(of: String(decoding: $0, as: UTF8.self)) }
    }

    private static func hex(_ data: Data) -> [String] {
        guard !data.isEmpty else { return [] }
        return shown(data, 256) { [$0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()] }
    }

    private static func shown(_ data: Data, _ limit: Int, _ lines: (Data) -> [String]) -> [String] {
        let rest = data.count - limit
        return lines(data.prefix(limit)) + (rest > 0 ? ["… and \(rest) more bytes, which are not shown"] : [])
    }
}
