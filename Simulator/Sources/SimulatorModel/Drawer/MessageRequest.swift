// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Creates the message that an action describes with `message_hex`, `records`, `link`, `text`, `contact` or `wifi`.
enum MessageRequest {
    /// - Returns: the message's bytes, empty for an empty tag; nil if the action describes no message.
    static func message(of action: JSON) throws(SimulatorFailure) -> [UInt8]? {
        if let hex = action["message_hex"] { return try message(hex: hex) }
        let records: [NDEFRecord]
        if let list = action["records"] {
            guard let list = list.array else { throw .invalid("\"records\" must be a list of records.") }
            guard list.count <= 50 else { throw .invalid("A message can have at most 50 records here.") }
            var made: [NDEFRecord] = []
            for element in list { made.append(try record(element)) }
            records = made
        } else {
            let kinds = ["link", "text", "contact", "wifi"].filter { action[$0]?.isNull == false }
            guard !kinds.isEmpty else { return nil }
            guard kinds.count == 1, let kind = kinds.first, let value = action[kind] else {
                throw .invalid("Use exactly one of link, text, contact and wifi; for several records use \"records\".")
            }
            records = [try record(kind: kind, value)]
        }
        return try encoded(records)
    }

    private static func message(hex: JSON) throws(SimulatorFailure) -> [UInt8] {
        guard let text = hex.string, text.utf8.count <= 2 * Limits.message else {
            throw .invalid(
                "The NDEF message in hex must be at most \(Limits.message) bytes in hexadecimal digits."
            )
        }
        guard let bytes = [UInt8](hex: text) else {
            throw .invalid("The NDEF message in hex must be pairs of hexadecimal digits.")
        }
        return bytes
    }

    private static func encoded(_ records: [NDEFRecord]) throws(SimulatorFailure) -> [UInt8] {
        guard !records.isEmpty else { return [] }
        do {
            let bytes = try NDEFMessage(records).encoded()
            guard bytes.count <= Limits.message else {
                throw SimulatorFailure.invalid("The message is longer than \(Limits.message) bytes.")
            }
            return bytes
        } catch let error as SimulatorFailure {
            throw error
        } catch {
            throw .invalid("The message can't be encoded: \(error)")
        }
    }

    /// Creates a record from `{"kind": "link", "text": "https://…"}`, or from `tnf`, `type`, `id` and `payload_hex`.
    private static func record(_ element: JSON) throws(SimulatorFailure) -> NDEFRecord {
        if element["tnf"] != nil || element["payload_hex"] != nil && element["kind"]?.string == nil {
            return try rawRecord(element)
        }
        switch element["kind"]?.string {
        case "link", "uri": return try record(kind: "link", element["text"] ?? .null)
        case "text":
            return try textRecord(element["text"]?.string, language: element["language"]?.string ?? "en")
        case "contact", "wifi": return try record(kind: element["kind"]?.string ?? "", element)
        case "mime":
            let type = element["type"]?.string ?? ""
            guard !type.isEmpty, type.utf8.count <= 255 else {
                throw .invalid("Data with a media type needs the media type, \"type\", of at most 255 bytes.")
            }
            return .media(type: type, payload: try payload(element))
        case "external":
            let type = element["type"]?.string ?? ""
            guard type.contains(":"), type.utf8.count <= 255 else {
                throw .invalid(
                    "The type of an external type, \"type\", must be a domain, a colon and a name, as in example.com:ticket."
                )
            }
            return .external(type: type, payload: try payload(element))
        case "android-application":
            guard let package = element["text"]?.string, !package.isEmpty else {
                throw .invalid("An Android app needs the package, \"text\", as in com.example.app.")
            }
            return .androidApplication(package: package)
        case "empty": return NDEFRecord(.empty)
        default:
            throw .invalid(
                "A record's kind must be link, text, contact, wifi, mime, external, android-application or empty; "
                    + "describe any other record by tnf, type_hex and payload_hex."
            )
        }
    }

    private static func payload(_ element: JSON) throws(SimulatorFailure) -> [UInt8] {
        if let text = element["text"]?.string { return Array(text.utf8) }
        guard let bytes = [UInt8](hex: element["payload_hex"]?.string ?? "") else {
            throw .invalid("The payload in hex, \"payload_hex\", must be pairs of hexadecimal digits.")
        }
        return bytes
    }

