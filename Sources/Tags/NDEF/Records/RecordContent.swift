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
        case .media: .media(type: String(nameBytes: typeSlice))
        case .absoluteURI: .absoluteURI(try PayloadReader.string(storage, typeRange))
        case .external: .external(type: String(nameBytes: typeSlice))
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
        case .wellKnown: .wellKnown(type: String(nameBytes: typeSlice))
        case .unknown: .unknown
        }
    }
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
        let byte = { (index: Int) in storage[start + index] }
        switch typeLength {
        case 1:
            return byte(0) == UInt8(ascii: "U") ? .uri : byte(0) == UInt8(ascii: "T") ? .text : .wellKnown
        case 2:
            switch UInt16(byte(0)) << 8 | UInt16(byte(1)) {
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
            return byte(0) == 0x53 && byte(1) == 0x69 && byte(2) == 0x67 ? .signature : .wellKnown
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

    private static func lowerCase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Throws unless the record is of a kind.
    func require(_ kind: RecordKind) throws(RecordError) {
        guard self.kind == kind else { throw RecordError(.wrongType) }
    }
}
