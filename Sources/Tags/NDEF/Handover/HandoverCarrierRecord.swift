// SPDX-License-Identifier: Apache-2.0

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
        guard let flags = payload.nextByte() else { throw RecordError(.emptyPayload) }
        guard let count = payload.nextByte() else { throw RecordError(.tooShort) }
        guard let type = payload.take(Int(count)) else { throw RecordError(.referenceOverrun) }
        carrierTypeFormat = flags & 0x07
        carrierType = String(nameBytes: payload.bytes[type])
        data = payload.restBytes
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        let type = Array(carrierType.utf8)
        guard type.count <= 0xFF else { throw RecordError(.valueTooLong) }
        let payload = [carrierTypeFormat & 0x07, UInt8(type.count)] + type + data
        return .wellKnown("Hc", identifier: identifier, payload: payload)
    }
}
