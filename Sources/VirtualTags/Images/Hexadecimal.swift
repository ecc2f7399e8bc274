// SPDX-License-Identifier: Apache-2.0
import TagLink

extension UInt8 {
    /// The value of a hexadecimal digit in ASCII, or nil when it is none.
    var hexadecimalDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}

extension [UInt8] {
    /// Octets from hexadecimal digits, or nil when there is anything else.
    ///
    /// - Parameters:
    ///   - digits: the text.
    ///   - separated: whether there is a space between octets, or nothing.
    init?(hexadecimal digits: some Sequence<UInt8>, separated: Bool = false) {
        var octets: [UInt8] = []
        var high: UInt8?
        var needsSpace = false
        for character in digits {
            if separated, character == 0x20, high == nil {
                needsSpace = false
                continue
            }
            guard !needsSpace, let digit = character.hexadecimalDigit else { return nil }
            if let first = high {
                octets.append(first << 4 | digit)
                high = nil
                needsSpace = separated
            } else {
                high = digit
            }
        }
        guard high == nil else { return nil }
        self = octets
    }

    /// Hexadecimal digits in lower case without separators.
    var hexadecimalText: String {
        map { $0.hexadecimalPair }.joined()
    }

    /// Hexadecimal digits in upper case, octets separated by spaces.
    var spacedHexadecimalText: String {
        map { $0.hexadecimalPair.uppercased() }.joined(separator: " ")
    }
}

extension UInt8 {
    fileprivate var hexadecimalPair: String {
        self < 16 ? "0" + String(self, radix: 16) : String(self, radix: 16)
    }
}
