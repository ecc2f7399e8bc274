// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A command APDU as a card parses it (ISO/IEC 7816-4, 5.1).
public struct CardCommand: Sendable, Hashable {
    /// The class byte.
    public var cla: UInt8
    /// The instruction byte.
    public var ins: UInt8
    /// The first parameter.
    public var p1: UInt8
    /// The second parameter.
    public var p2: UInt8
    /// The command's data field.
    public var data: [UInt8]
    /// The maximum number of bytes that the reader expects, 1 to 65536; nil when it expects none.
    public var expectedLength: Int?
    /// Whether the length fields are extended.
    public var isExtended: Bool

    /// Parses a command APDU.
    ///
    /// - Parameter bytes: the whole command.
    /// - Returns: nil when the bytes are not a command APDU, because they are too short or have inconsistent lengths.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4 else { return nil }
        cla = bytes[0]
        ins = bytes[1]
        p1 = bytes[2]
        p2 = bytes[3]
        data = []
        expectedLength = nil
        isExtended = false
        let body = Array(bytes[4...])
        guard let first = body.first else { return }
        if body.count == 1 {
            expectedLength = first == 0 ? 256 : Int(first)
        } else if first != 0 {
            let length = Int(first)
            guard body.count == 1 + length || body.count == 2 + length else { return nil }
            data = Array(body[1...length])
            if body.count == 2 + length {
                expectedLength = body[1 + length] == 0 ? 256 : Int(body[1 + length])
            }
        } else if !takeExtended(body) {
            return nil
        }
    }

    /// Parses the extended length fields of a body that starts with 00.
    private mutating func takeExtended(_ body: [UInt8]) -> Bool {
        guard body.count >= 3 else { return false }
        isExtended = true
        let length = Int(high: body[1], low: body[2])
        if body.count == 3 {
            expectedLength = length == 0 ? 65536 : length
            return true
        }
        guard length > 0, body.count == 3 + length || body.count == 5 + length else { return false }
        data = Array(body[3..<(3 + length)])
        if body.count == 5 + length {
            let expected = Int(high: body[3 + length], low: body[4 + length])
            expectedLength = expected == 0 ? 65536 : expected
        }
        return true
    }

    /// Whether Le consists of zeros, so that the reader expects all bytes up to the most that Le can encode. Two bytes
    /// of 01 00 are a number like any other.
    package var requestsAll: Bool { expectedLength == (isExtended ? 65536 : 256) }

    /// The two parameters as one number.
    public var parameters: UInt16 { UInt16(high: p1, low: p2) }
}
