// SPDX-License-Identifier: Apache-2.0

/// What the payload of a record says.
public enum RecordContent: Sendable, Hashable {
    case empty
    case uri(URIRecord)
    case text(TextRecord)
    case smartPoster(SmartPosterRecord)
    /// The payload is of a media type, vCards included.
    case media(type: String)
    case absoluteURI(String)
    /// The payload is of a type of someone's own.
    case external(type: String)
    case androidApplication(package: String)
    /// Any of the handover messages' first records: select, request, mediation, initiate.
    case handover(HandoverRecord)
    case handoverCarrier(HandoverCarrierRecord)
    case bluetoothEasyPairing(BluetoothEasyPairingRecord)
    case bluetoothLowEnergy(BluetoothLowEnergyRecord)
    case wifi(WiFiRecord)
    case signature(SignatureRecord)
    case deviceInformation(DeviceInformationRecord)
    /// A type of the NFC Forum's that has no meaning on its own, or that this module doesn't know.
    case wellKnown(type: String)
    case unknown
}

extension NDEFRecord {
    /// Decodes the payload by the record's type.
    ///
    /// Messages inside payloads are decoded one level deep: a smart poster inside a smart poster is ignored, so the
    /// depth is bounded whatever the input.
    ///
    /// - Returns: what the payload says.
    /// - Throws: ``RecordError`` when the payload breaks the definition of its type.
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

/// A value that a record's payload can be decoded to and made of.
public protocol TypedRecord: Sendable, Hashable {
    /// Decodes a record.
    ///
    /// - Parameter record: the record.
    /// - Throws: ``RecordError`` with `wrongType` when it is of another type, or what is wrong with the payload.
    init(_ record: NDEFRecord) throws(RecordError)

    /// Makes a record.
    ///
    /// - Parameter identifier: the record's identifier.
    /// - Returns: a record that decodes to this value.
    /// - Throws: ``RecordError`` when the value has no encoding, such as `valueTooLong`.
    func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord
}

extension TypedRecord {
    /// Makes a record without an identifier.
    ///
    /// - Throws: as ``makeRecord(identifier:)`` does.
    public func makeRecord() throws(RecordError) -> NDEFRecord { try makeRecord(identifier: []) }
}
