// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Describes card commands in words: ISO/IEC 7816-4 commands, native commands of MIFARE DESFire and NTAG 424 DNA,
/// wrapped or not, and the commands of a PC/SC reader.
struct CommandInterpreter: Sendable {
    /// Whether the last command was a native command. Its answer starts, rather than ends, with the status.
    private var isNative = false

    mutating func meaning(ofCommand bytes: [UInt8]) -> String {
        isNative = false
        guard bytes.count >= 4 else { return native(bytes) }
        let (cla, ins) = (bytes[0], bytes[1])
        if cla == 0x90, bytes[2] == 0, bytes[3] == 0, let name = DESFireWords.commands[ins] {
            return DESFireWords.request(name, ins, Self.data(bytes))
        }
        if cla == 0xFF { return APDUWords.reader(bytes) }
        // Native command codes are not valid classes (ISO/IEC 7816-4, 5.1.1).
        if cla >= 0x40, cla < 0x80 || cla >= 0xA0, DESFireWords.commands[cla] != nil { return native(bytes) }
        return APDUWords.command(bytes, data: Self.data(bytes))
    }

    mutating func meaning(ofAnswer bytes: [UInt8]) -> String {
        if isNative {
            guard let status = bytes.first else { return "nothing" }
            return Self.join(bytes.count - 1, DESFireWords.status(status))
        }
        guard bytes.count >= 2 else { return bytes.isEmpty ? "nothing" : "no status word" }
        let word = Int(high: bytes[bytes.count - 2], low: bytes[bytes.count - 1])
        return Self.join(bytes.count - 2, StatusWords.meaning(of: word))
    }

    private mutating func native(_ bytes: [UInt8]) -> String {
        guard let code = bytes.first, let name = DESFireWords.commands[code] else {
            return ExchangeInterpreter.size(bytes)
        }
        isNative = true
        return DESFireWords.request(name, code, Array(bytes.dropFirst()))
    }

    private static func join(_ count: Int, _ status: String) -> String {
        count > 0 ? "\(counted(count, "byte")), \(status)" : status
    }

    /// Returns the data of a short or extended command, which may be incomplete (ISO/IEC 7816-4, 5.1).
    private static func data(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count > 5 else { return [] }
        if bytes[4] == 0 {
            guard bytes.count > 7 else { return [] }
            return Array(bytes[7...].prefix(Int(high: bytes[5], low: bytes[6])))
        }
        return Array(bytes[5...].prefix(Int(bytes[4])))
    }
}

/// The commands of ISO/IEC 7816-4, -8 and -9, and of PC/SC part 3.
enum APDUWords {
    private static let names: [UInt8: String] = [
        0x04: "DEACTIVATE FILE", 0x0E: "ERASE BINARY", 0x10: "PERFORM SCQL", 0x20: "VERIFY",
        0x22: "MANAGE SECURITY ENVIRONMENT", 0x24: "CHANGE REFERENCE DATA", 0x2A: "PERFORM SECURITY OPERATION",
        0x2C: "RESET RETRY COUNTER", 0x44: "ACTIVATE FILE", 0x46: "GENERATE KEY PAIR", 0x47: "GENERATE KEY PAIR",
        0x70: "MANAGE CHANNEL", 0x82: "EXTERNAL AUTHENTICATE", 0x84: "GET CHALLENGE",
        0x86: "GENERAL AUTHENTICATE", 0x87: "GENERAL AUTHENTICATE", 0x88: "INTERNAL AUTHENTICATE",
        0xA4: "SELECT", 0xB0: "READ BINARY", 0xB1: "READ BINARY", 0xB2: "READ RECORD", 0xC0: "GET RESPONSE",
        0xC2: "ENVELOPE", 0xCA: "GET DATA", 0xCB: "GET DATA", 0xD0: "WRITE BINARY", 0xD2: "WRITE RECORD",
        0xD6: "UPDATE BINARY", 0xD7: "UPDATE BINARY", 0xDA: "PUT DATA", 0xDB: "PUT DATA", 0xDC: "UPDATE RECORD",
        0xE0: "CREATE FILE", 0xE2: "APPEND RECORD", 0xE4: "DELETE FILE",
    ]

    private static let applications: [(name: [UInt8], words: String)] = [
        ([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01], "NDEF application"),
        ([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00], "NDEF application of version 1, or DESFire"),
        ([0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01], "travel document"),
        ([0xD2, 0x76, 0x00, 0x01, 0x24, 0x01], "OpenPGP application"),
        ([0xA0, 0x00, 0x00, 0x03, 0x08], "PIV application"),
        ([0xA0, 0x00, 0x00, 0x06, 0x47, 0x2F, 0x00, 0x01], "FIDO application"),
        (Array("2PAY.SYS.DDF01".utf8), "list of payment applications"),
    ]

