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
    /// - Parameter bytes: the whole command.
    /// - Returns: nil when header, Lc, data and Le don't add up to the number of bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4 else { return nil }
        self.init(bytes[0], bytes[1], bytes[2], bytes[3])
        let body = Array(bytes[4...])
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
    public var bytes: [UInt8] {
        var result = [instructionClass, instruction, parameter1, parameter2]
        let expected = expectedLength ?? 0
        if usesExtendedLength || data.count > 255 || expected > 256 {
            guard !data.isEmpty || expected > 0 else { return result }
            result.append(0)
            if !data.isEmpty {
                result += UInt16(data.count).bigEndianBytes + data
            }
            if expected > 0 {
                result += UInt16(truncatingIfNeeded: expected).bigEndianBytes
            }
            return result
        }
        if !data.isEmpty { result += [UInt8(data.count)] + data }
        if expected > 0 { result.append(UInt8(expected & 0xFF)) }
        return result
    }

    /// Returns whether a command's bytes have extended length fields.
    static func isExtended(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 7 && bytes[4] == 0
    }
}
