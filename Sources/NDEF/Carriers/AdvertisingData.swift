// SPDX-License-Identifier: Apache-2.0

/// A structure of advertising or extended inquiry response data. Bluetooth Core 5.4, Vol 3, Part C, 11.
public struct AdvertisingData: Sendable, Hashable {
    /// The data type of the Bluetooth assigned numbers, such as 9 for the complete local name.
    public var type: UInt8
    /// The value.
    public var value: [UInt8]

    /// Creates a structure.
    public init(type: UInt8, value: [UInt8]) {
        self.type = type
        self.value = value
    }

    /// Reads structures up to the end, or to one of length 0, after which only padding may come.
    static func read(_ payload: PayloadReader) throws(RecordError) -> [AdvertisingData] {
        var payload = payload
        var structures: [AdvertisingData] = []
        while let count = payload.octet(), count > 0 {
            guard let type = payload.octet(), let value = payload.octets(Int(count) - 1) else {
                throw RecordError(.attributeOverrun)
            }
            structures.append(AdvertisingData(type: type, value: value))
        }
        return structures
    }

    static func octets(_ structures: [AdvertisingData]) throws(RecordError) -> [UInt8] {
        var octets: [UInt8] = []
        for structure in structures {
            guard structure.value.count < 0xFF else { throw RecordError(.valueTooLong) }
            octets.append(UInt8(structure.value.count + 1))
            octets.append(structure.type)
            octets.append(contentsOf: structure.value)
        }
        return octets
    }
}
