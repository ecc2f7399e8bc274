// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Parses hexadecimal digits; nil if there is anything else.
    ///
    /// - Parameters:
    ///   - digits: the text.
    ///   - separated: whether a space stands between bytes; if not, spaces are refused.
    package init?(hexadecimal digits: some Sequence<UInt8>, separated: Bool = false) {
        var bytes: [UInt8] = []
        var high: UInt8?
        var needsSpace = false
        for character in digits {
            if separated, character == 0x20, high == nil {
                needsSpace = false
                continue
            }
            guard !needsSpace, let digit = character.hexDigitValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
                needsSpace = separated
            } else {
                high = digit
            }
        }
        guard high == nil else { return nil }
        self = bytes
    }
}
