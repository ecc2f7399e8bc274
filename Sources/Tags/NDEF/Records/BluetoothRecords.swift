// SPDX-License-Identifier: Apache-2.0

/// Out-of-band data for pairing with a Bluetooth device, `application/vnd.bluetooth.ep.oob`. NFC Forum Bluetooth Secure
/// Simple Pairing Using NFC 1.3, 3.
public struct BluetoothEasyPairingRecord: PayloadRecord {
    static let kind = RecordKind.bluetoothEasyPairing

    /// The record's type.
    public static let mediaType = "application/vnd.bluetooth.ep.oob"

    /// The device address: six bytes, most significant byte first.
    public var address: [UInt8]
    /// Further data about the device, such as its name.
    public var structures: [AdvertisingData]

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - address: the device address: six bytes, most significant byte first.
    ///   - structures: further data about the device, such as its name.
    public init(address: [UInt8], structures: [AdvertisingData] = []) {
        self.address = address
        self.structures = structures
    }

    init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard payload.count >= 8, let length = payload.integer16()?.byteSwapped, length >= 8,
            let address = payload.nextBytes(6)
        else { throw NDEFError(.tooShort) }
        // The length field counts itself and the address too.
        guard let rest = payload.part(Int(length) - 8) else { throw NDEFError(.outOfBandOverrun) }
        guard payload.isAtEnd else { throw NDEFError(.outOfBandTrailing) }
        self.address = address.reversed()
        structures = try AdvertisingData.read(rest)
    }

    /// The address in the usual notation, `01:23:45:67:89:ab`.
    public var addressText: String {
        address.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }

    /// Makes a record.
    ///
    /// - Throws: ``NDEFError`` with `tooShort` when the address isn't six bytes, or `valueTooLong`.
    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        guard address.count == 6 else { throw NDEFError(.tooShort) }
        let data = try AdvertisingData.bytes(structures)
        let length = data.count + 8
        guard length <= 0xFFFF else { throw NDEFError(.valueTooLong) }
        let payload = [UInt8(length & 0xFF), UInt8(length >> 8)] + address.reversed() + data
        return .media(type: Self.mediaType, payload: payload, identifier: identifier)
    }
}

/// Out-of-band data for pairing with a Bluetooth Low Energy device, `application/vnd.bluetooth.le.oob`. NFC Forum
/// Bluetooth Secure Simple Pairing Using NFC 1.3, 4.
public struct BluetoothLowEnergyRecord: PayloadRecord {
    static let kind = RecordKind.bluetoothLowEnergy

    /// The record's type.
    public static let mediaType = "application/vnd.bluetooth.le.oob"

    /// The data about the device. Type 27 holds its address, type 28 its role.
    public var structures: [AdvertisingData]

    /// Creates a record.
    ///
    /// - Parameter structures: the data about the device.
    public init(structures: [AdvertisingData]) {
        self.structures = structures
    }

    init(_ payload: PayloadReader) throws(NDEFError) {
        structures = try AdvertisingData.read(payload)
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        .media(type: Self.mediaType, payload: try AdvertisingData.bytes(structures), identifier: identifier)
    }
}

/// A structure of advertising or extended inquiry response data. Bluetooth Core 5.4, Vol 3, Part C, 11.
public struct AdvertisingData: Sendable, Hashable {
    /// The data type of the Bluetooth assigned numbers, such as 9 for the complete local name.
    public var type: UInt8
    /// The value, whose format depends on the type.
    public var value: [UInt8]

    /// Creates a structure.
    public init(type: UInt8, value: [UInt8]) {
        self.type = type
        self.value = value
    }

    /// Reads structures until the end of the payload, or a structure of length 0. Only padding may follow the latter.
    static func read(_ payload: PayloadReader) throws(NDEFError) -> [AdvertisingData] {
        var payload = payload
        var structures: [AdvertisingData] = []
        while let count = payload.nextByte(), count > 0 {
            guard let type = payload.nextByte(), let value = payload.nextBytes(Int(count) - 1) else {
                throw NDEFError(.attributeOverrun)
            }
            structures.append(AdvertisingData(type: type, value: value))
        }
        return structures
    }

    static func bytes(_ structures: [AdvertisingData]) throws(NDEFError) -> [UInt8] {
        var bytes: [UInt8] = []
        for structure in structures {
            guard structure.value.count < 0xFF else { throw NDEFError(.valueTooLong) }
            bytes.append(UInt8(structure.value.count + 1))
            bytes.append(structure.type)
            bytes.append(contentsOf: structure.value)
        }
        return bytes
    }
}
