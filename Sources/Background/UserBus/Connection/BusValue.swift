// SPDX-License-Identifier: Apache-2.0

/// A value of a message on a bus (D-Bus Specification 0.38, Type System).
public indirect enum BusValue: Sendable, Hashable {
    /// A text.
    case string(String)
    /// The path of an object.
    case path(String)
    /// Yes or no.
    case boolean(Bool)
    /// An octet.
    case byte(UInt8)
    /// A number of 32 bits with a sign.
    case int32(Int32)
    /// A number of 32 bits.
    case uint32(UInt32)
    /// A number of another size, as it was received. It can't be sent.
    case number(Int64)
    /// Octets.
    case octets([UInt8])
    /// An array of texts, to be sent.
    case strings([String])
    /// A dictionary of names and values; when it was received, each name once.
    case properties([String: BusValue])
    /// An array or a structure, as it was received. It can't be sent.
    case list([BusValue])

    /// The text, or the path.
    public var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        default: nil
        }
    }

    /// The number, of whatever size.
    public var integer: Int64? {
        switch self {
        case .byte(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The Boolean.
    public var isTrue: Bool? {
        if case .boolean(let value) = self { return value }
        return nil
    }

    /// The values of an array or a structure.
    public var values: [BusValue]? {
        if case .list(let values) = self { return values }
        return nil
    }

    /// The values by their names.
    public var members: [String: BusValue]? {
        if case .properties(let members) = self { return members }
        return nil
    }

    /// The type that is sent.
    var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .boolean: "b"
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .octets: "ay"
        case .strings: "as"
        case .properties: "a{sv}"
        case .number, .list: "x"
        }
    }
}
