// SPDX-License-Identifier: Apache-2.0
import NDEF
import TextSafety

extension JSONWriter {
    /// `{"ok":true,"records":[…]}`.
    mutating func message(_ message: NDEFMessage) {
        beginObject()
        member("ok", true)
        key("records")
        beginArray()
        for record in message.records { self.record(record) }
        endArray()
        endObject()
    }

    /// `{"ok":false,"error":"…","offset":…,"message":"…"}`.
    mutating func failure(_ name: String, offset: Int, message: String) {
        beginObject()
        member("ok", false)
        member("error", name)
        member("offset", offset)
        member("message", message)
        endObject()
    }

    /// A record: its framing and its decoded content.
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

    /// The members of a `decoded` object after its kind.
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
        case .smartPoster(let poster):
            smartPoster(poster)
        case .media(let type), .external(let type):
            member("type", type)
        case .absoluteURI(let uri):
            member("uri", uri)
        case .androidApplication(let package):
            member("package", package)
        case .handover(let handover):
            self.handover(handover)
        case .handoverCarrier(let carrier):
            member("ctf", Int(carrier.carrierTypeFormat))
            member("carrier_type", carrier.carrierType)
            member("data_hex", hex: carrier.data)
        case .bluetoothEasyPairing(let record):
            member("address", record.addressText)
            structures("eir", record.structures)
        case .bluetoothLowEnergy(let record):
            structures("ad", record.structures)
        case .wifi(let record):
            wifi(record)
        case .signature(let record):
            signature(record)
        case .deviceInformation(let record):
            key("elements")
            beginArray()
            for element in record.elements { typed(element.type, element.value) }
            endArray()
        }
    }

    private mutating func smartPoster(_ poster: SmartPosterRecord) {
        key("titles")
        beginObject()
        for (index, title) in poster.titles.enumerated() {
            // If a language has two titles, the last one counts, because an object can't have both.
            guard !poster.titles[(index + 1)...].contains(where: { $0.language == title.language }) else { continue }
            key(title.language)
            value(title.text)
        }
        endObject()
        key("icons")
        beginArray()
        for icon in poster.icons { value(icon.type) }
        endArray()
        member("uri", poster.uri.uri)
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

    private mutating func handover(_ handover: HandoverRecord) {
        member("version", handover.version.description)
        key("carriers")
        beginArray()
        for carrier in handover.carriers {
            beginObject()
            member("power", "\(carrier.power)")
            member("ref", String(decoding: carrier.reference, as: UTF8.self))
            key("aux")
            beginArray()
            for reference in carrier.auxiliaryReferences { value(String(decoding: reference, as: UTF8.self)) }
            endArray()
            endObject()
        }
        endArray()
        if let number = handover.collisionNumber { member("random", Int(number)) }
        if let failure = handover.failure {
            member("error_reason", Int(failure.reason))
            member("error_data_hex", hex: failure.data)
        }
    }

    private mutating func wifi(_ record: WiFiRecord) {
        key("attributes")
        beginArray()
        for attribute in record.attributes {
            beginObject()
            member("id", hex: [UInt8(attribute.id >> 8), UInt8(attribute.id & 0xFF)])
            member("value_hex", hex: attribute.value)
            endObject()
        }
        endArray()
        key("credentials")
        beginArray()
        for credential in record.credentials {
            beginObject()
            member("ssid", credential.ssidText)
            member("key", credential.keyText)
            if let authentication = credential.authentication { member("auth", Int(authentication)) }
            if let encryption = credential.encryption { member("enc", Int(encryption)) }
            if let address = credential.macAddress { member("mac_hex", hex: address) }
            endObject()
        }
        endArray()
    }

    private mutating func signature(_ record: SignatureRecord) {
        member("version", "\(record.version >> 4).\(record.version & 0x0F)")
        member("uri_present", record.isSignatureURI)
        member("signature_type", Int(record.signatureType))
        member("hash_type", Int(record.hashType))
        member("signature_hex", hex: record.signature)
        member("cert_format", Int(record.certificateFormat))
        key("certs_hex")
        beginArray()
        for certificate in record.certificates { hex(certificate) }
        endArray()
        if let uri = record.certificateURI { member("cert_uri", String(decoding: uri, as: UTF8.self)) }
    }

    private mutating func structures(_ name: StaticString, _ structures: [AdvertisingData]) {
        key(name)
        beginArray()
        for structure in structures { typed(structure.type, structure.value) }
        endArray()
    }

    private mutating func typed(_ type: UInt8, _ value: [UInt8]) {
        beginObject()
        member("type", Int(type))
        member("value_hex", hex: value)
        endObject()
    }
}
