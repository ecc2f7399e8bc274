// SPDX-License-Identifier: Apache-2.0

/// A value of a message on a bus (D-Bus Specification 0.38, Type System).
package indirect enum BusValue: Sendable, Hashable {
    /// A text.
    case string(String)
    /// An object path.
    case path(String)
    /// A Boolean.
    case boolean(Bool)
    /// A byte.
    case byte(UInt8)
    /// A signed 32-bit integer.
    case int32(Int32)
    /// An unsigned 32-bit integer.
    case uint32(UInt32)
    /// An integer of another size, as received. It can't be sent.
    case number(Int64)
    /// An array of bytes.
    case bytes([UInt8])
    /// An array of texts, for sending.
    case strings([String])
    /// A dictionary of names and values. In a received dictionary, each name occurs once.
    case properties([String: BusValue])
    /// An array or a structure, as received. It can't be sent.
    case list([BusValue])

    /// The text, or the object path.
    package var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        default: nil
        }
    }

    /// The number, of any size.
    package var integer: Int64? {
        switch self {
        case .byte(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The Boolean.
    package var isTrue: Bool? {
        if case .boolean(let value) = self { return value }
        return nil
    }

    /// The values of an array or a structure.
    package var values: [BusValue]? {
        if case .list(let values) = self { return values }
        return nil
    }

    /// The values by name.
    package var members: [String: BusValue]? {
        if case .properties(let members) = self { return members }
        return nil
    }

    /// The type as it is sent.
    var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .boolean: "b"
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .bytes: "ay"
        case .strings: "as"
        case .properties: "a{sv}"
        case .number, .list: "x"
        }
    }
}
