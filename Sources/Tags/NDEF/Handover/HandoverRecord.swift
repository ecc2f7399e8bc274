// SPDX-License-Identifier: Apache-2.0

/// The first record of a handover message. It lists the carriers on which the two devices can continue. NFC Forum
/// Connection Handover 1.5, 3.
public struct HandoverRecord: TypedRecord {
    /// The part that the sender plays in the handover.
    public enum Role: Sendable, Hashable, CaseIterable {
        /// `Hs`: the carriers that were chosen.
        case select
        /// `Hr`: the carriers that can be used.
        case request
        /// `Hm`: the carriers that can be used with a mediator.
        case mediation
        /// `Hi`: the carriers that a mediator chose.
        case initiate

        /// The record's type.
        public var type: String {
            switch self {
            case .select: "Hs"
            case .request: "Hr"
            case .mediation: "Hm"
            case .initiate: "Hi"
            }
        }

        /// The record's kind.
        public var kind: RecordKind {
            switch self {
            case .select: .handoverSelect
            case .request: .handoverRequest
            case .mediation: .handoverMediation
            case .initiate: .handoverInitiate
            }
        }
    }

    /// A version of the specification: two numbers from 0 to 15.
    public struct Version: Sendable, Hashable, CustomStringConvertible {
        /// The byte on the tag: the major number in the high four bits, the minor number in the low four.
        public var byte: UInt8

        /// Creates a version.
        public init(byte: UInt8) { self.byte = byte }

        /// Creates a version from the low four bits of each number.
        public init(_ major: UInt8, _ minor: UInt8) { byte = major << 4 | minor & 0x0F }

        public var description: String { "\(byte >> 4).\(byte & 0x0F)" }
    }

    /// Why the device that selects can't continue (`err`). Connection Handover 1.5, 6.4.
    public struct Failure: Sendable, Hashable {
        /// The reason: 1 temporary memory, 2 permanent memory, 3 carrier-specific; 4 and up are for future use. 0 is
        /// reserved, so reading or writing it is an error.
        public var reason: UInt8
        /// 1: milliseconds to wait, one byte. 2: the bytes of memory needed, four bytes. 3: milliseconds to wait, one
        /// byte.
        public var data: [UInt8]

        /// Creates a failure.
        public init(reason: UInt8, data: [UInt8]) {
            self.reason = reason
            self.data = data
        }

        /// Checks the reason, and that the data have the right length for it.
        fileprivate func validate() throws(RecordError) {
            let count =
                switch reason {
                case 0: throw RecordError(.errorReserved)
                case 1, 3: 1
                case 2: 4
                default: data.count
                }
            guard data.count == count else { throw RecordError(.errorLength) }
        }
    }

    /// The part that the sender plays in the handover.
    public var role: Role
    /// The version of the specification.
    public var version: Version
    /// The carriers, the preferred one first.
    public var carriers: [AlternativeCarrier]
    /// A random number that decides which device goes on when both sent a request; in requests only.
    public var collisionNumber: UInt16?
    /// Why the device that selects can't continue; in selects only.
    public var failure: Failure?

    /// Creates a record; each argument is the property of that name.
    public init(
        _ role: Role,
        version: Version,
        carriers: [AlternativeCarrier],
        collisionNumber: UInt16? = nil,
        failure: Failure? = nil
    ) {
        self.role = role
        self.version = version
        self.carriers = carriers
        self.collisionNumber = collisionNumber
        self.failure = failure
    }

    public init(_ record: NDEFRecord) throws(RecordError) {
        guard let role = Role.allCases.first(where: { $0.kind == record.kind }) else {
            throw RecordError(.wrongType)
        }
        try self.init(role, PayloadReader(record))
    }
}

extension HandoverRecord {
    /// Reads the version and the message after it. A version alone means a record without carriers.
    init(_ role: Role, _ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let version = payload.nextByte() else { throw RecordError(.emptyPayload) }
        self.init(role, version: Version(byte: version), carriers: [])
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

    /// From version 1.2 on, a request must have a collision resolution number. Connection Handover 1.2, 6.1.
    private func requireCollisionNumber() throws(RecordError) {
        guard role != .request || version.byte < 0x12 || collisionNumber != nil else {
            throw RecordError(.collisionLength)
        }
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        try requireCollisionNumber()
        var records: [NDEFRecord] = []
        if role == .request, let collisionNumber {
            let bytes = [UInt8(collisionNumber >> 8), UInt8(collisionNumber & 0xFF)]
            records.append(.wellKnown("cr", payload: bytes))
        }
        for carrier in carriers {
            records.append(.wellKnown("ac", payload: try carrier.bytes()))
        }
        if role == .select, let failure {
            try failure.validate()
            records.append(.wellKnown("err", payload: [failure.reason] + failure.data))
        }
        let payload = [version.byte] + (try NDEFMessage.innerBytes(records))
        return .wellKnown(role.type, identifier: identifier, payload: payload)
    }
}

extension HandoverRecord.Failure {
    fileprivate init(_ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let reason = payload.nextByte() else { throw RecordError(.errorLength) }
        self.init(reason: reason, data: payload.restBytes)
        try validate()
    }
}
