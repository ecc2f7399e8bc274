// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The answer of a DESFire, NTAG 4xx or MIFARE Plus EV1 or later to GetVersion (MF3ICD81 data sheet, 9.4.6).
public struct DESFireVersion: Sendable, Hashable {
    /// Seven bytes: vendor, type, subtype, major and minor version, storage size, protocol.
    public var hardware: [UInt8]
    /// The same seven bytes for the software.
    public var software: [UInt8]
    /// The UID; zeros when it is random.
    public var uid: [UInt8]
    /// Batch number and production date: 7 bytes or a few more, as many as the card sent.
    public var production: [UInt8]

    /// Reads the three frames of the answer, one after the other.
    ///
    /// - Parameter bytes: 7 bytes of hardware, 7 of software, and at least 7 of UID.
    /// - Returns: nil when there are fewer bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 21 else { return nil }
        hardware = Array(bytes[0..<7])
        software = Array(bytes[7..<14])
        uid = Array(bytes[14..<21])
        production = Array(bytes[21...])
    }

    /// The bytes of the whole answer.
    package var bytes: [UInt8] { hardware + software + uid + production }

    /// Requests the version from a card, with the command wrapped in APDUs.
    ///
    /// - Parameter card: the card. Its selected application stays selected.
    /// - Returns: nil when the card does not know the command.
    /// - Throws: the errors of the link's `send(_:)`.
    public static func read(from card: any APDULink) async throws(TagError) -> DESFireVersion? {
        var bytes: [UInt8] = []
        var instruction: UInt8 = 0x60
        for _ in 0..<3 {
            let response = try await card.send(CommandAPDU(0x90, instruction, 0x00, 0x00, expectedLength: 256))
            bytes += response.data
            // 91AF: another frame follows.
            guard response.status.rawValue == 0x91AF else {
                return response.status.rawValue == 0x9100 ? DESFireVersion(bytes) : nil
            }
            instruction = 0xAF
        }
        return nil
    }

    /// The storage size in bytes, from the size byte. The byte encodes a power of two, or a range above one; then this
    /// is the lower bound.
    public var storageSize: Int { 1 << Int(hardware[5] >> 1 & 0x1F) }

    /// The product's name, such as `MIFARE DESFire EV1 4K` or `NTAG 424 DNA`; nil when it is unknown.
    public var productName: String? {
        guard hardware[0] == 0x04 else { return nil }
        let size = storageSize >= 1024 ? " \(storageSize / 1024)K" : ""
        switch (hardware[1] & 0x0F, hardware[3]) {
        case (0x01, 0x00): return "MIFARE DESFire\(size)"
        case (0x01, 0x01): return "MIFARE DESFire EV1\(size)"
        case (0x01, 0x12), (0x01, 0x22): return "MIFARE DESFire EV2\(size)"
        case (0x01, 0x33): return "MIFARE DESFire EV3\(size)"
        case (0x01, 0xA0): return "MIFARE DUOX\(size)"
        case (0x02, 0x11): return "MIFARE Plus EV1\(size)"
        case (0x02, 0x22): return "MIFARE Plus EV2\(size)"
        case (0x04, 0x10): return "NTAG 413 DNA"
        case (0x04, 0x30): return hardware[2] & 0x08 != 0 ? "NTAG 424 DNA TagTamper" : "NTAG 424 DNA"
        case (0x08, _): return "MIFARE DESFire Light"
        default: return nil
        }
    }
}
