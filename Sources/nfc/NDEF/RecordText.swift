// SPDX-License-Identifier: Apache-2.0
import NDEF

/// A record as people read it. What comes from the tag is escaped: no control character reaches the terminal.
enum RecordText {
    /// The lines for a record: a heading with its type, size and identifier, then what it says.
    static func lines(_ record: NDEFRecord, number: Int) -> [String] {
        var heading = "  \(number). \(name(record.kind)), \(count(record.payloadCount, "octet"))"
        if !record.typeSlice.isEmpty {
            heading += ", type \(printable(String(nameOctets: record.typeSlice)))"
        }
        if !record.identifierSlice.isEmpty {
            heading += ", id \(printable(String(nameOctets: record.identifierSlice)))"
        }
        var lines = [heading]
        do {
            lines += body(try record.content(), record).map { "     " + printable($0) }
        } catch {
            lines.append("     Damaged (\(error.code)): \(error.reason)")
        }
        return lines
    }

    /// Text without control characters, line breaks included, and without marks that change the direction of text.
    static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
                let escape = scalar == "\n" ? "\\n" : scalar == "\t" ? "\\t" : "\\u{\(String(scalar.value, radix: 16))}"
                result.append(contentsOf: escape.unicodeScalars)
            default:
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// A number of things, `1 octet` or `2 octets`.
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

extension String {
    /// A name that should be ASCII: UTF-8 when it is valid, else one character an octet.
    init(nameOctets octets: ArraySlice<UInt8>) {
        if let text = String(validating: octets, as: UTF8.self) {
            self = text
        } else {
            self = String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
        }
    }
}
