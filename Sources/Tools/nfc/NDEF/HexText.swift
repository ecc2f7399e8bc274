// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Bytes as hex. Written in lower case without separators; spaces, tabs and colons are skipped when read.
enum HexText {
    /// The digits by value.
    static let digits: [UInt8] = Array("0123456789abcdef".utf8)

    /// Reads a line.
    static func bytes(_ line: ArraySlice<UInt8>) -> Result<[UInt8], InputError> {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.count / 2)
        var high: UInt8?
        for index in line.indices {
            let character = line[index]
            guard let value = character.hexDigitValue else {
                if character == 0x20 || character == 0x09 || character == 0x3A || character == 0x0D { continue }
                let offset = index - line.startIndex
                let message = "Character \(offset + 1) of the line is not a hex digit."
                return .failure(InputError(name: "bad-hex", offset: offset, message: message))
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        guard high == nil else {
            let message = "The line has an odd number of hex digits."
            return .failure(InputError(name: "bad-hex", offset: line.count, message: message))
        }
        return .success(bytes)
    }

    /// Appends bytes.
    static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0x0F)])
        }
    }

    /// Bytes as a string.
    static func text(_ bytes: some Sequence<UInt8>) -> String { bytes.hexText() }
}