    /// Describes a command, which must have at least four bytes.
    static func command(_ bytes: [UInt8], data: [UInt8]) -> String {
        let (cla, ins, p1, p2) = (bytes[0], bytes[1], bytes[2], bytes[3])
        guard let name = names[ins] else {
            return "command \(bytes.prefix(4).hexText())" + (data.isEmpty ? "" : ", \(counted(data.count, "byte"))")
        }
        var words = name
        switch ins {
        case 0xA4: words = select(p1, data)
        case 0xB0, 0xD6, 0xD0, 0x0E:
            let address =
                p1 & 0x80 == 0
                ? " " + Int(high: p1, low: p2).hexText(digits: 4)
                : " of file \((p1 & 0x1F).hexText(digits: 2)), \(p2.hexText(digits: 4))"
            words += address + "+" + (ins == 0xB0 ? expectedLength(bytes) : dataLength(bytes))
        case 0xB2, 0xD2, 0xDC: words += " \(p1.hexText(digits: 2))"
        case 0xCA, 0xCB, 0xDA, 0xDB: words += " " + Int(high: p1, low: p2).hexText(digits: 4)
        default: break
        }
        // Class: secure messaging and chaining (ISO/IEC 7816-4, 5.1.1).
        if cla & 0x80 == 0, cla & 0x0C == 0x0C { words += ", secured" }
        if cla & 0x80 == 0, cla & 0x10 != 0 { words += ", a part" }
        return words
    }

    private static func select(_ p1: UInt8, _ data: [UInt8]) -> String {
        if p1 == 0x04 {
            let application = applications.first { data.starts(with: $0.name) }
            let name = data.isEmpty ? "" : " " + data.hexText()
            return application.map { "SELECT " + $0.words } ?? "SELECT application" + name
        }
        switch data {
        case [0xE1, 0x03]: return "SELECT capability container E103"
        case [0x3F, 0x00]: return "SELECT master file"
        case []: return "SELECT master file"
        default: return "SELECT file \(data.hexText().uppercased())"
        }
    }

    /// Describes Le, short or extended; 00 means all available bytes.
    private static func expectedLength(_ bytes: [UInt8]) -> String {
        switch bytes.count {
        case 5: bytes[4].hexText(digits: 2)
        case 7: Int(high: bytes[5], low: bytes[6]).hexText(digits: 4)
        default: "all"
        }
    }

    /// Returns Lc, short or extended. The first block of a long command lacks part of the data.
    private static func dataLength(_ bytes: [UInt8]) -> String {
        guard bytes.count > 5 else { return "00" }
        let isExtended = bytes[4] == 0 && bytes.count > 7
        return isExtended ? Int(high: bytes[5], low: bytes[6]).hexText(digits: 4) : bytes[4].hexText(digits: 2)
    }

    /// Describes a command for the reader, not for the card (PC/SC 2.01 part 3, 3.2.2).
    static func reader(_ bytes: [UInt8]) -> String {
        let address = Int(high: bytes[2], low: bytes[3]).hexText(digits: 4)
        return switch bytes[1] {
        case 0xCA: bytes[2] == 0x01 ? "reader: GET DATA, historical bytes" : "reader: GET DATA, UID"
        case 0x82: "reader: LOAD KEY"
        case 0x86, 0x88: "reader: AUTHENTICATE"
        case 0x20: "reader: VERIFY"
        case 0xB0: "reader: READ BINARY \(address)"
        case 0xD6: "reader: UPDATE BINARY \(address)"
        case 0x00: bytes[2] == 0x40 ? "reader: lights and buzzer" : "reader: to its chip"
        case 0xC2: "reader: transparent session"
        default: "reader: command \(bytes.prefix(4).hexText())"
        }
    }
}

/// The status words of ISO/IEC 7816-4, 5.1.3.
enum StatusWords {
    private static let words: [Int: String] = [
        0x9000: "done", 0x6200: "with a warning", 0x6281: "data may be damaged", 0x6282: "the file ended early",
        0x6283: "the file is deactivated", 0x6300: "with a warning", 0x6400: "not done", 0x6581: "the memory failed",
        0x6700: "wrong length", 0x6881: "no such channel", 0x6882: "no secure messaging",
        0x6883: "the last part is missing",
        0x6884: "no chaining", 0x6900: "not allowed", 0x6981: "the file does not fit the command",
        0x6982: "not authenticated", 0x6983: "blocked", 0x6984: "the reference can't be used", 0x6985: "wrong state",
        0x6986: "no file is selected", 0x6987: "secure messaging is missing", 0x6988: "secure messaging is wrong",
        0x6A80: "wrong data", 0x6A81: "not supported", 0x6A82: "not found", 0x6A83: "no such record",
        0x6A84: "no room", 0x6A86: "wrong P1 or P2", 0x6A87: "Lc does not fit P1 and P2", 0x6A88: "no such reference",
        0x6A89: "the file already exists", 0x6B00: "wrong offset", 0x6D00: "no such instruction",
        0x6E00: "no such class", 0x6F00: "failed without a reason",
    ]

