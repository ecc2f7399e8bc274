// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Makes a record of a `decoded` object.
struct RecordBuilder {
    let members: JSONMembers
    /// The payload of kinds that don't say what it is, such as media.
    let payload: [UInt8]
    let identifier: [UInt8]

    init(_ members: JSONMembers, payload: [UInt8], identifier: [UInt8]) {
        self.members = members
        self.payload = payload
        self.identifier = identifier
    }

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
                address: try members.octets(try members.string("address"), "address"),
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
            let elements = try members.objects("elements").map {
                DeviceInformationRecord.Element(
                    type: try $0.number("type", UInt8.self),
                    value: try $0.hex("value_hex")
                )
            }
            return try DeviceInformationRecord(elements: elements).makeRecord(identifier: identifier)
        case .wellKnown:
            let type = try members.octets(try members.string("type_hex"), "type_hex")
            return NDEFRecord(.wellKnown, type: type, identifier: identifier, payload: payload)
        case .unknown:
            return NDEFRecord(.unknown, identifier: identifier, payload: payload)
        }
    }

    /// A URI; `prefix` isn't looked at, the longest one that fits is written.
    private func uri() throws(InputError) -> URIRecord {
        URIRecord(try members.string("uri"))
    }

    private func text() throws(InputError) -> TextRecord {
        let encoding: TextRecord.Encoding
        switch try members.optionalString("encoding") ?? "UTF-8" {
        case "UTF-8": encoding = .utf8
        case "UTF-16": encoding = .utf16
        default: throw members.error("encoding", "must be UTF-8 or UTF-16")
        }
        let language = try members.optionalString("language") ?? "en"
        return TextRecord(try members.string("text"), language: language, encoding: encoding)
    }

    private func structures(_ key: String) throws -> [AdvertisingData] {
        try members.objects(key).map {
            AdvertisingData(type: try $0.number("type", UInt8.self), value: try $0.hex("value_hex"))
        }
    }
}
