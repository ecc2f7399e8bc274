// SPDX-License-Identifier: Apache-2.0

extension HandoverRecord {
    /// Reads the version and the message after it. A version alone is a record without carriers.
    init(_ role: Role, _ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let version = payload.octet() else { throw RecordError(.emptyPayload) }
        self.init(role, version: Version(octet: version), carriers: [])
        let records = payload.isAtEnd ? [] : try payload.message().records
        for record in records where record.typeNameFormat == .wellKnown {
            let type = record.typeSlice
            if type.elementsEqual("ac".utf8) {
                carriers.append(try AlternativeCarrier(PayloadReader(record)))
            } else if role == .request, type.elementsEqual("cr".utf8) {
                var field = PayloadReader(record)
                guard field.count == 2, let number = field.integer16() else { throw RecordError(.collisionLength) }
                collisionNumber = number
            } else if role == .select, type.elementsEqual("err".utf8) {
                failure = try Failure(PayloadReader(record))
            }
        }
        try requireCollisionNumber()
    }

    /// From version 1.2 on a request has a collision resolution number. Connection Handover 1.2, 6.1.
    private func requireCollisionNumber() throws(RecordError) {
        guard role != .request || version.octet < 0x12 || collisionNumber != nil else {
            throw RecordError(.collisionLength)
        }
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        try requireCollisionNumber()
        var records: [NDEFRecord] = []
        if role == .request, let collisionNumber {
            let octets = [UInt8(collisionNumber >> 8), UInt8(collisionNumber & 0xFF)]
            records.append(.wellKnown("cr", payload: octets))
        }
        for carrier in carriers {
            records.append(.wellKnown("ac", payload: try carrier.octets()))
        }
        if role == .select, let failure {
            if let count = failure.requiredCount, failure.data.count != count { throw RecordError(.errorLength) }
            records.append(.wellKnown("err", payload: [failure.reason] + failure.data))
        }
        let payload = [version.octet] + (try NDEFMessage.innerOctets(records))
        return .wellKnown(role.type, identifier: identifier, payload: payload)
    }
}

extension HandoverRecord.Failure {
    fileprivate init(_ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let reason = payload.octet() else { throw RecordError(.errorLength) }
        self.init(reason: reason, data: payload.restBytes)
        if let requiredCount, data.count != requiredCount { throw RecordError(.errorLength) }
    }
}
