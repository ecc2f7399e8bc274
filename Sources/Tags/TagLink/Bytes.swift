// SPDX-License-Identifier: Apache-2.0

// Numbers in frames and memory. ISO 7816 and NDEF put the most significant byte first; FeliCa and ISO 15693 put it
// last.

extension UInt16 {
    @inlinable package init(high: UInt8, low: UInt8) { self = UInt16(high) << 8 | UInt16(low) }

    /// The two bytes, most significant byte first.
    @inlinable package var bigEndianBytes: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }

    /// The two bytes, least significant byte first.
    @inlinable package var littleEndianBytes: [UInt8] { [UInt8(self & 0xFF), UInt8(self >> 8)] }
}

extension Int {
    @inlinable package init(high: UInt8, low: UInt8) { self = Int(high) << 8 | Int(low) }
}

extension FixedWidthInteger {
    /// Creates a number from bytes, most significant byte first.
    ///
    /// If there are too many bytes for the type, only the last bytes count.
    @inlinable package init(bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension [UInt8] {
    /// Writes a number in its lowest `count` bytes, most significant byte first.
    @inlinable package init(bigEndian value: Int, count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    /// Writes a number in its lowest `count` bytes, least significant byte first.
    @inlinable package init(littleEndian value: Int, count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns the `count` bytes at `offset` as a number, least significant byte first. They must lie inside the array.
    @inlinable package func littleEndian(at offset: Int, count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }

    /// Returns whether bit `index` is set, counted from the lowest bit of the first byte. It must lie inside the array.
    @inlinable package func hasBit(_ index: Int) -> Bool { self[index / 8] >> (index % 8) & 1 == 1 }
}

extension UInt8 {
    /// The value of a hexadecimal digit in ASCII, in either case; nil for any other byte.
    @inlinable package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x61...0x66: self - 0x61 + 10
        case 0x41...0x46: self - 0x41 + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    /// Returns the bytes as hex digits in lower case, two for each byte.
    package func hexText(separator: String = "") -> String {
        var text: [UInt8] = []
        text.reserveCapacity(underestimatedCount * (2 + separator.utf8.count))
        for byte in self {
            if !text.isEmpty { text += separator.utf8 }
            text.append(Self.digit(byte >> 4))
            text.append(Self.digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The character of a hex digit below 16.
    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 - 10 + value }
}

extension FixedWidthInteger {
    /// Returns the number as hex digits with leading zeros, in upper case, as data sheets write addresses.
    package func hexText(digits: Int) -> String {
        let text = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}

extension [UInt8] {
    /// Parses hexadecimal digits; nil if the text contains anything else.
    ///
    /// - Parameter separated: whether one space must separate the bytes; if false, spaces are refused.
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

extension [UInt8] {
    package func concealing(_ places: [Range<Int>]) -> [UInt8] {
        var bytes = self
        for place in places { for index in place.clamped(to: indices) { bytes[index] = 0 } }
        return bytes
    }
}

extension Frame {
    package func concealing(_ places: [Range<Int>]) -> Frame {
        var frame = self
        frame.bytes = bytes.concealing(places)
        return frame
    }
}

extension [UInt8] {
    /// Returns whether two IDms belong to systems of the same FeliCa card. Such IDms differ at most in their first four
    /// bits, the system number (FeliCa Card User's Manual, 2.3.1).
    package func isIDmOfSameCard(as other: [UInt8]) -> Bool {
        guard let first, let otherFirst = other.first else { return self == other }
        return first & 0x0F == otherFirst & 0x0F && dropFirst() == other.dropFirst()
    }
}
