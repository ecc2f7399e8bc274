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
        guard let flags = payload.nextByte() else { throw RecordError(.carrierEmpty) }
        power = PowerState(rawValue: flags & 0x03) ?? .unknown
        reference = try Self.reference(&payload)
        guard let count = payload.nextByte() else { throw RecordError(.referenceOverrun) }
        auxiliaryReferences = []
        for _ in 0..<count {
            auxiliaryReferences.append(try Self.reference(&payload))
        }
        guard payload.isAtEnd else { throw RecordError(.carrierTrailing) }
    }

    private static func reference(_ payload: inout PayloadReader) throws(RecordError) -> [UInt8] {
        guard let count = payload.nextByte(), let bytes = payload.nextBytes(Int(count)) else {
            throw RecordError(.referenceOverrun)
        }
        return bytes
    }

    /// The payload of an `ac` record.
    func bytes() throws(RecordError) -> [UInt8] {
        guard auxiliaryReferences.count <= 0xFF, ([reference] + auxiliaryReferences).allSatisfy({ $0.count <= 0xFF })
        else { throw RecordError(.valueTooLong) }
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
