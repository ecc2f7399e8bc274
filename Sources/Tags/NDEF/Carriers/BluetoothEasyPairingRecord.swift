// SPDX-License-Identifier: Apache-2.0

/// Out-of-band data for pairing with a Bluetooth device, `application/vnd.bluetooth.ep.oob`. NFC Forum Bluetooth Secure
/// Simple Pairing Using NFC 1.3, 3.
public struct BluetoothEasyPairingRecord: TypedRecord {
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

    public init(_ record: NDEFRecord) throws(RecordError) {
        try record.require(.bluetoothEasyPairing)
        try self.init(PayloadReader(record))
    }

    init(_ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard payload.count >= 8, let length = payload.integer16()?.byteSwapped, length >= 8,
            let address = payload.nextBytes(6)
        else { throw RecordError(.tooShort) }
        // The length field counts itself and the address too.
        guard let rest = payload.part(Int(length) - 8) else { throw RecordError(.outOfBandOverrun) }
        guard payload.isAtEnd else { throw RecordError(.outOfBandTrailing) }
        self.address = address.reversed()
        structures = try AdvertisingData.read(rest)
    }

    /// The address in the usual notation, `01:23:45:67:89:ab`.
    public var addressText: String {
        address.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }

    /// Makes a record.
    ///
    /// - Throws: ``RecordError`` with `tooShort` when the address isn't six bytes, or `valueTooLong`.
    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        guard address.count == 6 else { throw RecordError(.tooShort) }
        let data = try AdvertisingData.bytes(structures)
        let length = data.count + 8
        guard length <= 0xFFFF else { throw RecordError(.valueTooLong) }
        let payload = [UInt8(length & 0xFF), UInt8(length >> 8)] + address.reversed() + data
        return .media(type: Self.mediaType, payload: payload, identifier: identifier)
    }
}
