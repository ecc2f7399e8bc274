// SPDX-License-Identifier: Apache-2.0
import TagLink

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
        case 0x0A, 0x1A, 0xAA, 0x71, 0x77:
            return cursor.next().map { "\(name) with key \($0 & 0x3F)" } ?? name
        case 0xC4, 0x64: return cursor.next().map { "\(name) \($0 & 0x3F)" } ?? name
        default: return name
        }
    }

    static func status(_ status: UInt8) -> String {
        switch status {
        // READ SIGNATURE has a status of its own for success.
        case 0x00, 0x90: "done"
        case 0x0C: "no changes"
        case 0x0E: "no room"
        case 0x1C: "no such command"
        case 0x1E: "code or padding is wrong"
        case 0x40: "no such key"
        case 0x7E: "wrong length"
        case 0x9D: "not allowed"
        case 0x9E: "wrong parameter"
        case 0xA0: "no such application"
        case 0xAE: "not authenticated"
        case 0xAF: "more follows"
        case 0xBE: "beyond the file"
        case 0xCA: "cut off"
        case 0xCE: "no more applications"
        case 0xDE: "there is such a one already"
        case 0xEE: "the memory failed"
        case 0xF0: "no such file"
        default: "status \(status.hexText(digits: 2))"
        }
    }
}
