// SPDX-License-Identifier: Apache-2.0
import NDEF

extension NDEFRecord {
    /// The record's content, in the form of the conformance vectors.
    var decodedJSON: JSONValue {
        var members: [String: JSONValue] = [:]
        do { members = try content().members } catch { members["error"] = .string(error.code.description) }
        members["kind"] = .string(kind.rawValue)
        return .object(members)
    }
}

private func hex(_ bytes: [UInt8]) -> JSONValue { .string(Hex.text(bytes)) }
private func text(_ bytes: [UInt8]) -> JSONValue { .string(String(decoding: bytes, as: UTF8.self)) }
private func number(_ value: some BinaryInteger) -> JSONValue { .number(Int(value)) }

/// Elements with a type and a value.
private func elements(_ list: [(UInt8, [UInt8])]) -> JSONValue {
    .array(list.map { .object(["type": number($0.0), "value_hex": hex($0.1)]) })
}

extension RecordContent {
    fileprivate var members: [String: JSONValue] {
        switch self {
        case .empty, .wellKnown, .unknown: [:]
        case .uri(let uri): uri.members
        case .text(let text):
            [
                "text": .string(text.text), "language": .string(text.language),
                "encoding": .string(text.encoding == .utf8 ? "UTF-8" : "UTF-16"),
            ]
        case .smartPoster(let poster): poster.members
        case .media(let type), .external(let type): ["type": .string(type)]
        case .absoluteURI(let uri): ["uri": .string(uri)]
        case .androidApplication(let package): ["package": .string(package)]
        case .handover(let handover): handover.members
        case .handoverCarrier(let carrier):
            [
                "ctf": number(carrier.carrierTypeFormat), "carrier_type": .string(carrier.carrierType),
                "data_hex": hex(carrier.data),
            ]
        case .bluetoothEasyPairing(let record):
            ["address": .string(record.addressText), "eir": elements(record.structures.map { ($0.type, $0.value) })]
        case .bluetoothLowEnergy(let record): ["ad": elements(record.structures.map { ($0.type, $0.value) })]
        case .wifi(let record): record.members
        case .signature(let record): record.members
        case .deviceInformation(let record): ["elements": elements(record.elements.map { ($0.type, $0.value) })]
        }
    }
}

extension URIRecord {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["uri": .string(uri), "prefix": number(prefixCode)]
        if hasReservedPrefix { members["rfu_prefix"] = .bool(true) }
        return members
    }
}

extension SmartPosterRecord {
    fileprivate var members: [String: JSONValue] {
        var byLanguage: [String: JSONValue] = [:]
        for title in titles { byLanguage[title.language] = .string(title.text) }
        var members: [String: JSONValue] = [
            "uri": .string(uri.uri), "titles": .object(byLanguage), "icons": .array(icons.map { .string($0.type) }),
        ]
        switch action {
        case nil: break
        case .perform: members["action"] = .string("do")
        case .save: members["action"] = .string("save")
        case .edit: members["action"] = .string("edit")
        case .reserved(let byte): members["action"] = number(byte)
        }
        members["size"] = size.map(number)
        members["type"] = type.map(JSONValue.string)
        return members
    }
}

extension HandoverRecord {
    fileprivate var members: [String: JSONValue] {
        let list: [JSONValue] = carriers.map {
            .object([
                "power": .string("\($0.power)"), "ref": text($0.reference),
                "aux": .array($0.auxiliaryReferences.map(text)),
            ])
        }
        var members: [String: JSONValue] = ["version": .string(version.description), "carriers": .array(list)]
        members["random"] = collisionNumber.map(number)
        members["error_reason"] = failure.map { number($0.reason) }
        members["error_data_hex"] = failure.map { hex($0.data) }
        return members
    }
}

extension WiFiRecord {
    fileprivate var members: [String: JSONValue] {
        let networks: [JSONValue] = credentials.map { credential in
            var members: [String: JSONValue] = [
                "ssid": .string(credential.ssidText), "key": .string(credential.keyText),
            ]
            members["auth"] = credential.authentication.map(number)
            members["enc"] = credential.encryption.map(number)
            members["mac_hex"] = credential.macAddress.map(hex)
            return .object(members)
        }
        let list: [JSONValue] = attributes.map {
            .object(["id": hex([UInt8($0.id >> 8), UInt8($0.id & 0xFF)]), "value_hex": hex($0.value)])
        }
        return ["attributes": .array(list), "credentials": .array(networks)]
    }
}

extension SignatureRecord {
    fileprivate var members: [String: JSONValue] {
        [
            "version": .string("\(version >> 4).\(version & 0x0F)"), "uri_present": .bool(isSignatureURI),
            "signature_type": number(signatureType), "hash_type": number(hashType), "signature_hex": hex(signature),
            "cert_format": number(certificateFormat), "certs_hex": .array(certificates.map(hex)),
        ]
    }
}
