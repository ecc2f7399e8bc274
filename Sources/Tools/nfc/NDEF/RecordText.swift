// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagLink

/// Formats a record as text for people. The lines are escaped when printed, not here.
enum RecordText {
    /// Returns a record's lines: a heading with kind, size, type and identifier, then the content.
    static func lines(_ record: NDEFRecord, number: Int) -> [String] {
        var heading = "  \(number). \(name(record.kind)), \(count(record.payloadCount, "byte"))"
        if !record.typeSlice.isEmpty {
            heading += ", type \(String(nameBytes: record.typeSlice))"
        }
        if !record.identifierSlice.isEmpty {
            heading += ", id \(String(nameBytes: record.identifierSlice))"
        }
        var lines = [heading]
        do {
            lines += body(try record.content(), record).map { "     " + $0 }
        } catch {
            lines.append("     Damaged (\(error.code)): \(error.reason)")
        }
        return lines
    }

    /// Formats a count, such as `1 byte` or `2 bytes`.
    static func count(_ number: Int, _ thing: String) -> String {
        number == 1 ? "1 \(thing)" : "\(number) \(thing)s"
    }

    private static func name(_ kind: RecordKind) -> String {
        switch kind {
        case .empty: "Empty record"
        case .uri: "URI"
        case .text: "Text"
        case .smartPoster: "Smart poster"
        case .media: "Media"
        case .absoluteURI: "Absolute URI"
        case .external: "External"
        case .androidApplication: "Android application"
        case .handoverSelect: "Handover select"
        case .handoverRequest: "Handover request"
        case .handoverMediation: "Handover mediation"
        case .handoverInitiate: "Handover initiate"
        case .handoverCarrier: "Handover carrier"
        case .bluetoothEasyPairing: "Bluetooth pairing"
        case .bluetoothLowEnergy: "Bluetooth Low Energy pairing"
        case .wifi: "Wi-Fi configuration"
        case .signature: "Signature"
        case .deviceInformation: "Device information"
        case .wellKnown: "Well-known"
        case .unknown: "Unknown"
        }
    }
}

extension RecordText {
    /// Formats a record's content, line by line.
    static func body(_ content: RecordContent, _ record: NDEFRecord) -> [String] {
        switch content {
        case .empty: []
        case .uri(let uri): [uri.uri]
        case .text(let text):
            ["\(quoted(text.text)) (\(text.language), \(text.encoding == .utf8 ? "UTF-8" : "UTF-16"))"]
        case .smartPoster(let poster): body(poster)
        case .media(let type): isText(type) ? textOrHex(record) : hex(record)
        case .absoluteURI(let uri): [uri] + (record.payloadCount == 0 ? [] : hex(record))
        case .androidApplication(let package): [package]
        case .external, .wellKnown, .unknown: hasControls(record) ? hex(record) : textOrHex(record)
        case .handover(let handover): body(handover)
        case .handoverCarrier(let carrier): [carrier.carrierType]
        case .bluetoothEasyPairing(let record): [record.addressText] + lines(record.structures)
        case .bluetoothLowEnergy(let record): lines(record.structures)
        case .wifi(let record):
            record.credentials.map { "Network \(quoted($0.ssidText)), key \(quoted($0.keyText))" }
        case .signature(let record):
            [
                "Version \(record.version >> 4).\(record.version & 0x0F), signature type \(record.signatureType), "
                    + "hash type \(record.hashType), \(count(record.certificates.count, "certificate"))"
            ]
        case .deviceInformation(let record): record.elements.map(line)
        }
    }

    private static func line(_ element: DeviceInformationRecord.Element) -> String {
        let text = String(nameBytes: element.value[...])
        return switch element.type {
        case 0: "Vendor: \(text)"
        case 1: "Model: \(text)"
        case 2: "Name: \(text)"
        case 3: "UUID: \(uuid(element.value))"
        case 4: "Version: \(text)"
        default: "Element \(element.type): \(element.value.hexText())"
        }
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        guard bytes.count == 16 else { return bytes.hexText() }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { bytes[$0].hexText() }.joined(separator: "-")
    }

    private static func body(_ poster: SmartPosterRecord) -> [String] {
        var lines = [poster.uri.uri]
        lines += poster.titles.map { "Title: \(quoted($0.text)) (\($0.language))" }
        switch poster.action {
        case nil: break
        case .perform: lines.append("Action: open it")
        case .save: lines.append("Action: save it")
        case .edit: lines.append("Action: edit it")
        case .reserved(let byte): lines.append("Action: \(byte)")
        }
        if let type = poster.type { lines.append("Type: \(type)") }
        if let size = poster.size { lines.append("Size: \(count(Int(size), "byte"))") }
        lines += poster.icons.map { "Icon: \($0.type), \(count($0.data.count, "byte"))" }
        return lines
    }

    private static func body(_ handover: HandoverRecord) -> [String] {
        var lines = ["Version \(handover.version)"]
        lines += handover.carriers.map {
            "Carrier \(quoted(String(nameBytes: $0.reference[...]))), \($0.power)"
        }
        if let failure = handover.failure {
            lines.append("Refused for reason \(failure.reason), data \(failure.data.hexText())")
        }
        return lines
    }

    private static func lines(_ structures: [AdvertisingData]) -> [String] {
        structures.map { structure in
            let isName = structure.type == 8 || structure.type == 9
            let value = isName ? quoted(String(nameBytes: structure.value[...])) : structure.value.hexText()
            return isName ? "Name \(value)" : "Data type \(structure.type): \(value)"
        }
    }

    private static func isText(_ type: String) -> Bool {
        let type = type.lowercased()
        return type.hasPrefix("text/") || type.hasPrefix("application/json")
    }

    /// Whether a payload contains control characters other than tabs and line ends, so that it is not text.
    private static func hasControls(_ record: NDEFRecord) -> Bool {
        record.payloadSlice.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) || $0 == 0x7F }
    }

    private static func textOrHex(_ record: NDEFRecord) -> [String] {
        guard record.payloadCount <= 4096, let text = String(validating: record.payloadSlice, as: UTF8.self) else {
            return hex(record)
        }
        return text.isEmpty ? [] : [quoted(text)]
    }

    private static func hex(_ record: NDEFRecord) -> [String] {
        guard record.payloadCount > 0 else { return [] }
        let start = record.payloadSlice.prefix(32).hexText()
        return [record.payloadCount > 32 ? "\(start)…" : start]
    }

    private static func quoted(_ text: String) -> String { "\u{201C}\(text)\u{201D}" }
}
