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

    /// Reads structures until the end of the payload, or until a structure of length 0. Only padding may follow that
    /// one.
    static func read(_ payload: PayloadReader) throws(RecordError) -> [AdvertisingData] {
        var payload = payload
        var structures: [AdvertisingData] = []
        while let count = payload.nextByte(), count > 0 {
            guard let type = payload.nextByte(), let value = payload.nextBytes(Int(count) - 1) else {
                throw RecordError(.attributeOverrun)
            }
            structures.append(AdvertisingData(type: type, value: value))
        }
        return structures
    }

    static func bytes(_ structures: [AdvertisingData]) throws(RecordError) -> [UInt8] {
        var bytes: [UInt8] = []
        for structure in structures {
            guard structure.value.count < 0xFF else { throw RecordError(.valueTooLong) }
            bytes.append(UInt8(structure.value.count + 1))
            bytes.append(structure.type)
            bytes.append(contentsOf: structure.value)
        }
        return bytes
    }
}
