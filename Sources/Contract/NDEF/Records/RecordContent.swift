// SPDX-License-Identifier: Apache-2.0
/// The decoded payload of a record.
public enum RecordContent: Sendable, Hashable {
    case empty
    case uri(URIRecord)
    case text(TextRecord)
    case smartPoster(SmartPosterRecord)
    /// The payload is of a media type, vCards included.
    case media(type: String)
    case absoluteURI(String)
    /// The payload is of an external type, which an organisation defined for itself.
    case external(type: String)
    case androidApplication(package: String)
    /// The first record of a handover message: select, request, mediation or initiate.
    case handover(HandoverRecord)
    case handoverCarrier(HandoverCarrierRecord)
    case bluetoothEasyPairing(BluetoothEasyPairingRecord)
    case bluetoothLowEnergy(BluetoothLowEnergyRecord)
    case wifi(WiFiRecord)
    case signature(SignatureRecord)
    case deviceInformation(DeviceInformationRecord)
    /// An NFC Forum type that has no meaning on its own, or that this module doesn't know.
    case wellKnown(type: String)
    case unknown
}

extension NDEFRecord {
    /// Decodes the payload according to the record's type.
    ///
    /// Messages inside payloads are decoded one level deep. A smart poster inside a smart poster is ignored, so no
    /// input can nest deeply.
    ///
    /// - Returns: the decoded payload.
    public func content() throws(RecordError) -> RecordContent {
        switch kind {
        case .empty: .empty
        case .uri: .uri(try URIRecord(PayloadReader(self)))
        case .text: .text(try TextRecord(PayloadReader(self)))
        case .smartPoster: .smartPoster(try SmartPosterRecord(PayloadReader(self)))
        case .media: .media(type: String(nameOctets: typeSlice))
        case .absoluteURI: .absoluteURI(try PayloadReader.string(storage, typeRange))
        case .external: .external(type: String(nameOctets: typeSlice))
        case .androidApplication: .androidApplication(package: try PayloadReader(self).string())
        case .handoverSelect: .handover(try HandoverRecord(.select, PayloadReader(self)))
        case .handoverRequest: .handover(try HandoverRecord(.request, PayloadReader(self)))
        case .handoverMediation: .handover(try HandoverRecord(.mediation, PayloadReader(self)))
        case .handoverInitiate: .handover(try HandoverRecord(.initiate, PayloadReader(self)))
        case .handoverCarrier: .handoverCarrier(try HandoverCarrierRecord(PayloadReader(self)))
        case .bluetoothEasyPairing: .bluetoothEasyPairing(try BluetoothEasyPairingRecord(PayloadReader(self)))
        case .bluetoothLowEnergy: .bluetoothLowEnergy(try BluetoothLowEnergyRecord(PayloadReader(self)))
        case .wifi: .wifi(try WiFiRecord(PayloadReader(self)))
        case .signature: .signature(try SignatureRecord(PayloadReader(self)))
        case .deviceInformation: .deviceInformation(try DeviceInformationRecord(PayloadReader(self)))
        case .wellKnown: .wellKnown(type: String(nameOctets: typeSlice))
        case .unknown: .unknown
        }
    }
}

/// A value that can be decoded from a record's payload and encoded as one.
public protocol TypedRecord: Sendable, Hashable {
    /// Decodes a record.
    ///
    /// - Parameter record: the record.
    /// - Throws: ``RecordError`` with `wrongType` when the record has another type, or with the fault in the payload.
    init(_ record: NDEFRecord) throws(RecordError)

    /// Makes a record.
    ///
    /// - Parameter identifier: the record's identifier.
    /// - Returns: a record that decodes to this value.
    /// - Throws: ``RecordError`` when the value can't be encoded, such as `valueTooLong`.
    func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord
}

extension TypedRecord {
    /// Makes a record without an identifier.
    ///
    /// - Throws: as ``makeRecord(identifier:)`` does.
    public func makeRecord() throws(RecordError) -> NDEFRecord { try makeRecord(identifier: []) }
}

/// The kind of a record, derived only from its type name format and its type.
public enum RecordKind: String, Sendable, Hashable, CaseIterable {
    case empty
    case uri
    case text
    case smartPoster = "smartposter"
    case media = "mime"
    case absoluteURI = "absolute-uri"
    case external
    case androidApplication = "android-application"
    case handoverSelect = "handover-select"
    case handoverRequest = "handover-request"
    case handoverMediation = "handover-mediation"
    case handoverInitiate = "handover-initiate"
    case handoverCarrier = "handover-carrier"
    case bluetoothEasyPairing = "bluetooth-ep"
    case bluetoothLowEnergy = "bluetooth-le"
    case wifi = "wifi-wsc"
    case signature
    case deviceInformation = "device-information"
    /// An NFC Forum type that has no meaning on its own, or that this module doesn't know.
    case wellKnown = "well-known"
    /// The format is `unknown` or a reserved one.
    case unknown
}

extension NDEFRecord {
    /// The record's kind. Media types and external types ignore case; well-known types don't.
    public var kind: RecordKind {
        switch typeNameFormat {
        case .empty: .empty
        case .wellKnown: wellKnownKind
        case .media: mediaKind
        case .absoluteURI: .absoluteURI
        case .external: typeIs("android.com:pkg") ? .androidApplication : .external
        case .unknown, .unchanged, .reserved: .unknown
        }
    }

    private var wellKnownKind: RecordKind {
        let octet = { (index: Int) in storage[start + index] }
        switch typeLength {
        case 1:
            return octet(0) == UInt8(ascii: "U") ? .uri : octet(0) == UInt8(ascii: "T") ? .text : .wellKnown
        case 2:
            switch UInt16(octet(0)) << 8 | UInt16(octet(1)) {
            case 0x5370: return .smartPoster
            case 0x4873: return .handoverSelect
            case 0x4872: return .handoverRequest
            case 0x486D: return .handoverMediation
            case 0x4869: return .handoverInitiate
            case 0x4863: return .handoverCarrier
            case 0x4469: return .deviceInformation
            default: return .wellKnown
            }
        case 3:
            return octet(0) == 0x53 && octet(1) == 0x69 && octet(2) == 0x67 ? .signature : .wellKnown
        default:
            return .wellKnown
        }
    }

    private var mediaKind: RecordKind {
        switch typeLength {
        case 23: typeIs(WiFiRecord.mediaType) ? .wifi : .media
        case 32:
            typeIs(BluetoothEasyPairingRecord.mediaType)
                ? .bluetoothEasyPairing : typeIs(BluetoothLowEnergyRecord.mediaType) ? .bluetoothLowEnergy : .media
        default: .media
        }
    }

    /// Returns whether the type is a name, ignoring case.
    private func typeIs(_ name: String) -> Bool {
        let name = name.utf8
        guard name.count == typeLength else { return false }
        return zip(storage[typeRange], name).allSatisfy { Self.lowerCase($0) == Self.lowerCase($1) }
    }

    private static func lowerCase(_ octet: UInt8) -> UInt8 {
        // mutate: equivalent, because no type that is compared here has a Z.
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }

    /// Throws unless the record is of a kind.
    func require(_ kind: RecordKind) throws(RecordError) {
        guard self.kind == kind else { throw RecordError(.wrongType) }
    }
}
