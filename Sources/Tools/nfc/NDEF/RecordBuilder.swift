// SPDX-License-Identifier: Apache-2.0
import NDEF
import TextSafety

struct RecordBuilder {
    let members: JSONMembers
    /// The payload of kinds whose `decoded` object does not contain it, such as media.
    let payload: [UInt8]
    let identifier: [UInt8]

    func record(_ kind: RecordKind) throws -> NDEFRecord {
        switch kind {
        case .empty:
            return NDEFRecord(.empty)
        case .uri:
            return try uri().makeRecord(identifier: identifier)
        case .text:
            return try text().makeRecord(identifier: identifier)
        case .smartPoster:
            return try smartPoster().makeRecord(identifier: identifier)
        case .media:
            return .media(type: try members.string("type"), payload: payload, identifier: identifier)
        case .external:
            return .external(type: try members.string("type"), payload: payload, identifier: identifier)
        case .absoluteURI:
            return .absoluteURI(try members.string("uri"), payload: payload, identifier: identifier)
        case .androidApplication:
            return .androidApplication(package: try members.string("package"), identifier: identifier)
        case .handoverSelect: return try handover(.select).makeRecord(identifier: identifier)
        case .handoverRequest: return try handover(.request).makeRecord(identifier: identifier)
        case .handoverMediation: return try handover(.mediation).makeRecord(identifier: identifier)
        case .handoverInitiate: return try handover(.initiate).makeRecord(identifier: identifier)
        case .handoverCarrier:
            let carrier = HandoverCarrierRecord(
                carrierTypeFormat: try members.optionalNumber("ctf", UInt8.self) ?? 2,
                carrierType: try members.string("carrier_type"),
                data: try members.hex("data_hex")
            )
            return try carrier.makeRecord(identifier: identifier)
        case .bluetoothEasyPairing:
            let record = BluetoothEasyPairingRecord(
                address: try members.bytes(try members.string("address"), "address"),
                structures: try structures("eir")
            )
            return try record.makeRecord(identifier: identifier)
        case .bluetoothLowEnergy:
            return try BluetoothLowEnergyRecord(structures: try structures("ad")).makeRecord(identifier: identifier)
        case .wifi:
            return try wifi().makeRecord(identifier: identifier)
        case .signature:
            return try signature().makeRecord(identifier: identifier)
        case .deviceInformation:
            let elements = try members.objects("elements", of: ["type", "value_hex"]).map {
                DeviceInformationRecord.Element(type: try $0.number("type", UInt8.self), value: try $0.hex("value_hex"))
            }
            return try DeviceInformationRecord(elements: elements).makeRecord(identifier: identifier)
        case .wellKnown:
            let type = try members.bytes(try members.string("type_hex"), "type_hex")
            return NDEFRecord(.wellKnown, type: type, identifier: identifier, payload: payload)
        case .unknown:
            return NDEFRecord(.unknown, identifier: identifier, payload: payload)
        }
    }

    /// A URI. `prefix` is ignored: the longest one that fits is written.
    private func uri() throws(InputError) -> URIRecord { URIRecord(try members.string("uri")) }

    private func text() throws(InputError) -> TextRecord {
        let encoding: TextRecord.Encoding
        switch try members.optionalString("encoding") ?? "UTF-8" {
        case "UTF-8": encoding = .utf8
        case "UTF-16": encoding = .utf16
        default: throw members.error("encoding", "must be UTF-8 or UTF-16")
        }
        let language = try members.optionalString("language") ?? "en"
        guard LanguageCode.isValid(language) else {
            throw members.error("language", "must be \(LanguageCode.requirement)")
        }
        return TextRecord(try members.string("text"), language: language, encoding: encoding)
    }

    private func structures(_ key: String) throws -> [AdvertisingData] {
        try members.objects(key, of: ["type", "value_hex"]).map {
            AdvertisingData(type: try $0.number("type", UInt8.self), value: try $0.hex("value_hex"))
        }
    }
}

extension RecordBuilder {
    func smartPoster() throws(InputError) -> SmartPosterRecord {
        var poster = SmartPosterRecord(uri: URIRecord(try members.string("uri")))
        switch members.members["titles"] {
        case nil, .null: break
        case .object(let titles):
            let last = Dictionary(titles.map { ($0.key, $0.value) }) { _, last in last }
            for (language, title) in last.sorted(by: { $0.key < $1.key }) {
                guard let text = title.string else { throw members.error("titles", "must have strings") }
                guard LanguageCode.isValid(language) else {
                    throw members.error("titles", "must have keys that are each \(LanguageCode.requirement)")
                }
                poster.titles.append(TextRecord(text, language: language))
            }
        default: throw members.error("titles", "must be an object of texts by language")
        }
        poster.action = try action()
        poster.size = try members.optionalNumber("size", UInt32.self)
        poster.type = try members.optionalString("type")
        for icon in try members.array("icons") {
            guard case .object = icon else {
                throw members.error("icons", "must be objects with 'type' and 'data_hex' to be encoded")
            }
            let icon = try JSONMembers(icon, record: members.record)
            try icon.check(["type", "data_hex"])
            poster.icons.append(.init(type: try icon.string("type"), data: try icon.hex("data_hex")))
        }
        return poster
    }

