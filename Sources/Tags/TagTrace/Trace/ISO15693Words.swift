// SPDX-License-Identifier: Apache-2.0
import TagLink

extension ExchangeInterpreter {
    /// Describes a frame of NFC-V, starting with the flags (ISO/IEC 15693-3, 7.3).
    mutating func meaningNFCV(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 2 else { return bytes.isEmpty ? "end of frame: next slot, or answer now" : "1 byte" }
        expectation = .nfcV(bytes[1])
        return ISO15693Words.request(bytes)
    }
}

/// The commands of ISO/IEC 15693-3, 10, with those of NXP and ST.
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
            return "error" + (bytes.count > 1 ? " \(bytes[1].hexText(digits: 2)): \(error(bytes[1]))" : "")
        }
        if command == 0x01, bytes.count == 10 { return "UID \(bytes[2...].reversed().hexText())" }
        return bytes.count == 1 ? "done" : "\(counted(bytes.count - 1, "byte"))"
    }

    /// Describes the error codes of ISO/IEC 15693-3, 7.4.2.
    private static func error(_ code: UInt8) -> String {
        switch code {
        case 0x01: "not supported"
        case 0x02: "not recognised"
        case 0x03: "no such option"
        case 0x10: "no such block"
        case 0x11: "locked already"
        case 0x12: "locked"
        case 0x13: "the write failed"
        case 0x14: "the lock failed"
        case 0x15: "protected"
        default: "no reason given"
        }
    }
}
