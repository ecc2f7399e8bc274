// SPDX-License-Identifier: Apache-2.0
import NDEF

extension NDEFRecord {
    /// What the record says, in the form of the conformance vectors.
    var decodedJSON: JSONValue {
        var members: [String: JSONValue] = [:]
        do {
            members = try content().members
        } catch {
            members["error"] = .string(error.code.description)
        }
        members["kind"] = .string(kind.rawValue)
        return .object(members)
    }
}

extension RecordContent {
    fileprivate var members: [String: JSONValue] {
        switch self {
        case .empty, .wellKnown, .unknown: [:]
        case .uri(let uri): Self.members(uri)
        case .text(let text):
            [
                "text": .string(text.text), "language": .string(text.language),
                "encoding": text.encoding == .utf8 ? "UTF-8" : "UTF-16",
            ]
        case .smartPoster(let poster): Self.members(poster)
        case .media(let type), .external(let type): ["type": .string(type)]
        case .absoluteURI(let uri): ["uri": .string(uri)]
        case .androidApplication(let package): ["package": .string(package)]
        case .handover(let handover): Self.members(handover)
        case .handoverCarrier(let carrier):
            [
                "ctf": .number(Int(carrier.carrierTypeFormat)), "carrier_type": .string(carrier.carrierType),
                "data_hex": .string(Hex.text(carrier.data)),
            ]
        case .bluetoothEasyPairing(let record):
            ["address": .string(record.addressText), "eir": Self.array(record.structures)]
        case .bluetoothLowEnergy(let record): ["ad": Self.array(record.structures)]
        case .wifi(let record): Self.members(record)
        case .signature(let record): Self.members(record)
        case .deviceInformation(let record):
            [
                "elements": .array(
                    record.elements.map {
                        .object(["type": .number(Int($0.type)), "value_hex": .string(Hex.text($0.value))])
                    }
                )
            ]
        }
    }

    private static func members(_ uri: URIRecord) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["uri": .string(uri.uri), "prefix": .number(Int(uri.prefixCode))]
        if uri.hasReservedPrefix { members["rfu_prefix"] = .bool(true) }
        return members
    }

    private static func members(_ poster: SmartPosterRecord) -> [String: JSONValue] {
        var titles: [String: JSONValue] = [:]
        for title in poster.titles { titles[title.language] = .string(title.text) }
        var members: [String: JSONValue] = [
            "uri": .string(poster.uri.uri), "titles": .object(titles),
            "icons": .array(poster.icons.map { .string($0.type) }),
        ]
        switch poster.action {
        case nil: break
        case .perform: members["action"] = "do"
        case .save: members["action"] = "save"
        case .edit: members["action"] = "edit"
        case .reserved(let byte): members["action"] = .number(Int(byte))
        }
        if let size = poster.size { members["size"] = .number(Int(size)) }
        if let type = poster.type { members["type"] = .string(type) }
        return members
    }

    private static func members(_ handover: HandoverRecord) -> [String: JSONValue] {
        let carriers: [JSONValue] = handover.carriers.map { carrier in
            .object([
                "power": .string("\(carrier.power)"),
                "ref": .string(String(decoding: carrier.reference, as: UTF8.self)),
                "aux": .array(
                    carrier.auxiliaryReferences.map { .string(String(decoding: $0, as: UTF8.self)) }
                ),
            ])
        }
        var members: [String: JSONValue] = [
            "version": .string(handover.version.description), "carriers": .array(carriers),
        ]
        if let number = handover.collisionNumber { members["random"] = .number(Int(number)) }
        if let failure = handover.failure {
            members["error_reason"] = .number(Int(failure.reason))
            members["error_data_hex"] = .string(Hex.text(failure.data))
        }
        return members
    }

    private static func array(_ structures: [AdvertisingData]) -> JSONValue {
        .array(
            structures.map { .object(["type": .number(Int($0.type)), "value_hex": .string(Hex.text($0.value))]) }
        )
    }

    private static func members(_ record: WiFiRecord) -> [String: JSONValue] {
        let credentials: [JSONValue] = record.credentials.map { credential in
            var members: [String: JSONValue] = [
                "ssid": .string(credential.ssidText), "key": .string(credential.keyText),
            ]
            members["auth"] = credential.authentication.map { .number(Int($0)) }
            members["enc"] = credential.encryption.map { .number(Int($0)) }
            members["mac_hex"] = credential.macAddress.map { .string(Hex.text($0)) }
            return .object(members)
        }
        let attributes: [JSONValue] = record.attributes.map {
            .object([
                "id": .string(Hex.text([UInt8($0.id >> 8), UInt8($0.id & 0xFF)])),
                "value_hex": .string(Hex.text($0.value)),
            ])
        }
        return ["attributes": .array(attributes), "credentials": .array(credentials)]
    }

    private static func members(_ record: SignatureRecord) -> [String: JSONValue] {
        [
            "version": .string("\(record.version >> 4).\(record.version & 0x0F)"),
            "uri_present": .bool(record.isSignatureURI),
            "signature_type": .number(Int(record.signatureType)), "hash_type": .number(Int(record.hashType)),
            "signature_hex": .string(Hex.text(record.signature)),
            "cert_format": .number(Int(record.certificateFormat)),
            "certs_hex": .array(record.certificates.map { .string(Hex.text($0)) }),
        ]
    }
}
