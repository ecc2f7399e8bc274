// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The commands of Type 2 tags, NTAG and MIFARE Ultralight, and the unencrypted commands of MIFARE Classic (NFC Forum
/// T2T 1.2, 5; NTAG213/215/216, MF0ULx1, MF0ICU2 and MF1S50 data sheets).
enum Type2Words {
    static func request(_ bytes: [UInt8], hidesData: Bool = false) -> String {
        guard let command = bytes.first else { return "nothing" }
        let place = bytes.count > 1 ? " " + bytes[1].hexText(digits: 2) : ""
        let data = hidesData ? "" : ": " + bytes.dropFirst(2).hexText()
        switch (command, bytes.count) {
        case (0x30, 2): return "READ" + place
        case (0x3A, 3): return "FAST READ\(place) to \(bytes[2].hexText(digits: 2))"
        case (0xA2, 6): return "WRITE" + place + data
        case (0xA0, 2): return "COMPATIBILITY WRITE\(place), or WRITE of MIFARE Classic"
        case (0x60, 1): return "GET VERSION"
        case (0x60, 2), (0x61, 2): return "AUTHENTICATE block\(place) with key \(command == 0x60 ? "A" : "B")"
        case (0x1B, 5): return "PWD AUTH"
        case (0x1A, 2): return "AUTHENTICATE"
        case (0xAF, 17): return "AUTHENTICATE, second part"
        case (0x39, 2): return "READ COUNTER" + place
        case (0xA5, 6): return "INCREMENT COUNTER" + place + data
        case (0x3C, 2): return "READ SIGNATURE"
        case (0xAC, 6): return "WRITE SIGNATURE" + place + data
        case (0xAC, 2): return "LOCK SIGNATURE" + place
        case (0x3E, 2): return "CHECK TEARING EVENT" + place
        case (0x4B, 21): return "VIRTUAL CARD SELECT"
        case (0xC2, 2) where bytes[1] == 0xFF: return "SECTOR SELECT, first packet"
        case (0xC0, 2): return "DECREMENT" + place
        case (0xC1, 2): return "INCREMENT" + place
        case (0xC2, 2): return "RESTORE" + place
        case (0xB0, 2): return "TRANSFER" + place
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
        switch nibble {
        case 0xA: "ACK"
        case 0x0: "NAK 0: not allowed, or no such place"
        case 0x1: "NAK 1: parity or checksum was wrong"
        case 0x4: "NAK 4: not authenticated, or a counter is full"
        case 0x5: "NAK 5: the write failed, or has to be proved first"
        case 0x7: "NAK 7: the write failed"
        default: "NAK \(String(nibble, radix: 16, uppercase: true))"
        }
    }
}
