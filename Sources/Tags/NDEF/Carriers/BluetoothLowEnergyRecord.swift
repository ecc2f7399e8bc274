// SPDX-License-Identifier: Apache-2.0

/// Out-of-band data for pairing with a Bluetooth Low Energy device, `application/vnd.bluetooth.le.oob`. NFC Forum
/// Bluetooth Secure Simple Pairing Using NFC 1.3, 4.
public struct BluetoothLowEnergyRecord: TypedRecord {
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

    public init(_ record: NDEFRecord) throws(RecordError) {
        try record.require(.bluetoothLowEnergy)
        try self.init(PayloadReader(record))
    }

    init(_ payload: PayloadReader) throws(RecordError) {
        structures = try AdvertisingData.read(payload)
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        .media(type: Self.mediaType, payload: try AdvertisingData.bytes(structures), identifier: identifier)
    }
}
