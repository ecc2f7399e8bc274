// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import PhoneScreens

/// Formats a message as text: a list row, a summary, and the decoded records.
enum MessageText {
    /// The message's row in the list: its number, the number of records, and the first record's content.
    static func row(of stored: StoredMessage) -> String {
        "\(stored.number)  \(stored.isNew ? "new  " : "")\(count(of: stored.message))  \(summary(of: stored.message))"
    }

    /// A one-line summary of the message.
    static func summary(of message: NFCNDEFMessage) -> String {
        message.records.first.flatMap { payload(of: $0).first } ?? "no record"
    }

    /// The message's size, such as "2 records, 54 bytes".
    static func size(of message: NFCNDEFMessage) -> String { "\(count(of: message)), \(message.length) bytes" }

    /// When and where the message was read, such as "scanned 2026-11-29 14:32:05"; nil if that is not known.
    static func origin(of stored: StoredMessage) -> String? {
        guard let date = stored.date, let source = stored.source else { return nil }
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .current)
        let time = date.formatted(style.year().month().day().time(includingFractionalSeconds: false))
        switch source {
        case .scan: return "scanned \(time)"
        case .background: return "read in the background \(time)"
        }
    }

    /// The message's size, and when and where it was read.
    static func facts(of stored: StoredMessage) -> String {
        [size(of: stored.message), origin(of: stored)].compactMap(\.self).joined(separator: ", ")
    }

    private static func count(of message: NFCNDEFMessage) -> String {
        message.records.count == 1 ? "1 record" : "\(message.records.count) records"
    }

    /// The message's records, for a screen.
    static func items(of message: NFCNDEFMessage) -> [PhoneScreen.Item] {
        message.records.enumerated().flatMap { index, record -> [PhoneScreen.Item] in
            [
                .heading("Record \(index + 1)"),
                .row(payload(of: record).joined(separator: "\n"), detail: "Payload"),
                .row(name(of: record.typeNameFormat), detail: "Format"), .row(name(record.type), detail: "Type"),
                .row(name(record.identifier), detail: "Identifier"),
            ]
        }
    }

    /// The message's records as lines of text, below a heading.
    static func lines(of stored: StoredMessage) -> [String] {
        ["Message \(stored.number): \(facts(of: stored))"] + items(of: stored.message).flatMap(\.lines)
    }

    /// The decoded payload. The first line names the kind of content.
    private static func payload(of record: NFCNDEFPayload, isInPoster: Bool = false) -> [String] {
        let size = record.payload.count == 1 ? "1 byte" : "\(record.payload.count) bytes"
        switch record.typeNameFormat {
        case .empty: return ["Empty"]
        case .nfcWellKnown:
            if let url = record.wellKnownTypeURIPayload() { return link(url.absoluteString) }
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
            guard type.lowercased().hasPrefix("text/") else { return ["Media: \(type), \(size)"] + hex(record.payload) }
            if ["text/vcard", "text/x-vcard"].contains(type.lowercased()), let contact = contact(record.payload) {
                return contact
            }
            let text = shown(record.payload, 4000) { lines(of: String(decoding: $0, as: UTF8.self)) }
            return ["Media: \(type), \(size)"] + text
        case .absoluteURI: return ["Link: \(name(record.type))"]
        case .nfcExternal:
            if record.type == Data("android.com:pkg".utf8) { return ["Android app: \(name(record.payload))"] }
            return ["External: \(name(record.type)), \(size)"] + hex(record.payload)
        case .unknown, .unchanged: return ["Data: \(size)"] + hex(record.payload)
        }
    }

    /// A link. A link for a text message is its number and its text: `sms:NUMBER?body=TEXT`, also with `&` (RFC 5724).
    private static func link(_ url: String) -> [String] {
        guard url.lowercased().hasPrefix("sms:") else { return ["Link: \(url)"] }
        let parts = url.dropFirst(4).split(maxSplits: 1) { $0 == "?" || $0 == "&" }
        let body = parts.dropFirst().first?.split(separator: "&").first { $0.lowercased().hasPrefix("body=") }
        let text = body.map { String($0.dropFirst(5)) }.map { $0.removingPercentEncoding ?? $0 }
        return ["Text message to \(parts.first ?? "nobody")"] + (text.map(lines) ?? [])
    }

    /// The name of a contact, and its other values (RFC 2426); nil if it has no name.
    private static func contact(_ card: Data) -> [String]? {
        let labels = ["ORG": "Organization", "TEL": "Phone", "EMAIL": "Email", "URL": "Website", "NOTE": "Note"]
        let text = String(decoding: card.prefix(4000), as: UTF8.self).replacing("\r\n", with: "\n")
        var name: String?
        var values: [String] = []
        // A line that begins with a space continues the line before.
        for line in text.replacing("\n ", with: "").replacing("\n\t", with: "").split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let property = line[..<colon].prefix { $0 != ";" }.split(separator: ".").last?.uppercased() ?? ""
            let value = String(line[line.index(after: colon)...]).replacing("\\n", with: " ").replacing("\\", with: "")
            if property == "FN" { name = name ?? value }
            if let label = labels[property] { values.append("\(label): \(value)") }
        }
        return name.map { ["Contact: \($0)"] + values }
    }

    private static func name(of format: NFCTypeNameFormat) -> String {
        let names = ["empty", "well-known", "media", "absolute URI", "external", "unknown", "unchanged"]
        return "\(format.rawValue), \(names[Int(format.rawValue)])"
    }

    private static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }

    private static func name(_ data: Data) -> String {
        data.isEmpty ? "none" : shown(data, 400) { [String(decoding: $0, as: UTF8.self)] }.joined(separator: " ")
    }

    private static func hex(_ data: Data) -> [String] {
        guard !data.isEmpty else { return [] }
        return shown(data, 256) { [$0.map { String(format: "%02x", $0) }.joined()] }
    }

    /// Some cards hold many kilobytes, so only the first bytes are shown.
    private static func shown(_ data: Data, _ limit: Int, _ lines: (Data) -> [String]) -> [String] {
        let rest = data.count - limit
        guard rest > 0 else { return lines(data) }
        let more = rest == 1 ? "1 more byte, which is not shown" : "\(rest) more bytes, which are not shown"
        return lines(data.prefix(limit)) + ["… and \(more)"]
    }
}

extension PhoneScreen.Item {
    /// The item as lines for a terminal. Buttons and alerts have no lines.
    var lines: [String] {
        switch kind {
        case .text, .heading: return text.components(separatedBy: "\n") + (detail.map { [$0] } ?? [])
        case .row where id != nil: return [[detail, badge, text].compactMap(\.self).joined(separator: "  ")]
        case .row:
            let label = "  " + (detail ?? "").padding(toLength: 12, withPad: " ", startingAt: 0)
            return text.components(separatedBy: "\n").enumerated().map { index, line in
                (index == 0 ? label : String(repeating: " ", count: label.count)) + line
            }
        case .button, .alert: return []
        }
    }
}
