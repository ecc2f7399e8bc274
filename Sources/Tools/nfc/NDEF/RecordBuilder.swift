// SPDX-License-Identifier: Apache-2.0
import NDEF
import TextSafety

/// Creates records from JSON written by people and programs.
struct RecordBuilder {
    private let members: JSONMembers
    /// The payload, for kinds whose `decoded` object does not contain it, such as media.
    private let payload: [UInt8]
    private let identifier: [UInt8]

    /// Creates a message from an object with `records`, or from a single record.
    static func message(_ value: JSONNode) throws(CommandFailure) -> NDEFMessage {
        let top = try JSONMembers(record: value, 0)
        guard let list = top["records"] else { return NDEFMessage([try record(top)]) }
        guard let values = list.array else { throw top.error("records", "must be an array") }
        var records: [NDEFRecord] = []
        for (index, value) in values.enumerated() { records.append(try record(try JSONMembers(record: value, index))) }
        return NDEFMessage(records)
    }

    /// Creates a record from its bytes if present, otherwise from its decoded content.
    private static func record(_ members: JSONMembers) throws(CommandFailure) -> NDEFRecord {
        let identifier = try members.hex("id_hex")
        if members.has("tnf") {
            try members.check(["tnf", "type_hex", "id_hex", "payload_hex", "decoded"])
            guard let format = TypeNameFormat(rawValue: try members.number("tnf", UInt8.self)) else {
                throw members.error("tnf", "must be 0 to 7")
            }
            let (type, payload) = (try members.hex("type_hex"), try members.hex("payload_hex"))
            return NDEFRecord(format, type: type, identifier: identifier, payload: payload)
        }
        guard let decoded = members["decoded"] else {
            guard members.has("kind") else { throw members.error("kind", "is missing, and so is 'tnf'") }
            return try record(members, identifier: identifier, beside: ["id_hex"])
        }
        guard let inner = JSONMembers(decoded, record: members.record) else {
            throw members.error("decoded", "must be an object")
        }
        try members.check(["decoded", "id_hex", "payload_hex"])
        let payload = members.has("payload_hex") ? try members.hex("payload_hex") : nil
        return try record(inner, identifier: identifier, payload: payload)
    }

    private static func record(
        _ members: JSONMembers,
        identifier: [UInt8],
        payload: [UInt8]? = nil,
        beside others: [String] = []
    ) throws(CommandFailure) -> NDEFRecord {
        if members.has("error") { throw members.error("error", "means that the payload is damaged; give its bytes") }
        let name = try members.string("kind")
        guard let kind = RecordKind(rawValue: name) else {
            let kinds = RecordKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw members.error("kind", "must be one of \(kinds)")
        }
        try members.check(["kind"] + others + kind.members)
        guard payload ?? [] == [] || kind.members.contains("payload_hex") else {
            throw members.error("payload_hex", "can't be combined with the kind \(name), whose content is encoded")
        }
        // A forgotten payload must not become an empty record. Absolute URIs have none.
        if payload == nil, !members.has("payload_hex"), kind.members.contains("payload_hex"), kind != .absoluteURI {
            throw members.error("payload_hex", "is missing; for an empty payload, give \"\"")
        }
        let payload = if let payload { payload } else { try members.hex("payload_hex") }
        do {
            return try RecordBuilder(members: members, payload: payload, identifier: identifier).record(kind)
        } catch let error as NDEFError {
            let message = "Record \(members.record): \(error.reason)"
            throw CommandFailure(error.code.description, message, offset: members.record)
        } catch {
            throw error as? CommandFailure ?? members.error("kind", "can't be encoded")
        }
    }

