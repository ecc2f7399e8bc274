// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The status words of ISO/IEC 7816-4, 5.1.3.
enum StatusWords {
    private static let words: [Int: String] = [
        0x9000: "done", 0x6200: "with a warning", 0x6281: "data may be damaged", 0x6282: "the file ends before",
        0x6283: "the file is deactivated", 0x6300: "with a warning", 0x6400: "not done", 0x6581: "the memory failed",
        0x6700: "wrong length", 0x6881: "no such channel", 0x6882: "no secure messaging",
        0x6883: "the last part is missing",
        0x6884: "no chaining", 0x6900: "not allowed", 0x6981: "the file does not fit the command",
        0x6982: "not authenticated", 0x6983: "blocked", 0x6984: "the reference can't be used", 0x6985: "not now",
        0x6986: "no file is selected", 0x6987: "secure messaging is missing", 0x6988: "secure messaging is wrong",
        0x6A80: "wrong data", 0x6A81: "not supported", 0x6A82: "not found", 0x6A83: "no such record",
        0x6A84: "no room", 0x6A86: "wrong P1 or P2", 0x6A87: "Lc does not fit P1 and P2", 0x6A88: "no such reference",
        0x6A89: "there is such a file already", 0x6B00: "no such place", 0x6D00: "no such instruction",
        0x6E00: "no such class", 0x6F00: "failed for no reason given",
    ]

    static func meaning(of word: Int) -> String {
        let hex = word.hexText(digits: 4).lowercased()
        if let known = words[word] { return "\(hex) \(known)" }
        switch word >> 8 {
        case 0x61: return "\(hex) \(word & 0xFF == 0 ? "more" : counted(word & 0xFF, "byte") + " more")"
        case 0x6C: return "\(hex) Le has to be \((word & 0xFF).hexText(digits: 2))"
        case 0x63 where word & 0xF0 == 0xC0: return "\(hex) \(word & 0x0F) \(word & 0x0F == 1 ? "try" : "tries") left"
        case 0x91: return "\(hex) \(DESFireWords.status(UInt8(word & 0xFF)))"
        default: return hex
        }
    }
}