    private func action() throws(InputError) -> SmartPosterRecord.Action? {
        switch members.members["action"] {
        case nil, .null: return nil
        case .string(Array("do".utf8)): return .perform
        case .string(Array("save".utf8)): return .save
        case .string(Array("edit".utf8)): return .edit
        case .number: return .reserved(try members.number("action", UInt8.self))
        default: throw members.error("action", "must be do, save, edit or a number")
        }
    }

    func handover(_ role: HandoverRecord.Role) throws(InputError) -> HandoverRecord {
        let numbers = try members.string("version").split(separator: ".").map { UInt8($0) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1], major < 16, minor < 16 else {
            throw members.error("version", "must be two numbers of 0 to 15, as in 1.5")
        }
        var record = HandoverRecord(role, version: .init(major, minor), carriers: [])
        for carrier in try members.objects("carriers", of: ["power", "ref", "aux"]) {
            let name = try carrier.optionalString("power") ?? "active"
            guard let power = AlternativeCarrier.PowerState.allCases.first(where: { "\($0)" == name }) else {
                throw members.error("power", "must be inactive, active, activating or unknown")
            }
            record.carriers.append(
                AlternativeCarrier(
                    power: power,
                    reference: Array(try carrier.string("ref").utf8),
                    auxiliaryReferences: try carrier.strings("aux").map { Array($0.utf8) }
                )
            )
        }
        record.collisionNumber = try members.optionalNumber("random", UInt16.self)
        if let reason = try members.optionalNumber("error_reason", UInt8.self) {
            record.failure = .init(reason: reason, data: try members.hex("error_data_hex"))
        }
        return record
    }

    func wifi() throws -> WiFiRecord {
        if members.has("attributes") {
            let attributes = try members.objects("attributes", of: ["id", "value_hex"]).map { attribute in
                guard let id = UInt16(try attribute.string("id"), radix: 16) else {
                    throw members.error("id", "must be a number of 16 bits in hex")
                }
                return WiFiRecord.Attribute(id: id, value: try attribute.hex("value_hex"))
            }
            return try WiFiRecord(attributes: attributes)
        }
        let credentials = try members.objects("credentials", of: ["ssid", "key", "auth", "enc", "mac_hex"])
        guard let credential = credentials.first else {
            throw members.error("credentials", "is missing, and so is 'attributes'")
        }
        guard credentials.count == 1 else {
            throw members.error("credentials", "must be one network; for several, give 'attributes'")
        }
        // A network without a key is open; any other one is WPA2 with AES.
        let key = try credential.optionalString("key") ?? ""
        let anyAddress = [UInt8](repeating: 0xFF, count: 6)
        return try WiFiRecord(
            WiFiCredential(
                ssid: try credential.string("ssid"),
                key: key,
                authentication: try credential.optionalNumber("auth", UInt16.self) ?? (key.isEmpty ? 1 : 0x20),
                encryption: try credential.optionalNumber("enc", UInt16.self) ?? (key.isEmpty ? 1 : 8),
                macAddress: credential.has("mac_hex") ? try credential.hex("mac_hex") : anyAddress
            )
        )
    }

    func signature() throws(InputError) -> SignatureRecord {
        let numbers = (try members.optionalString("version") ?? "2.0").split(separator: ".").map { UInt8($0) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1], major < 16, minor < 16 else {
            throw members.error("version", "must be two numbers of 0 to 15, as in 2.0")
        }
        var certificates: [[UInt8]] = []
        for certificate in try members.strings("certs_hex") {
            certificates.append(try members.bytes(certificate, "certs_hex"))
        }
        return SignatureRecord(
            version: major << 4 | minor,
            isSignatureURI: try members.bool("uri_present"),
            signatureType: try members.optionalNumber("signature_type", UInt8.self) ?? 11,
            hashType: try members.optionalNumber("hash_type", UInt8.self) ?? 2,
            signature: try members.hex("signature_hex"),
            certificateFormat: try members.optionalNumber("cert_format", UInt8.self) ?? 0,
            certificates: certificates,
            certificateURI: try members.optionalString("cert_uri").map { Array($0.utf8) }
        )
    }
}

