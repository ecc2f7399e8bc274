// SPDX-License-Identifier: Apache-2.0
import TagLink

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

    /// Describes a command. It must have at least four bytes.
    static func command(_ bytes: [UInt8], data: [UInt8]) -> String {
        let (cla, ins, p1, p2) = (bytes[0], bytes[1], bytes[2], bytes[3])
        guard let name = names[ins] else {
            return "command \(bytes.prefix(4).hexText())" + (data.isEmpty ? "" : ", \(counted(data.count, "byte"))")
        }
        var words = name
        switch ins {
        case 0xA4: words = select(p1, data)
        case 0xB0, 0xD6, 0xD0, 0x0E:
            let place =
                p1 & 0x80 == 0
                ? " " + Int(high: p1, low: p2).hexText(digits: 4)
                : " of file \((p1 & 0x1F).hexText(digits: 2)), \(p2.hexText(digits: 4))"
            words += place + "+" + (ins == 0xB0 ? expectedLength(bytes) : dataLength(bytes))
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
            let known = applications.first { data.starts(with: $0.name) }
            let name = data.isEmpty ? "" : " " + data.hexText()
            return known.map { "SELECT " + $0.words } ?? "SELECT application" + name
        }
        switch data {
        case [0xE1, 0x03]: return "SELECT capability container E103"
        case [0x3F, 0x00]: return "SELECT master file"
        case []: return "SELECT master file"
        default: return "SELECT file \(data.hexText().uppercased())"
        }
    }

    /// Le, short or extended; 00 means as many bytes as there are.
    private static func expectedLength(_ bytes: [UInt8]) -> String {
        switch bytes.count {
        case 5: bytes[4].hexText(digits: 2)
        case 7: Int(high: bytes[5], low: bytes[6]).hexText(digits: 4)
        default: "all"
        }
    }

    /// Lc, short or extended. The first block of a long command does not have all of its data.
    private static func dataLength(_ bytes: [UInt8]) -> String {
        guard bytes.count > 5 else { return "00" }
        let isExtended = bytes[4] == 0 && bytes.count > 7
        return isExtended ? Int(high: bytes[5], low: bytes[6]).hexText(digits: 4) : bytes[4].hexText(digits: 2)
    }

    /// Describes a command for the reader, not for the card (PC/SC 2.01 part 3, 3.2.2).
    static func reader(_ bytes: [UInt8]) -> String {
        let place = Int(high: bytes[2], low: bytes[3]).hexText(digits: 4)
        return switch bytes[1] {
        case 0xCA: bytes[2] == 0x01 ? "reader: GET DATA, historical bytes" : "reader: GET DATA, UID"
        case 0x82: "reader: LOAD KEY"
        case 0x86, 0x88: "reader: AUTHENTICATE"
        case 0x20: "reader: VERIFY"
        case 0xB0: "reader: READ BINARY \(place)"
        case 0xD6: "reader: UPDATE BINARY \(place)"
        case 0x00: "reader: to its chip"
        case 0xC2: "reader: transparent session"
        default: "reader: command \(bytes.prefix(4).hexText())"
        }
    }
}
