// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Describes a message's records for users.
enum MessageWords {
    /// The records as JSON objects with `kind`, `title`, `text` and the fields of that kind.
    ///
    /// - Parameter isWhole: whether to include everything that a page needs for editing, unshortened.
    static func records(of message: [UInt8], isWhole: Bool = false) -> JSON {
        guard !message.isEmpty else { return [] }
        do throws(NDEFError) {
            let decoded = try NDEFMessage(decoding: message)
            return .array(decoded.records.prefix(isWhole ? 1000 : 20).map { record($0, isWhole) })
        } catch {
            return [
                [
                    "kind": "damaged", "title": "Damaged message", "text": .string(error.reason),
                    "damaged_at": .int(error.offset), "size": .int(message.count),
                    "payload_hex": .string(message.prefix(isWhole ? Limits.message : 64).hex),
                ]
            ]
        }
    }

    private static func record(_ record: NDEFRecord, _ isWhole: Bool) -> JSON {
        var members: [String: JSON] = [
            "kind": .string(record.kind.rawValue),
            "type": .string(String(decoding: record.type, as: UTF8.self)),
            "id": .string(String(decoding: record.identifier, as: UTF8.self)),
            "payload_hex": .string(record.payload.prefix(isWhole ? Limits.message : 64).hex),
            "size": .int(record.payloadCount),
        ]
        let (title, text) = words(record)
        members["title"] = .string(title)
        members["text"] = .string(isWhole ? text : String(text.prefix(500)))
        guard isWhole else { return .object(members) }
        members["tnf"] = .int(Int(record.typeNameFormat.rawValue))
        members["type_hex"] = .string(record.type.hex)
        members["fields"] = .array(
            fields(record).map { ["name": .string($0.name), "value": .string($0.value)] }
        )
        if case .text(let text)? = try? record.content() { members["language"] = .string(text.language) }
        return .object(members)
    }

    private static func words(_ record: NDEFRecord) -> (title: String, text: String) {
        let content: RecordContent
        do {
            content = try record.content()
        } catch {
            return ("Damaged record", error.reason)
        }
        switch content {
        case .empty: return ("Empty", "")
        case .uri(let uri): return ("Link", uri.uri)
        case .text(let text): return ("Text, \(text.language)", text.text)
        case .smartPoster(let poster):
            return ("Smart poster", ([poster.uri.uri] + poster.titles.map(\.text)).joined(separator: "\n"))
        case .media(let type): return (type == "text/vcard" ? "Contact" : "Data, \(type)", text(record, type))
        case .absoluteURI(let uri): return ("Absolute link", uri)
        case .external(let type): return ("External, \(type)", bytes(record))
        case .androidApplication(let package): return ("Android app", package)
        case .wifi(let wifi):
            return ("Wi-Fi", wifi.credentials.map(\.ssidText).joined(separator: ", "))
        case .handover: return ("Handover", bytes(record))
        case .handoverCarrier: return ("Handover carrier", bytes(record))
        case .bluetoothEasyPairing, .bluetoothLowEnergy: return ("Bluetooth", bytes(record))
        case .signature: return ("Signature", bytes(record))
        case .deviceInformation(let device):
            return ("Device", [device.vendor, device.model].compactMap { $0 }.joined(separator: " "))
        case .wellKnown(let type): return ("NFC Forum type \(type)", bytes(record))
        case .unknown: return ("Unknown", bytes(record))
        }
    }

    /// Further details of a record.
    private static func fields(_ record: NDEFRecord) -> [(name: String, value: String)] {
        switch try? record.content() {
        case .text(let text): [("Language", text.language), ("Encoding", text.encoding == .utf8 ? "UTF-8" : "UTF-16")]
        case .wifi(let wifi): wifi.credentials.flatMap { [("Network", $0.ssidText), ("Password", $0.keyText)] }
        case .smartPoster(let poster): poster.titles.map { ("Title, \($0.language)", $0.text) }
        default: []
        }
    }

    /// The payload as text if its type is textual, otherwise as hexadecimal digits.
    private static func text(_ record: NDEFRecord, _ type: String) -> String {
        guard type.hasPrefix("text/") || type.hasSuffix("json"),
            let text = String(validating: record.payload, as: UTF8.self)
        else { return bytes(record) }
        return text
    }

    private static func bytes(_ record: NDEFRecord) -> String { record.payload.prefix(256).hex }
}
