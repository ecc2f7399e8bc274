// SPDX-License-Identifier: Apache-2.0
import TagLink

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
            guard !needsSpace, let digit = character.hexDigitValue else { return nil }
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

    /// Hexadecimal digits in upper case, octets separated by spaces.
    var spacedHexadecimalText: String {
        hexText(separator: " ").uppercased()
    }
}
