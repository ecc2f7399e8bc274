// SPDX-License-Identifier: Apache-2.0

/// The names of cards that have no table of products here. Reader and virtual tags share them.
package enum CardName {
    /// Returns the name of an NXP card, such as `MIFARE DESFire EV1 4K` or `NTAG 424 DNA`; nil when unknown.
    ///
    /// - Parameter hardware: the hardware version of GetVersion, seven bytes: vendor, type, subtype, major and minor
    ///   version, storage size, protocol (MF3ICD81 data sheet, 9.4.6). Further bytes are ignored.
    package static func ofNXP(hardware: [UInt8]) -> String? {
        guard hardware.count >= 7, hardware[0] == 0x04 else { return nil }
        let storage = storageSize(hardware[5])
        let size = storage >= 1024 ? " \(storage / 1024)K" : ""
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

    /// Returns the storage size in bytes for the size byte of GetVersion. It encodes a power of two, or a range above a
    /// power of two; for a range, this is the lower bound.
    package static func storageSize(_ code: UInt8) -> Int { 1 << Int(code >> 1 & 0x1F) }

    /// Returns the name of a FeliCa card, such as `FeliCa Lite-S`, by the IC code in its PMm; nil when unknown.
    package static func ofFeliCa(icCode: UInt8) -> String? {
        switch icCode {
        case 0xF0: "FeliCa Lite"
        case 0xF1: "FeliCa Lite-S"
        case 0xF2: "FeliCa Link"
        case 0xE0, 0xE1: "FeliCa Plug"
        // RC-S915, RC-S954, RC-S960, RC-S962, SD2 and similar.
        case 0x00...0x02, 0x08...0x0D, 0x20, 0x32, 0x35, 0x44...0x46: "FeliCa Standard"
        case 0x06, 0x07, 0x10...0x1F: "Mobile FeliCa"
        default: nil
        }
    }
}
