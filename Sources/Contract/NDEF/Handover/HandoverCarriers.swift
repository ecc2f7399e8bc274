// SPDX-License-Identifier: Apache-2.0
/// A carrier that a handover message offers (`ac`). NFC Forum Connection Handover 1.5, 6.1.
public struct AlternativeCarrier: Sendable, Hashable {
    /// The power state of a carrier.
    public enum PowerState: UInt8, Sendable, Hashable, CaseIterable {
        case inactive = 0
        case active, activating, unknown
    }

    /// The power state of the carrier.
    public var power: PowerState
    /// The identifier of the record that configures the carrier. The record is in the same message.
    public var reference: [UInt8]
    /// The identifiers of records with more information about the carrier.
    public var auxiliaryReferences: [[UInt8]]

    /// Creates a carrier; each argument is the property of that name.
    public init(power: PowerState, reference: [UInt8], auxiliaryReferences: [[UInt8]] = []) {
        self.power = power
        self.reference = reference
        self.auxiliaryReferences = auxiliaryReferences
    }

    init(_ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let flags = payload.octet() else { throw RecordError(.carrierEmpty) }
        power = PowerState(rawValue: flags & 0x03) ?? .unknown
        reference = try Self.reference(&payload)
        guard let count = payload.octet() else { throw RecordError(.referenceOverrun) }
        auxiliaryReferences = []
        for _ in 0..<count {
            auxiliaryReferences.append(try Self.reference(&payload))
        }
        guard payload.isAtEnd else { throw RecordError(.carrierTrailing) }
    }

    private static func reference(_ payload: inout PayloadReader) throws(RecordError) -> [UInt8] {
        guard let count = payload.octet(), let octets = payload.octets(Int(count)) else {
            throw RecordError(.referenceOverrun)
        }
        return octets
    }

    /// The payload of an `ac` record.
    func octets() throws(RecordError) -> [UInt8] {
        guard auxiliaryReferences.count <= 0xFF, ([reference] + auxiliaryReferences).allSatisfy({ $0.count <= 0xFF })
        else { throw RecordError(.valueTooLong) }
        var octets = [power.rawValue, UInt8(reference.count)]
        octets.append(contentsOf: reference)
        octets.append(UInt8(auxiliaryReferences.count))
        for auxiliary in auxiliaryReferences {
            octets.append(UInt8(auxiliary.count))
            octets.append(contentsOf: auxiliary)
        }
        return octets
    }
}

/// A carrier given only by its type, in a request (`Hc`). NFC Forum Connection Handover 1.5, 6.2.
public struct HandoverCarrierRecord: TypedRecord {
    /// The format of the carrier type, a value of ``TypeNameFormat``; three bits.
    public var carrierTypeFormat: UInt8
    /// The carrier type, such as `application/vnd.wfa.wsc`.
    public var carrierType: String
    /// Further data about the carrier.
    public var data: [UInt8]

    /// Creates a record; each argument is the property of that name.
    public init(carrierTypeFormat: UInt8, carrierType: String, data: [UInt8] = []) {
        self.carrierTypeFormat = carrierTypeFormat
        self.carrierType = carrierType
        self.data = data
    }

    public init(_ record: NDEFRecord) throws(RecordError) {
        try record.require(.handoverCarrier)
        try self.init(PayloadReader(record))
    }

    init(_ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let flags = payload.octet() else { throw RecordError(.emptyPayload) }
        guard let count = payload.octet() else { throw RecordError(.tooShort) }
        guard let type = payload.take(Int(count)) else { throw RecordError(.referenceOverrun) }
        carrierTypeFormat = flags & 0x07
        carrierType = String(nameOctets: payload.bytes[type])
        data = payload.restBytes
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        let type = Array(carrierType.utf8)
        guard type.count <= 0xFF else { throw RecordError(.valueTooLong) }
        let payload = [carrierTypeFormat & 0x07, UInt8(type.count)] + type + data
        return .wellKnown("Hc", identifier: identifier, payload: payload)
    }
}
