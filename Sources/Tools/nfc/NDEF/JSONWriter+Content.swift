// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagLink
import TextSafety

extension JSONWriter {
    /// Writes a message as `{"ok":true,"records":[…]}`.
    mutating func message(_ message: NDEFMessage) {
        beginObject()
        member("ok", true)
        key("records")
        beginArray()
        for record in message.records { self.record(record) }
        endArray()
        endObject()
    }

    /// Writes a record: its header fields and decoded content.
    mutating func record(_ record: NDEFRecord) {
        beginObject()
        member("tnf", Int(record.typeNameFormat.rawValue))
        member("type_hex", hex: record.typeSlice)
        member("id_hex", hex: record.identifierSlice)
        member("payload_hex", hex: record.payloadSlice)
        key("decoded")
        beginObject()
        member("kind", record.kind.rawValue)
        do {
            content(try record.content())
        } catch {
            member("error", error.code.description)
        }
        endObject()
        endObject()
    }

    // MARK: Content

    /// Writes the members of a `decoded` object that follow `kind`.
    mutating func content(_ content: RecordContent) {
        switch content {
        case .empty, .wellKnown, .unknown:
            break
        case .uri(let uri):
            member("uri", uri.uri)
            member("prefix", Int(uri.prefixCode))
            if uri.hasReservedPrefix { member("rfu_prefix", true) }
        case .text(let text):
            member("text", text.text)
            member("language", text.language)
            member("encoding", text.encoding == .utf8 ? "UTF-8" : "UTF-16")
        case .smartPoster(let poster): members(of: poster)
        case .media(let type), .external(let type):
            member("type", type)
        case .absoluteURI(let uri):
            member("uri", uri)
        case .androidApplication(let package):
            member("package", package)
        case .handover(let handover): members(of: handover)
        case .handoverCarrier(let carrier):
            member("ctf", Int(carrier.carrierTypeFormat))
            member("carrier_type", carrier.carrierType)
            member("data_hex", hex: carrier.data)
        case .bluetoothEasyPairing(let record):
            members(["address": record.addressText, "eir": record.structures.map { Self.typed($0.type, $0.value) }])
        case .bluetoothLowEnergy(let record):
            members(["ad": record.structures.map { Self.typed($0.type, $0.value) }])
        case .wifi(let record): members(of: record)
        case .signature(let record): members(of: record)
        case .deviceInformation(let record):
            members(["elements": record.elements.map { Self.typed($0.type, $0.value) }])
        }
    }

    private mutating func members(_ object: JSONObject) { object.writeMembers(to: &self) }

    private static func typed(_ type: UInt8, _ value: [UInt8]) -> JSONObject {
        ["type": Int(type), "value_hex": value.hexText()]
    }

    private mutating func members(of poster: SmartPosterRecord) {
        key("titles")
        beginObject()
        for (index, title) in poster.titles.enumerated() {
            // If a language has two titles, use the last, because a JSON object can't hold both.
            guard !poster.titles[(index + 1)...].contains(where: { $0.language == title.language }) else { continue }
            key(title.language)
            value(title.text)
        }
        endObject()
        members(["icons": poster.icons.map(\.type), "uri": poster.uri.uri])
        switch poster.action {
        case nil: break
        case .perform: member("action", "do")
        case .save: member("action", "save")
        case .edit: member("action", "edit")
        case .reserved(let byte): member("action", Int(byte))
        }
        if let size = poster.size { member("size", Int(size)) }
        if let type = poster.type { member("type", type) }
    }

    private mutating func members(of handover: HandoverRecord) {
        let carriers = handover.carriers.map { carrier -> JSONObject in
            [
                "power": "\(carrier.power)", "ref": String(decoding: carrier.reference, as: UTF8.self),
                "aux": carrier.auxiliaryReferences.map { String(decoding: $0, as: UTF8.self) },
            ]
        }
        members(["version": handover.version.description, "carriers": carriers])
        if let number = handover.collisionNumber { member("random", Int(number)) }
        if let failure = handover.failure {
            member("error_reason", Int(failure.reason))
            member("error_data_hex", hex: failure.data)
        }
    }

    private mutating func members(of record: WiFiRecord) {
        let attributes = record.attributes.map { attribute -> JSONObject in
            ["id": attribute.id.bigEndianBytes.hexText(), "value_hex": attribute.value.hexText()]
        }
        let credentials = record.credentials.map { credential -> JSONObject in
            var object: JSONObject = ["ssid": credential.ssidText, "key": credential.keyText]
            if let authentication = credential.authentication { object.append("auth", Int(authentication)) }
            if let encryption = credential.encryption { object.append("enc", Int(encryption)) }
            if let address = credential.macAddress { object.append("mac_hex", address.hexText()) }
            return object
        }
        members(["attributes": attributes, "credentials": credentials])
    }

    private mutating func members(of record: SignatureRecord) {
        members([
            "version": "\(record.version >> 4).\(record.version & 0x0F)", "uri_present": record.isSignatureURI,
            "signature_type": Int(record.signatureType), "hash_type": Int(record.hashType),
            "signature_hex": record.signature.hexText(), "cert_format": Int(record.certificateFormat),
            "certs_hex": record.certificates.map { $0.hexText() },
        ])
        if let uri = record.certificateURI { member("cert_uri", String(decoding: uri, as: UTF8.self)) }
    }
}

extension NDEFRecord: JSONValue {
    func write(to writer: inout JSONWriter) { writer.record(self) }
}