    private static func rawRecord(_ element: JSON) throws(SimulatorFailure) -> NDEFRecord {
        let formats: [TypeNameFormat] = [.empty, .wellKnown, .media, .absoluteURI, .external, .unknown]
        guard let number = element["tnf"]?.int, formats.indices.contains(number) else {
            throw .invalid("The format (TNF), \"tnf\", must be a number from 0 to 5.")
        }
        let type: [UInt8]
        if let hex = element["type_hex"]?.string {
            guard let bytes = [UInt8](hex: hex) else {
                throw .invalid("The type in hex, \"type_hex\", must be pairs of hexadecimal digits.")
            }
            type = bytes
        } else {
            type = Array((element["type"]?.string ?? "").utf8)
        }
        let identifier = Array((element["id"]?.string ?? "").utf8)
        let payload = try payload(element)
        guard type.count <= 255, identifier.count <= 255 else {
            throw .invalid("A record's type and identifier can each have at most 255 bytes.")
        }
        let isTypeless = number == 0 || number == 5
        guard !isTypeless || type.isEmpty, number != 0 || (identifier.isEmpty && payload.isEmpty) else {
            throw .invalid("A record of format 0 must be empty, and one of format 5 can't have a type.")
        }
        guard isTypeless || !type.isEmpty else { throw .invalid("A record of this format needs a type.") }
        return NDEFRecord(formats[number], type: type, identifier: identifier, payload: payload)
    }

    private static func record(kind: String, _ value: JSON) throws(SimulatorFailure) -> NDEFRecord {
        switch kind {
        case "link":
            guard let link = value.string, link.contains(":"), link.utf8.count <= 8192 else {
                throw .invalid(
                    "The address of a link needs a scheme, as in https://example.com, and can have at most 8192 bytes."
                )
            }
            do {
                return try .uri(link)
            } catch {
                throw .invalid("The link can't be encoded: \(error.reason)")
            }
        case "text":
            if let text = value.string { return try textRecord(text, language: "en") }
            return try textRecord(value["text"]?.string, language: value["language"]?.string ?? "en")
        case "contact": return .media(type: "text/vcard", payload: Array(try card(value).utf8))
        default: return try wifiRecord(value)
        }
    }

    private static func textRecord(_ text: String?, language: String) throws(SimulatorFailure) -> NDEFRecord {
        guard let text else { throw .invalid("The text is missing.") }
        do {
            return try .text(text, language: language)
        } catch {
            throw .invalid("The text can't be encoded: \(error.reason)")
        }
    }

    private static func wifiRecord(_ value: JSON) throws(SimulatorFailure) -> NDEFRecord {
        guard let name = value["ssid"]?.string, (1...32).contains(name.utf8.count) else {
            throw .invalid("The name of the network, \"ssid\", must have 1 to 32 bytes.")
        }
        let key = value["key"]?.string ?? ""
        guard key.isEmpty || (8...64).contains(key.utf8.count) else {
            throw .invalid(
                "The password, \"key\", must have 8 to 64 bytes; leave it empty for an open network."
            )
        }
        do {
            let credential = WiFiCredential(
                ssid: name,
                key: key,
                authentication: key.isEmpty ? 0x0001 : 0x0020,
                encryption: key.isEmpty ? 0x0001 : 0x0008
            )
            return try WiFiRecord(credential).makeRecord()
        } catch {
            throw .invalid("The network can't be encoded: \(error.reason)")
        }
    }

    /// A contact as a vCard 3.0 (RFC 2426).
    private static func card(_ value: JSON) throws(SimulatorFailure) -> String {
        let name = value.string ?? value["name"]?.string ?? ""
        guard !name.isEmpty else { throw .invalid("A contact needs a name.") }
        var lines = ["BEGIN:VCARD", "VERSION:3.0", "N:\(escaped(name));;;;", "FN:\(escaped(name))"]
        for (key, property) in [
            ("phone", "TEL"), ("email", "EMAIL"), ("organization", "ORG"), ("url", "URL"), ("note", "NOTE"),
        ] {
            if let text = value[key]?.string, !text.isEmpty { lines.append("\(property):\(escaped(text))") }
        }
        lines.append("END:VCARD")
        return lines.map { $0 + "\r\n" }.joined()
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\", ",", ";": result += "\\\(character)"
            case "\n", "\r\n": result += "\\n"
            case "\r": continue
            default: result.append(character)
            }
        }
        return result
    }
}