    private func record(_ kind: RecordKind) throws -> NDEFRecord {
        let content: any TypedRecord
        switch kind {
        case .empty: return NDEFRecord(.empty)
        // `prefix` is ignored: the encoder chooses the longest matching prefix.
        case .uri: content = URIRecord(try members.string("uri"))
        case .text: content = try text()
        case .smartPoster: content = try smartPoster()
        case .media: return .media(type: try members.string("type"), payload: payload, identifier: identifier)
        case .external: return .external(type: try members.string("type"), payload: payload, identifier: identifier)
        case .absoluteURI: return .absoluteURI(try members.string("uri"), payload: payload, identifier: identifier)
        case .androidApplication:
            return .androidApplication(package: try members.string("package"), identifier: identifier)
        case .handoverSelect: content = try handover(.select)
        case .handoverRequest: content = try handover(.request)
        case .handoverMediation: content = try handover(.mediation)
        case .handoverInitiate: content = try handover(.initiate)
        case .handoverCarrier:
            content = HandoverCarrierRecord(
                carrierTypeFormat: try members.optionalNumber("ctf", UInt8.self) ?? 2,
                carrierType: try members.string("carrier_type"),
                data: try members.hex("data_hex")
            )
        case .bluetoothEasyPairing:
            let address = try members.bytes(Array(members.string("address").utf8), "address")
            content = BluetoothEasyPairingRecord(
                address: address,
                structures: try typedValues("eir", AdvertisingData.init(type:value:))
            )
        case .bluetoothLowEnergy:
            content = BluetoothLowEnergyRecord(structures: try typedValues("ad", AdvertisingData.init(type:value:)))
        case .wifi: content = try wifi()
        case .signature: content = try signature()
        case .deviceInformation:
            let elements = try typedValues("elements", DeviceInformationRecord.Element.init(type:value:))
            content = DeviceInformationRecord(elements: elements)
        case .wellKnown:
            let type = try members.bytes(Array(members.string("type_hex").utf8), "type_hex")
            return NDEFRecord(.wellKnown, type: type, identifier: identifier, payload: payload)
        case .unknown: return NDEFRecord(.unknown, identifier: identifier, payload: payload)
        }
        return try content.makeRecord(identifier: identifier)
    }

