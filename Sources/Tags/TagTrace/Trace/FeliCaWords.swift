// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The commands of FeliCa, from LEN on (JIS X 6319-4; FeliCa Card User's Manual, 4).
enum FeliCaWords {
    private static let names: [UInt8: String] = [
        0x00: "POLLING", 0x02: "REQUEST SERVICE", 0x04: "REQUEST RESPONSE", 0x06: "READ WITHOUT ENCRYPTION",
        0x08: "WRITE WITHOUT ENCRYPTION", 0x0A: "SEARCH SERVICE CODE", 0x0C: "REQUEST SYSTEM CODE",
        0x10: "AUTHENTICATION 1", 0x12: "AUTHENTICATION 2", 0x14: "READ", 0x16: "WRITE",
        0x32: "REQUEST SERVICE V2", 0x38: "GET SYSTEM STATUS", 0x3C: "REQUEST SPECIFICATION VERSION",
        0x3E: "RESET MODE",
    ]

    static func request(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 2, let name = names[bytes[1]] else { return ExchangeInterpreter.size(bytes) }
        if bytes[1] == 0x00, bytes.count == 6 {
            let system = Int(high: bytes[2], low: bytes[3]).hexText(digits: 4)
            let what = system == "12FC" ? "12FC (NDEF)" : system == "FFFF" ? "FFFF (any)" : system
            return "POLLING for system \(what), \(counted(Int(bytes[5]) + 1, "slot"))"
        }
        guard bytes[1] == 0x06 || bytes[1] == 0x08 else { return name }
        return name + (blocks(bytes.dropFirst(10)) ?? "")
    }

    /// Describes the services and blocks of a command (NFC Forum T3T 1.0, 5.4).
    private static func blocks(_ bytes: ArraySlice<UInt8>) -> String? {
        var cursor = ByteCursor(bytes)
        guard let count = cursor.next() else { return nil }
        var services: [String] = []
        for _ in 0..<count {
            guard let service = cursor.littleEndian() else { return nil }
            services.append(service.hexText(digits: 4))
        }
        guard let blockCount = cursor.next() else { return nil }
        var blocks: [Int] = []
        for _ in 0..<blockCount {
            guard let head = cursor.next() else { return nil }
            guard let block = head & 0x80 == 0 ? cursor.littleEndian() : cursor.next().map(Int.init) else { return nil }
            blocks.append(block)
        }
        guard let first = blocks.first, let last = blocks.last else { return ", no block" }
        let isRange = blocks.count > 1 && blocks == Array(first..<first + blocks.count)
        let list = isRange ? "\(first) to \(last)" : blocks.map(String.init).joined(separator: ", ")
        return " of \(services.joined(separator: " ")), block\(blocks.count == 1 ? "" : "s") \(list)"
    }

    static func answer(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 10, let name = names[bytes[1] &- 1] else { return ExchangeInterpreter.size(bytes) }
        switch bytes[1] {
        case 0x01: return "IDm \(bytes[2..<10].hexText())"
        case 0x07, 0x09:
            guard bytes.count >= 12 else { return name + ", too short" }
            guard bytes[10] == 0 else {
                return "status \(bytes[10..<12].hexText()): \(status(bytes[11]))"
            }
            return bytes[1] == 0x09 ? "done" : "\(counted(bytes.count > 12 ? Int(bytes[12]) : 0, "block"))"
        default: return "\(counted(bytes.count - 10, "byte"))"
        }
    }

    /// Describes the second status flag (FeliCa Card User's Manual, 4.5).
    private static func status(_ flag: UInt8) -> String {
        switch flag {
        case 0x70: "the memory failed"
        case 0x71: "too many writes"
        case 0xA1: "wrong number of services"
        case 0xA2: "wrong number of blocks"
        case 0xA3: "wrong place of a service"
        case 0xA5: "not allowed"
        case 0xA6: "no such service"
        case 0xA7: "wrong access mode"
        case 0xA8: "no such block"
        case 0xA9: "the write failed"
        case 0xB0, 0xB1: "not authenticated"
        default: "refused"
        }
    }
}
