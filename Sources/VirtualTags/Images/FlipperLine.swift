// SPDX-License-Identifier: Apache-2.0

/// A line of a new Flipper file.
enum FlipperLine {
    case comment(String)
    case field(String, String)
    case empty

    /// The line without its ending.
    var text: String {
        switch self {
        case .comment(let text): "# \(text)"
        case .field(let key, let value): "\(key): \(value)"
        case .empty: ""
        }
    }

    static func field(_ key: String, octets: [UInt8]) -> FlipperLine {
        .field(key, octets.spacedHexadecimalText)
    }

    /// The beginning that all files of version 4 share.
    static func header(deviceType: String, uid: [UInt8]) -> [FlipperLine] {
        [
            .field("Filetype", "Flipper NFC device"),
            .field("Version", "4"),
            .comment(
                "Device type can be ISO14443-3A, ISO14443-3B, ISO14443-4A, ISO14443-4B, ISO15693-3, FeliCa, "
                    + "NTAG/Ultralight, Mifare Classic, Mifare Plus, Mifare DESFire, SLIX, ST25TB, EMV"
            ),
            .field("Device type", deviceType),
            .comment("UID is common for all formats"),
            .field("UID", octets: uid),
        ]
    }

    /// What all files of NFC-A tags go on with.
    static func nfcA(atqa: UInt16, sak: UInt8) -> [FlipperLine] {
        [
            .comment("ISO14443-3A specific data"),
            .field("ATQA", octets: [UInt8(atqa >> 8), UInt8(atqa & 0xFF)]),
            .field("SAK", octets: [sak]),
        ]
    }
}
