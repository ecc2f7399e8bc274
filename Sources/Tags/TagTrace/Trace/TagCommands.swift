// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Describes the commands of Type 1 tags (NFC Forum T1T 1.2, 5).
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

/// Describes the commands of Type 2 tags, NTAG and MIFARE Ultralight, and the unencrypted commands of MIFARE Classic
/// (NFC Forum T2T 1.2, 5; NTAG213/215/216, MF0ULx1, MF0ICU2 and MF1S50 data sheets).
enum Type2Words {
    static func request(_ bytes: [UInt8], hidesData: Bool = false) -> String {
        guard let command = bytes.first else { return "nothing" }
        let address = bytes.count > 1 ? " " + bytes[1].hexText(digits: 2) : ""
        let data = hidesData ? "" : ": " + bytes.dropFirst(2).hexText()
        switch (command, bytes.count) {
        case (0x30, 2): return "READ" + address
        case (0x3A, 3): return "FAST READ\(address) to \(bytes[2].hexText(digits: 2))"
        case (0xA2, 6): return "WRITE" + address + data
        case (0xA0, 2): return "COMPATIBILITY WRITE\(address), or WRITE of MIFARE Classic"
        case (0x60, 1): return "GET VERSION"
        case (0x60, 2), (0x61, 2): return "AUTHENTICATE block\(address) with key \(command == 0x60 ? "A" : "B")"
        case (0x1B, 5): return "PWD AUTH"
        case (0x1A, 2): return "AUTHENTICATE"
        case (0xAF, 17): return "AUTHENTICATE, second part"
        case (0x39, 2): return "READ COUNTER" + address
        case (0xA5, 6): return "INCREMENT COUNTER" + address + data
        case (0x3C, 2): return "READ SIGNATURE"
        case (0xAC, 6): return "WRITE SIGNATURE" + address + data
        case (0xAC, 2): return "LOCK SIGNATURE" + address
        case (0x3E, 2): return "CHECK TEARING EVENT" + address
        case (0x4B, 21): return "VIRTUAL CARD SELECT"
        case (0xC2, 2) where bytes[1] == 0xFF: return "SECTOR SELECT, first packet"
        case (0xC0, 2): return "DECREMENT" + address
        case (0xC1, 2): return "INCREMENT" + address
        case (0xC2, 2): return "RESTORE" + address
        case (0xB0, 2): return "TRANSFER" + address
        default: return ExchangeInterpreter.size(bytes)
        }
    }

    static func answer(_ answer: Frame, to command: UInt8) -> String {
        if let nibble = answer.nibble { return acknowledgement(nibble) }
        switch command {
        case 0x30, 0x3A: return "\(ExchangeInterpreter.size(answer.bytes)) of memory"
        case 0x60: return answer.bytes.count == 8 ? "version" : ExchangeInterpreter.size(answer.bytes)
        case 0x1B:
            return answer.bytes.count == 2 ? "PACK: the password is right" : ExchangeInterpreter.size(answer.bytes)
        case 0x39: return "counter"
        case 0x3C: return "signature"
        default: return ExchangeInterpreter.size(answer.bytes)
        }
    }

    /// Describes a 4-bit answer (NFC Forum T2T 1.2, 5.1; NTAG213/215/216 data sheet, 9.3).
    private static func acknowledgement(_ nibble: UInt8) -> String {
        if nibble == 0xA { return "ACK" }
        let reason = refusals[nibble].map { ": \($0)" } ?? ""
        return "NAK \(String(nibble, radix: 16, uppercase: true))\(reason)"
    }

    private static let refusals: [UInt8: String] = [
        0x0: "not allowed, or no such address", 0x1: "parity or checksum was wrong",
        0x4: "not authenticated, or a counter is full", 0x5: "the write failed, or needs authentication first",
        0x7: "the write failed",
    ]
}

/// Describes FeliCa commands, which start with LEN (JIS X 6319-4; FeliCa Card User's Manual, 4).
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

    private static func blocks(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let list = FeliCaBlockList(bytes) else { return nil }
        let blocks = list.elements.map(\.block)
        guard let first = blocks.first, let last = blocks.last else { return ", no block" }
        let isRange = blocks.count > 1 && blocks == Array(first..<first + blocks.count)
        let numbers = isRange ? "\(first) to \(last)" : blocks.map(String.init).joined(separator: ", ")
        let codes = list.services.map { $0.hexText(digits: 4) }.joined(separator: " ")
        return " of \(codes), block\(blocks.count == 1 ? "" : "s") \(numbers)"
    }

    static func answer(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 10, let name = names[bytes[1] &- 1] else { return ExchangeInterpreter.size(bytes) }
        switch bytes[1] {
        case 0x01: return "IDm \(bytes[2..<10].hexText())"
        case 0x07, 0x09:
            guard bytes.count >= 12 else { return name + ", too short" }
            guard bytes[10] == 0 else {
                return "status \(bytes[10..<12].hexText()): \(statuses[bytes[11]] ?? "refused")"
            }
            return bytes[1] == 0x09 ? "done" : "\(counted(bytes.count > 12 ? Int(bytes[12]) : 0, "block"))"
        default: return "\(counted(bytes.count - 10, "byte"))"
        }
    }

    /// The meanings of the second status flag (FeliCa Card User's Manual, 4.5).
    private static let statuses: [UInt8: String] = [
        0x70: "the memory failed", 0x71: "too many writes", 0xA1: "wrong number of services",
        0xA2: "wrong number of blocks", 0xA3: "wrong order of services", 0xA5: "not allowed", 0xA6: "no such service",
        0xA7: "wrong access mode", 0xA8: "no such block", 0xA9: "the write failed", 0xB0: "not authenticated",
        0xB1: "not authenticated",
    ]
}

