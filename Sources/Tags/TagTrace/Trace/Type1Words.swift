// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The commands of Type 1 tags (NFC Forum T1T 1.2, 5).
enum Type1Words {
    static func request(_ bytes: [UInt8]) -> String {
        let address = bytes.count > 1 ? " " + bytes[1].hexText(digits: 2) : ""
        let value = bytes.count > 2 ? ": " + bytes[2].hexText(digits: 2).lowercased() : ""
        let values = bytes.count > 9 ? ": " + bytes[2..<10].hexText() : ""
        switch bytes.first {
        case 0x78: return "RID: identify"
        case 0x00: return "RALL: read all"
        case 0x01: return "READ" + address
        case 0x53: return "WRITE-E" + address + value
        case 0x1A: return "WRITE-NE" + address + value
        case 0x10: return "RSEG" + (bytes.count > 1 ? " \(bytes[1] >> 4)" : "")
        case 0x02: return "READ8" + address
        case 0x54: return "WRITE-E8" + address + values
        case 0x1B: return "WRITE-NE8" + address + values
        default: return ExchangeInterpreter.size(bytes)
        }
    }

    static func answer(_ bytes: [UInt8], to command: UInt8) -> String {
        switch command {
        case 0x78 where bytes.count == 6: "header ROM \(bytes.prefix(2).hexText()), UID \(bytes.suffix(4).hexText())"
        case 0x00: "header ROM and \(counted(max(0, bytes.count - 2), "byte"))"
        case 0x01, 0x53, 0x1A, 0x02, 0x54, 0x1B, 0x10: "\(counted(max(0, bytes.count - 1), "byte")) of memory"
        default: ExchangeInterpreter.size(bytes)
        }
    }
}