extension RecordKind {
    /// The keys that a `decoded` object of the kind can have beside `kind`. `payload_hex` is among them where the content
    /// does not contain the payload.
    var members: [String] {
        switch self {
        case .empty: []
        case .uri: ["uri", "prefix", "rfu_prefix"]
        case .text: ["text", "language", "encoding"]
        case .smartPoster: ["uri", "titles", "icons", "action", "size", "type"]
        case .media, .external: ["type", "payload_hex"]
        case .absoluteURI: ["uri", "payload_hex"]
        case .androidApplication: ["package"]
        case .handoverSelect, .handoverRequest, .handoverMediation, .handoverInitiate:
            ["version", "carriers", "random", "error_reason", "error_data_hex"]
        case .handoverCarrier: ["ctf", "carrier_type", "data_hex"]
        case .bluetoothEasyPairing: ["address", "eir"]
        case .bluetoothLowEnergy: ["ad"]
        case .wifi: ["attributes", "credentials"]
        case .signature:
            [
                "version", "uri_present", "signature_type", "hash_type", "signature_hex", "cert_format", "certs_hex",
                "cert_uri",
            ]
        case .deviceInformation: ["elements"]
        case .wellKnown: ["type_hex", "payload_hex"]
        case .unknown: ["payload_hex"]
        }
    }
}

/// The members of a JSON object, read by key and type. If a key occurs twice, the last value counts. Errors name the record
/// and the key.
struct JSONMembers {
    let members: [String: JSONNode.Content]
    /// The index of the record that contains the object.
    let record: Int

    init(_ value: JSONNode.Content, record: Int) throws(InputError) {
        guard case .object(let members) = value else {
            throw InputError(name: "bad-record", offset: record, message: "Record \(record) is not an object.")
        }
        self.members = Dictionary(members.map { ($0.key, $0.value.content) }) { _, last in last }
        self.record = record
    }

    /// Whether the object has the member, and it isn't null.
    func has(_ key: String) -> Bool {
        switch members[key] {
        case nil, .null: false
        default: true
        }
    }

    func error(_ key: String, _ what: String) -> InputError {
        InputError(name: "bad-record", offset: record, message: "In record \(record), '\(key)' \(what).")
    }

    func string(_ key: String) throws(InputError) -> String {
        guard let text = try optionalString(key) else { throw error(key, "is missing") }
        return text
    }

    func optionalString(_ key: String) throws(InputError) -> String? {
        switch members[key] {
        case nil, .null: return nil
        case .string(let utf8): return String(decoding: utf8, as: UTF8.self)
        default: throw error(key, "must be a string")
        }
    }

    func number<Number: FixedWidthInteger>(_ key: String, _ type: Number.Type) throws(InputError) -> Number {
        guard let number = try optionalNumber(key, type) else { throw error(key, "is missing") }
        return number
    }

    func optionalNumber<Number: FixedWidthInteger>(_ key: String, _ type: Number.Type) throws(InputError) -> Number? {
        switch members[key] {
        case nil, .null: return nil
        case .number(let text):
            // 2.0 and 1e2 are whole numbers too.
            guard let number = Double(text).flatMap(Number.init(exactly:)) else {
                throw error(key, "must be a whole number of \(Number.min) to \(Number.max)")
            }
            return number
        default: throw error(key, "must be a number")
        }
    }

    func bool(_ key: String) throws(InputError) -> Bool {
        switch members[key] {
        case nil, .null: return false
        case .bool(let value): return value
        default: throw error(key, "must be true or false")
        }
    }

    /// Bytes in hex; empty when the member is missing.
    func hex(_ key: String) throws(InputError) -> [UInt8] {
        switch members[key] {
        case nil, .null: return []
        case .string(let utf8): return try bytes(utf8, key)
        default: throw error(key, "must be a string")
        }
    }

    func bytes(_ text: String, _ key: String) throws(InputError) -> [UInt8] { try bytes(Array(text.utf8), key) }

    private func bytes(_ utf8: [UInt8], _ key: String) throws(InputError) -> [UInt8] {
        switch HexText.bytes(utf8[...]) {
        case .success(let bytes): return bytes
        case .failure: throw error(key, "must be hex, two digits per byte")
        }
    }

    func array(_ key: String) throws(InputError) -> [JSONNode.Content] {
        switch members[key] {
        case nil, .null: return []
        case .array(let elements): return elements.map(\.content)
        default: throw error(key, "must be an array")
        }
    }

    func strings(_ key: String) throws(InputError) -> [String] {
        var strings: [String] = []
        for value in try array(key) {
            guard case .string(let utf8) = value else { throw error(key, "must be an array of strings") }
            strings.append(String(decoding: utf8, as: UTF8.self))
        }
        return strings
    }

    /// The objects of an array. They can have the `known` keys.
    func objects(_ key: String, of known: [String]) throws(InputError) -> [JSONMembers] {
        var objects: [JSONMembers] = []
        for value in try array(key) {
            guard case .object = value else { throw error(key, "must be an array of objects") }
            let object = try JSONMembers(value, record: record)
            try object.check(known)
            objects.append(object)
        }
        return objects
    }

    /// Refuses a member that nothing reads, because its content would be lost.
    func check(_ known: [String]) throws(InputError) {
        guard let key = members.keys.filter({ has($0) && !known.contains($0) }).min() else { return }
        throw error(key, "is unknown here; known are \(known.joined(separator: ", "))")
    }
}
