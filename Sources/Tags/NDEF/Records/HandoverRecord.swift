// SPDX-License-Identifier: Apache-2.0

/// The first record of a handover message. It lists the carriers, such as Bluetooth, over which two devices can
/// continue. NFC Forum Connection Handover 1.5, 3.
public struct HandoverRecord: TypedRecord {
    /// The sender's role in the handover.
    public enum Role: String, Sendable, Hashable, CaseIterable {
        /// A select record: the chosen carriers.
        case select = "Hs"
        /// A request record: the carriers that the sender can use.
        case request = "Hr"
        /// A mediation record: the carriers that the sender can use with a mediator.
        case mediation = "Hm"
        /// An initiate record: the carriers that a mediator chose.
        case initiate = "Hi"

        /// The record's type.
        public var type: String { rawValue }

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

    /// The reason why the selecting device can't continue (`err`). Connection Handover 1.5, 6.4.
    public struct Failure: Sendable, Hashable {
        /// The reason: 1 for temporary memory, 2 permanent memory, 3 carrier-specific, 4 and up for future use. The
        /// value 0 is reserved, so reading or writing it is an error.
        public var reason: UInt8
        /// For reasons 1 and 3, one byte: the milliseconds to wait. For reason 2, four bytes: the memory needed.
        public var data: [UInt8]

        /// Creates a failure.
        public init(reason: UInt8, data: [UInt8]) {
            self.reason = reason
            self.data = data
        }

        /// Checks that the reason is not 0 and that the data length matches it.
        fileprivate func validate() throws(NDEFError) {
            let count =
                switch reason {
                case 0: throw NDEFError(.errorReserved)
                case 1, 3: 1
                case 2: 4
                default: data.count
                }
            guard data.count == count else { throw NDEFError(.errorLength) }
        }
    }

    /// The sender's role in the handover.
    public var role: Role
    /// The version of the specification.
    public var version: Version
    /// The carriers, the preferred one first.
    public var carriers: [AlternativeCarrier]
    /// A random number that decides which device continues if both sent a request. Only in requests.
    public var collisionNumber: UInt16?
    /// The reason why the selecting device can't continue. Only in select records.
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

    public init(_ record: NDEFRecord) throws(NDEFError) {
        guard let role = Role.allCases.first(where: { $0.kind == record.kind }) else {
            throw NDEFError(.wrongType)
        }
        try self.init(role, PayloadReader(record))
    }
}

extension HandoverRecord {
    /// Reads the version and the inner message. If the payload ends after the version, the record has no carriers.
    init(_ role: Role, _ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard let version = payload.nextByte() else { throw NDEFError(.emptyPayload) }
        self.init(role, version: Version(byte: version), carriers: [])
        let records = payload.isAtEnd ? [] : try payload.message().records
        for record in records where record.typeNameFormat == .wellKnown {
            let type = record.typeSlice
            if type.elementsEqual("ac".utf8) {
                carriers.append(try AlternativeCarrier(PayloadReader(record)))
            } else if role == .request, type.elementsEqual("cr".utf8) {
                var field = PayloadReader(record)
                guard field.count == 2, let number = field.integer16() else { throw NDEFError(.collisionLength) }
                collisionNumber = number
            } else if role == .select, type.elementsEqual("err".utf8) {
                failure = try Failure(PayloadReader(record))
            }
        }
        try requireCollisionNumber()
    }

    /// From version 1.2 on, a request must have a collision resolution number. Connection Handover 1.2, 6.1.
    private func requireCollisionNumber() throws(NDEFError) {
        guard role != .request || version.byte < 0x12 || collisionNumber != nil else {
            throw NDEFError(.collisionLength)
        }
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        try requireCollisionNumber()
        var records: [NDEFRecord] = []
        if role == .request, let collisionNumber {
            records.append(.wellKnown("cr", payload: collisionNumber.bytes))
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
    fileprivate init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard let reason = payload.nextByte() else { throw NDEFError(.errorLength) }
        self.init(reason: reason, data: payload.restBytes)
        try validate()
    }
}

/// A carrier that a handover message offers (`ac`). NFC Forum Connection Handover 1.5, 6.1.
public struct AlternativeCarrier: Sendable, Hashable {
    /// Whether a carrier is ready for use.
    public enum PowerState: UInt8, Sendable, Hashable, CaseIterable {
        case inactive = 0
        case active, activating, unknown
    }

    /// Whether the carrier is ready for use.
    public var power: PowerState
    /// The identifier of the record, in the same message, that configures the carrier.
    public var reference: [UInt8]
    /// The identifiers of records with more information about the carrier.
    public var auxiliaryReferences: [[UInt8]]

    /// Creates a carrier; each argument is the property of that name.
    public init(power: PowerState, reference: [UInt8], auxiliaryReferences: [[UInt8]] = []) {
        self.power = power
        self.reference = reference
        self.auxiliaryReferences = auxiliaryReferences
    }

    init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard let flags = payload.nextByte() else { throw NDEFError(.carrierEmpty) }
        power = PowerState(rawValue: flags & 0x03) ?? .unknown
        reference = try Self.reference(&payload)
        guard let count = payload.nextByte() else { throw NDEFError(.referenceOverrun) }
        auxiliaryReferences = []
        for _ in 0..<count {
            auxiliaryReferences.append(try Self.reference(&payload))
        }
        guard payload.isAtEnd else { throw NDEFError(.carrierTrailing) }
    }

    private static func reference(_ payload: inout PayloadReader) throws(NDEFError) -> [UInt8] {
        guard let count = payload.nextByte(), let bytes = payload.nextBytes(Int(count)) else {
            throw NDEFError(.referenceOverrun)
        }
        return bytes
    }

    /// Encodes the payload of an `ac` record.
    func bytes() throws(NDEFError) -> [UInt8] {
        guard auxiliaryReferences.count <= 0xFF, ([reference] + auxiliaryReferences).allSatisfy({ $0.count <= 0xFF })
        else { throw NDEFError(.valueTooLong) }
        var bytes = [power.rawValue, UInt8(reference.count)]
        bytes.append(contentsOf: reference)
        bytes.append(UInt8(auxiliaryReferences.count))
        for auxiliary in auxiliaryReferences {
            bytes.append(UInt8(auxiliary.count))
            bytes.append(contentsOf: auxiliary)
        }
        return bytes
    }
}

/// A carrier that a request names only by type (`Hc`). NFC Forum Connection Handover 1.5, 6.2.
public struct HandoverCarrierRecord: PayloadRecord {
    static let kind = RecordKind.handoverCarrier

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

    init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard let flags = payload.nextByte() else { throw NDEFError(.emptyPayload) }
        guard let count = payload.nextByte() else { throw NDEFError(.tooShort) }
        guard let type = payload.nextBytes(Int(count)) else { throw NDEFError(.referenceOverrun) }
        carrierTypeFormat = flags & 0x07
        carrierType = String(nameBytes: type[...])
        data = payload.restBytes
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        let type = Array(carrierType.utf8)
        guard type.count <= 0xFF else { throw NDEFError(.valueTooLong) }
        let payload = [carrierTypeFormat & 0x07, UInt8(type.count)] + type + data
        return .wellKnown("Hc", identifier: identifier, payload: payload)
    }
}
