// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A command APDU (ISO/IEC 7816-4, 5.1).
public struct CommandAPDU: Sendable, Hashable {
    /// CLA.
    public var instructionClass: UInt8
    /// INS.
    public var instruction: UInt8
    /// P1.
    public var parameter1: UInt8
    /// P2.
    public var parameter2: UInt8
    /// The data field; empty when the command has none. At most 65,535 bytes.
    public var data: [UInt8]
    /// Ne, the largest number of response bytes expected: 1 to 65,536; nil or 0 when none are expected.
    public var expectedLength: Int?
    /// Whether extended length fields are used even when short ones are enough.
    public var usesExtendedLength: Bool

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - instructionClass: CLA.
    ///   - instruction: INS.
    ///   - parameter1: P1.
    ///   - parameter2: P2.
    ///   - data: the data field, at most 65,535 bytes.
    ///   - expectedLength: Ne, at most 65,536.
    ///   - usesExtendedLength: whether extended length fields are forced.
    public init(
        _ instructionClass: UInt8,
        _ instruction: UInt8,
        _ parameter1: UInt8,
        _ parameter2: UInt8,
        data: [UInt8] = [],
        expectedLength: Int? = nil,
        usesExtendedLength: Bool = false
    ) {
        precondition(data.count <= 65535, "a data field has at most 65,535 bytes")
        precondition((0...65536).contains(expectedLength ?? 0), "Ne is 0 to 65,536")
        self.instructionClass = instructionClass
        self.instruction = instruction
        self.parameter1 = parameter1
        self.parameter2 = parameter2
        self.data = data
        self.expectedLength = expectedLength == 0 ? nil : expectedLength
        self.usesExtendedLength = usesExtendedLength
    }

    /// Reads a command APDU.
    ///
    /// - Parameter octets: the whole command.
    /// - Returns: nil when header, Lc, data and Le don't add up to the number of bytes.
    public init?(_ octets: [UInt8]) {
        guard octets.count >= 4 else { return nil }
        self.init(octets[0], octets[1], octets[2], octets[3])
        let body = Array(octets[4...])
        guard let first = body.first else { return }
        if body.count == 1 {
            expectedLength = first == 0 ? 256 : Int(first)
            return
        }
        if first != 0 {
            let end = 1 + Int(first)
            guard body.count == end || body.count == end + 1 else { return nil }
            data = Array(body[1..<end])
            if body.count > end { expectedLength = body[end] == 0 ? 256 : Int(body[end]) }
            return
        }
        guard body.count >= 3 else { return nil }
        usesExtendedLength = true
        let length = Int(high: body[1], low: body[2])
        if body.count == 3 {
            expectedLength = length == 0 ? 65536 : length
            return
        }
        let end = 3 + length
        guard length > 0, body.count == end || body.count == end + 2 else { return nil }
        data = Array(body[3..<end])
        if body.count > end {
            let expected = Int(high: body[end], low: body[end + 1])
            expectedLength = expected == 0 ? 65536 : expected
        }
    }

    /// The command's bytes, with short length fields when they are enough.
    public var octets: [UInt8] {
        var result = [instructionClass, instruction, parameter1, parameter2]
        let expected = expectedLength ?? 0
        if usesExtendedLength || data.count > 255 || expected > 256 {
            guard !data.isEmpty || expected > 0 else { return result }
            result.append(0)
            if !data.isEmpty {
                result += UInt16(data.count).bigEndianOctets + data
            }
            if expected > 0 {
                result += UInt16(truncatingIfNeeded: expected).bigEndianOctets
            }
            return result
        }
        if !data.isEmpty { result += [UInt8(data.count)] + data }
        if expected > 0 { result.append(UInt8(expected & 0xFF)) }
        return result
    }

    /// Returns whether a command's bytes have extended length fields.
    static func isExtended(_ octets: [UInt8]) -> Bool {
        octets.count >= 7 && octets[4] == 0
    }
}

/// A status word, SW1 and SW2 (ISO/IEC 7816-4, 5.6).
public struct StatusWord: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// SW1 in the high byte, SW2 in the low byte.
    public var rawValue: UInt16

    /// Creates a status word.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 9000: success.
    public static let success = StatusWord(rawValue: 0x9000)
    /// 6282: the end of the file was reached before Ne bytes.
    public static let endOfFile = StatusWord(rawValue: 0x6282)
    /// 6982: the security status does not allow the command.
    public static let securityStatusNotSatisfied = StatusWord(rawValue: 0x6982)
    /// 6A82: no such file or application.
    public static let fileNotFound = StatusWord(rawValue: 0x6A82)
    /// 6B00: wrong P1 or P2, such as an offset after the end of the file.
    public static let wrongParameters = StatusWord(rawValue: 0x6B00)

    /// SW1.
    public var high: UInt8 { UInt8(rawValue >> 8) }
    /// SW2.
    public var low: UInt8 { UInt8(rawValue & 0xFF) }

    /// Whether the command was executed, with or without a warning (61xx, 62xx, 63xx, 9000).
    public var isSuccessOrWarning: Bool {
        self == .success || (0x61...0x63).contains(high)
    }

    /// Four upper-case hexadecimal digits.
    public var description: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}

/// A response APDU (ISO/IEC 7816-4, 5.1).
public struct ResponseAPDU: Sendable, Hashable {
    /// The data field.
    public var data: [UInt8]
    /// The status word.
    public var status: StatusWord

    /// Creates a response.
    public init(data: [UInt8] = [], status: StatusWord) {
        self.data = data
        self.status = status
    }

    /// Reads a response APDU.
    ///
    /// - Parameter octets: the whole response.
    /// - Returns: nil when there are fewer than two bytes.
    public init?(_ octets: [UInt8]) {
        guard octets.count >= 2 else { return nil }
        self.data = Array(octets.dropLast(2))
        self.status = StatusWord(rawValue: UInt16(high: octets[octets.count - 2], low: octets[octets.count - 1]))
    }
}
