// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Finds the message in a file: bytes, hex digits, a Flipper dump of a Type 2 tag, or a JSON image.
enum TagFile {
    static func message(_ bytes: [UInt8]) -> NDEFMessage? {
        let text = String(decoding: bytes, as: UTF8.self)
        let found = hex(text) ?? flipper(text) ?? image(text) ?? bytes
        return try? NDEFMessage(decoding: found)
    }

    private static func hex(_ text: String) -> [UInt8]? {
        let digits = text.filter { !$0.isWhitespace }
        return digits.isEmpty ? nil : Hex.bytes(digits)
    }

    /// The message in a Flipper dump, found in the TLV blocks that begin at page 4.
    private static func flipper(_ text: String) -> [UInt8]? {
        guard text.hasPrefix("Filetype: Flipper") else { return nil }
        var memory: [UInt8] = []
        for line in text.split(separator: "\n") where line.hasPrefix("Page ") {
            let parts = line.dropFirst(5).split(separator: ":")
            guard parts.count == 2, let number = Int(parts[0]), number >= 4 else { continue }
            guard let page = Hex.bytes(parts[1].filter { !$0.isWhitespace }) else { return nil }
            memory += page
        }
        return tlv(memory)
    }

    private static func image(_ text: String) -> [UInt8]? {
        for key in ["\"message_hex\"", "\"ndef_hex\""] {
            guard let start = text.firstRange(of: key)?.upperBound else { continue }
            let rest = text[start...].drop { $0 != "\"" }.dropFirst()
            return Hex.bytes(String(rest.prefix { $0 != "\"" }))
        }
        return nil
    }

    /// The value of the first TLV block with the tag 03.
    private static func tlv(_ memory: [UInt8]) -> [UInt8]? {
        var index = 0
        while index < memory.count {
            let type = memory[index]
            if type == 0x00 {
                index += 1
                continue
            }
            guard type != 0xFE, index + 1 < memory.count else { return nil }
            var length = Int(memory[index + 1])
            var start = index + 2
            if length == 0xFF {
                guard index + 3 < memory.count else { return nil }
                length = Int(memory[index + 2]) << 8 | Int(memory[index + 3])
                start = index + 4
            }
            guard start + length <= memory.count else { return nil }
            if type == 0x03 { return Array(memory[start..<(start + length)]) }
            index = start + length
        }
        return nil
    }
}