    static func meaning(of word: Int) -> String {
        let hex = word.hexText(digits: 4).lowercased()
        if let meaning = words[word] { return "\(hex) \(meaning)" }
        switch word >> 8 {
        case 0x61: return "\(hex) \(word & 0xFF == 0 ? "more" : counted(word & 0xFF, "byte") + " more")"
        case 0x6C: return "\(hex) Le must be \((word & 0xFF).hexText(digits: 2))"
        case 0x63 where word & 0xF0 == 0xC0: return "\(hex) \(word & 0x0F) \(word & 0x0F == 1 ? "try" : "tries") left"
        case 0x91: return "\(hex) \(DESFireWords.status(UInt8(word & 0xFF)))"
        default: return hex
        }
    }
}

/// The native commands of MIFARE DESFire and NTAG 424 DNA (MF3D(H)x3, NT4H2421Gx data sheets).
enum DESFireWords {
    static let commands: [UInt8: String] = [
        0x0A: "AUTHENTICATE", 0x1A: "AUTHENTICATE ISO", 0xAA: "AUTHENTICATE AES", 0x71: "AUTHENTICATE EV2 FIRST",
        0x77: "AUTHENTICATE EV2 NON FIRST", 0xAF: "ADDITIONAL FRAME", 0x5A: "SELECT APPLICATION",
        0xC4: "CHANGE KEY", 0xC6: "CHANGE KEY EV2", 0x54: "CHANGE KEY SETTINGS", 0x45: "GET KEY SETTINGS",
        0x64: "GET KEY VERSION", 0x5C: "SET CONFIGURATION", 0x60: "GET VERSION", 0x3C: "READ SIGNATURE",
        0x51: "GET CARD UID", 0x6E: "FREE MEMORY", 0xFC: "FORMAT PICC", 0x6A: "GET APPLICATION IDS",
        0x6D: "GET DF NAMES", 0xCA: "CREATE APPLICATION", 0xDA: "DELETE APPLICATION",
        0xCD: "CREATE STANDARD DATA FILE", 0xCB: "CREATE BACKUP DATA FILE", 0xCC: "CREATE VALUE FILE",
        0xC1: "CREATE LINEAR RECORD FILE", 0xC0: "CREATE CYCLIC RECORD FILE", 0xDF: "DELETE FILE",
        0x6F: "GET FILE IDS", 0x61: "GET ISO FILE IDS", 0xF5: "GET FILE SETTINGS", 0x5F: "CHANGE FILE SETTINGS",
        0xF6: "GET FILE COUNTERS", 0xBD: "READ DATA", 0xAD: "READ DATA", 0x3D: "WRITE DATA", 0x8D: "WRITE DATA",
        0x6C: "GET VALUE", 0x0C: "CREDIT", 0xDC: "DEBIT", 0x1C: "LIMITED CREDIT", 0xBB: "READ RECORDS",
        0xAB: "READ RECORDS", 0x3B: "WRITE RECORD", 0x8B: "WRITE RECORD", 0xEB: "CLEAR RECORD FILE",
        0xC7: "COMMIT TRANSACTION", 0xA7: "ABORT TRANSACTION",
    ]

    static func request(_ name: String, _ code: UInt8, _ data: [UInt8]) -> String {
        var cursor = ByteCursor(data)
        switch code {
        case 0x5A, 0xCA, 0xDA:
            guard let number = cursor.littleEndian(3) else { return name }
            return "\(name) \(number.hexText(digits: 6))"
        case 0xBD, 0xAD, 0x3D, 0x8D, 0xBB, 0xAB, 0x3B, 0x8B:
            guard let file = cursor.next(), let offset = cursor.littleEndian(3), let length = cursor.littleEndian(3)
            else { return name }
            return
                "\(name) of file \(file.hexText(digits: 2)), \(offset.hexText(digits: 4))+\(length.hexText(digits: 2))"
        case 0x6C, 0x0C, 0xDC, 0x1C, 0xF5, 0x5F, 0xDF, 0xEB, 0xF6:
            return cursor.next().map { "\(name) of file \($0.hexText(digits: 2))" } ?? name
        case 0x0A, 0x1A, 0xAA, 0x71, 0x77: return cursor.next().map { "\(name) with key \($0 & 0x3F)" } ?? name
        case 0xC4, 0x64: return cursor.next().map { "\(name) \($0 & 0x3F)" } ?? name
        default: return name
        }
    }

    static func status(_ status: UInt8) -> String { statuses[status] ?? "status \(status.hexText(digits: 2))" }

    private static let statuses: [UInt8: String] = [
        // READ SIGNATURE reports success as 90, not 00.
        0x00: "done", 0x90: "done", 0x0C: "no changes", 0x0E: "no room", 0x1C: "no such command",
        0x1E: "checksum, MAC or padding is wrong", 0x40: "no such key", 0x7E: "wrong length", 0x9D: "not allowed",
        0x9E: "wrong parameter", 0xA0: "no such application", 0xAE: "not authenticated", 0xAF: "more follows",
        0xBE: "outside the file", 0xCA: "cut off", 0xCE: "no more applications", 0xDE: "already exists",
        0xEE: "the memory failed", 0xF0: "no such file",
    ]
}