    private func text() throws(CommandFailure) -> TextRecord {
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

    /// Reads an array of values that each have a type.
    private func typedValues<Value>(
        _ key: String,
        _ make: (UInt8, [UInt8]) -> Value
    ) throws(CommandFailure) -> [Value] {
        var values: [Value] = []
        for object in try members.objects(key, of: ["type", "value_hex"]) {
            values.append(make(try object.number("type", UInt8.self), try object.hex("value_hex")))
        }
        return values
    }

    private func version(_ text: String, example: String) throws(CommandFailure) -> (major: UInt8, minor: UInt8) {
        let numbers = text.split(separator: ".").map { UInt8($0) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1], major < 16, minor < 16 else {
            throw members.error("version", "must be two numbers from 0 to 15, as in \(example)")
        }
        return (major, minor)
    }

    private func smartPoster() throws(CommandFailure) -> SmartPosterRecord {
        var poster = SmartPosterRecord(uri: URIRecord(try members.string("uri")))
        let titles = try members.optional("titles", "must be an object of texts by language", JSONMembers.object) ?? [:]
        for (language, title) in titles.sorted(by: { $0.key < $1.key }) {
            guard let text = title.string else { throw members.error("titles", "must have only strings as values") }
            guard LanguageCode.isValid(language) else {
                throw members.error("titles", "must have keys that are each \(LanguageCode.requirement)")
            }
            poster.titles.append(TextRecord(text, language: language))
        }
        poster.action = try action()
        poster.size = try members.optionalNumber("size", UInt32.self)
        poster.type = try members.optionalString("type")
        for icon in try members.array("icons") {
            guard let icon = JSONMembers(icon, record: members.record) else {
                throw members.error("icons", "must be objects with 'type' and 'data_hex' to be encoded")
            }
            try icon.check(["type", "data_hex"])
            poster.icons.append(.init(type: try icon.string("type"), data: try icon.hex("data_hex")))
        }
        return poster
    }

    private func action() throws(CommandFailure) -> SmartPosterRecord.Action? {
        guard let action = members["action"] else { return nil }
        if case .number = action.content { return .reserved(try members.number("action", UInt8.self)) }
        switch action.string {
        case "do": return .perform
        case "save": return .save
        case "edit": return .edit
        default: throw members.error("action", "must be do, save, edit or a number")
        }
    }

    private func handover(_ role: HandoverRecord.Role) throws(CommandFailure) -> HandoverRecord {
        let (major, minor) = try version(members.string("version"), example: "1.5")
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

    private func wifi() throws -> WiFiRecord {
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
        // A network without a key is open. Otherwise it defaults to WPA2 with AES.
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

    private func signature() throws(CommandFailure) -> SignatureRecord {
        let (major, minor) = try version(members.optionalString("version") ?? "2.0", example: "2.0")
        var certificates: [[UInt8]] = []
        for certificate in try members.strings("certs_hex") {
            certificates.append(try members.bytes(Array(certificate.utf8), "certs_hex"))
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
    /// The allowed keys of this kind's `decoded` object besides `kind`. They include `payload_hex` if the other keys do
    /// not determine the payload.
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

/// The members of a JSON object, read by key and type. If a key is repeated, the last value is used. Errors name the
/// record and the key. Null counts as missing.
struct JSONMembers {
    private let members: [String: JSONNode]
    /// The index of the record that contains the object.
    let record: Int

    /// Creates the members; nil if the value is not an object.
    init?(_ value: JSONNode, record: Int) {
        guard let members = Self.object(value) else { return nil }
        self.members = members
        self.record = record
    }

    init(record value: JSONNode, _ index: Int) throws(CommandFailure) {
        guard let members = JSONMembers(value, record: index) else {
            throw CommandFailure("bad-record", "Record \(index) is not an object.", offset: index)
        }
        self = members
    }

    static func object(_ value: JSONNode) -> [String: JSONNode]? {
        guard case .object(let members) = value.content else { return nil }
        return Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
    }

    subscript(key: String) -> JSONNode? {
        members[key].flatMap { if case .null = $0.content { nil } else { $0 } }
    }

    func has(_ key: String) -> Bool { self[key] != nil }

    func error(_ key: String, _ what: String) -> CommandFailure {
        CommandFailure("bad-record", "In record \(record), '\(key)' \(what).", offset: record)
    }

    /// Reads a value with `read`; nil if the member is missing.
    func optional<Value>(
        _ key: String,
        _ what: String,
        _ read: (JSONNode) -> Value?
    ) throws(CommandFailure) -> Value? {
        guard let node = self[key] else { return nil }
        guard let value = read(node) else { throw error(key, what) }
        return value
    }

    func string(_ key: String) throws(CommandFailure) -> String {
        guard let text = try optionalString(key) else { throw error(key, "is missing") }
        return text
    }

    func optionalString(_ key: String) throws(CommandFailure) -> String? {
        try optional(key, "must be a string", \.string)
    }

    func number<Number: FixedWidthInteger>(_ key: String, _ type: Number.Type) throws(CommandFailure) -> Number {
        guard let number = try optionalNumber(key, type) else { throw error(key, "is missing") }
        return number
    }

    func optionalNumber<Number: FixedWidthInteger>(
        _ key: String,
        _ type: Number.Type
    ) throws(CommandFailure) -> Number? {
        let text = try optional(key, "must be a number") { node in
            if case .number(let text) = node.content { text } else { nil }
        }
        // 2.0 and 1e2 are valid integers too.
        guard let text, let number = Double(text).flatMap(Number.init(exactly:)) else {
            if text == nil { return nil }
            throw error(key, "must be a whole number from \(Number.min) to \(Number.max)")
        }
        return number
    }

    func bool(_ key: String) throws(CommandFailure) -> Bool {
        try optional(key, "must be true or false", \.bool) ?? false
    }

    /// Reads hexadecimal bytes; empty if the member is missing.
    func hex(_ key: String) throws(CommandFailure) -> [UInt8] {
        let text = try optional(key, "must be a string") { node in
            if case .string(let utf8) = node.content { utf8 } else { nil }
        }
        return try bytes(text ?? [], key)
    }

    func bytes(_ text: [UInt8], _ key: String) throws(CommandFailure) -> [UInt8] {
        guard case .success(let bytes) = HexText.bytes(text[...]) else {
            throw error(key, "must be hex, two digits per byte")
        }
        return bytes
    }

    func array(_ key: String) throws(CommandFailure) -> [JSONNode] {
        try optional(key, "must be an array", \.array) ?? []
    }

    func strings(_ key: String) throws(CommandFailure) -> [String] {
        let nodes = try array(key)
        let strings = nodes.compactMap(\.string)
        guard strings.count == nodes.count else { throw error(key, "must be an array of strings") }
        return strings
    }

    /// Reads an array of objects that may contain only the keys `knownKeys`.
    func objects(_ key: String, of knownKeys: [String]) throws(CommandFailure) -> [JSONMembers] {
        var objects: [JSONMembers] = []
        for value in try array(key) {
            guard let object = JSONMembers(value, record: record) else {
                throw error(key, "must be an array of objects")
            }
            try object.check(knownKeys)
            objects.append(object)
        }
        return objects
    }

    /// Throws if there is an unknown member, because its content would be lost.
    func check(_ knownKeys: [String]) throws(CommandFailure) {
        guard let key = members.keys.filter({ has($0) && !knownKeys.contains($0) }).min() else { return }
        throw error(key, "is unknown here; known members are \(knownKeys.joined(separator: ", "))")
    }
}
