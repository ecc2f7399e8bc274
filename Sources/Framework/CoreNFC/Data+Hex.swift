// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink

extension Data {
    /// The bytes as lower-case hexadecimal digits.
    var hex: String { hexText() }

    /// Parses hexadecimal digits; nil for other characters, or for an odd number of digits.
    init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.init(bytes)
    }
}