/// Describes the commands of ISO/IEC 15693-3, 10, and the custom commands of NXP and ST.
enum ISO15693Words {
    private static let names: [UInt8: String] = [
        0x01: "INVENTORY", 0x02: "STAY QUIET", 0x20: "READ SINGLE BLOCK", 0x21: "WRITE SINGLE BLOCK",
        0x22: "LOCK BLOCK", 0x23: "READ MULTIPLE BLOCKS", 0x24: "WRITE MULTIPLE BLOCKS", 0x25: "SELECT",
        0x26: "RESET TO READY", 0x27: "WRITE AFI", 0x28: "LOCK AFI", 0x29: "WRITE DSFID", 0x2A: "LOCK DSFID",
        0x2B: "GET SYSTEM INFORMATION", 0x2C: "GET MULTIPLE BLOCK SECURITY STATUS",
        0x2D: "FAST READ MULTIPLE BLOCKS", 0x30: "EXTENDED READ SINGLE BLOCK",
        0x31: "EXTENDED WRITE SINGLE BLOCK", 0x32: "EXTENDED LOCK BLOCK", 0x33: "EXTENDED READ MULTIPLE BLOCKS",
        0x34: "EXTENDED WRITE MULTIPLE BLOCKS", 0x35: "AUTHENTICATE", 0x36: "KEY UPDATE", 0x39: "CHALLENGE",
        0x3A: "READ BUFFER", 0x3B: "EXTENDED GET SYSTEM INFORMATION",
        0x3C: "EXTENDED GET MULTIPLE BLOCK SECURITY STATUS", 0x3D: "FAST EXTENDED READ MULTIPLE BLOCKS",
    ]

    static func request(_ bytes: [UInt8]) -> String {
        var cursor = ByteCursor(bytes)
        guard let flags = cursor.next(), let code = cursor.next() else { return ExchangeInterpreter.size(bytes) }
        if code == 0x01 {
            let slots = flags & 0x20 != 0 ? "1 slot" : "16 slots"
            return "INVENTORY, \(slots)" + (flags & 0x10 != 0 ? ", one family" : "")
        }
        var words = names[code] ?? "command \(code.hexText(digits: 2))"
        if code >= 0xA0, let maker = cursor.next() { words += " of manufacturer \(maker.hexText(digits: 2))" }
        var address: [UInt8]?
        if flags & 0x24 == 0x20 { address = cursor.take(8) }
        words += place(code, &cursor)
        if let address { words += ", to \(address.reversed().hexText())" }
        if flags & 0x14 == 0x10 { words += ", to the selected tag" }
        return words
    }

    /// Describes the blocks that a command applies to.
    private static func place(_ code: UInt8, _ cursor: inout ByteCursor) -> String {
        let isExtended = (0x30...0x34).contains(code) || code == 0x3C || code == 0x3D
        switch code {
        case 0x20, 0x21, 0x22, 0x23, 0x24, 0x2C, 0x2D, 0x30...0x34, 0x3C, 0x3D:
            guard let first = isExtended ? cursor.littleEndian() : cursor.next().map(Int.init) else { return "" }
            let name = first.hexText(digits: isExtended ? 4 : 2)
            guard [0x23, 0x24, 0x2C, 0x2D, 0x33, 0x34, 0x3C, 0x3D].contains(code),
                let more = isExtended ? cursor.littleEndian() : cursor.next().map(Int.init)
            else { return " \(name)" + ([0x21, 0x31].contains(code) ? ": \(cursor.rest.hexText())" : "") }
            return " \(name) to \((first + more).hexText(digits: isExtended ? 4 : 2))"
        case 0x27, 0x29: return cursor.next().map { " " + $0.hexText(digits: 2) } ?? ""
        default: return ""
        }
    }

    static func answer(_ bytes: [UInt8], to command: UInt8) -> String {
        guard let flags = bytes.first else { return "nothing" }
        guard flags & 0x01 == 0 else {
            guard bytes.count > 1 else { return "error" }
            return "error \(bytes[1].hexText(digits: 2)): \(errors[bytes[1]] ?? "no reason given")"
        }
        if command == 0x01, bytes.count == 10 { return "UID \(bytes[2...].reversed().hexText())" }
        return bytes.count == 1 ? "done" : "\(counted(bytes.count - 1, "byte"))"
    }

    /// The error codes of ISO/IEC 15693-3, 7.4.2.
    private static let errors: [UInt8: String] = [
        0x01: "not supported", 0x02: "not recognised", 0x03: "no such option", 0x10: "no such block",
        0x11: "locked already", 0x12: "locked", 0x13: "the write failed", 0x14: "the lock failed", 0x15: "protected",
    ]
}

/// Reads bytes from the front. Each read returns nil when too few bytes remain.
struct ByteCursor {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    mutating func next() -> UInt8? { rest.popFirst() }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func littleEndian(_ count: Int = 2) -> Int? { take(count).map { Int(bytes: $0.reversed()) } }
}

/// Returns a count with its noun, in the plural if needed.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
