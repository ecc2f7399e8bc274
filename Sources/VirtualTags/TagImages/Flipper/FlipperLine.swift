// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A line for a new Flipper file.
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

    static func field(_ key: String, bytes: [UInt8]) -> FlipperLine {
        .field(key, bytes.spacedHexadecimalText)
    }

    /// The first lines of all files of version 4.
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
            .field("UID", bytes: uid),
        ]
    }

    /// The next lines in all files of NFC-A tags.
    static func nfcA(atqa: UInt16, sak: UInt8) -> [FlipperLine] {
        [
            .comment("ISO14443-3A specific data"),
            .field("ATQA", bytes: atqa.bigEndianBytes),
            .field("SAK", bytes: [sak]),
        ]
    }
}
