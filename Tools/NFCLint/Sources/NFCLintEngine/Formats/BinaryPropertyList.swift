// SPDX-License-Identifier: Apache-2.0

/// Parses a binary property list.
///
/// Objects can be shared, so a small file can expand to more values than fit in memory. Therefore the numbers of values
/// and of text bytes are limited.
struct BinaryPropertyList {
    /// The maximum number of values. Property lists of apps have far fewer.
    static let maximumValues = 100_000
    /// The maximum size of all texts together, in bytes.
    static let maximumTextBytes = 64 << 20

    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    private var visited = 0
    private var textBytes = 0

    static func read(_ bytes: [UInt8]) throws(FormatError) -> ConfigValue {
        guard bytes.count >= 40, bytes.count <= 8 << 20 else { throw broken }
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        let referenceSize = Int(bytes[trailer + 7])
        let count = try number(bytes, trailer + 8, 8)
        let top = try number(bytes, trailer + 16, 8)
        let table = try number(bytes, trailer + 24, 8)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), top < count, table <= trailer,
            count <= (trailer - table) / offsetSize
        else { throw broken }
        var offsets: [Int] = []
        for index in 0..<count { offsets.append(try number(bytes, table + index * offsetSize, offsetSize)) }
        var reader = BinaryPropertyList(bytes: bytes, offsets: offsets, referenceSize: referenceSize)
        let value = try reader.value(top, depth: 0)
        guard value.entries != nil else { throw broken }
        return value
    }

    private init(bytes: [UInt8], offsets: [Int], referenceSize: Int) {
        self.bytes = bytes
        self.offsets = offsets
        self.referenceSize = referenceSize
    }

    private static var broken: FormatError { FormatError("The binary property list can't be read.", Position()) }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) throws(FormatError) -> Int {
        guard offset >= 0, offset <= bytes.count - size else { throw broken }
        let value = bytes[offset..<(offset + size)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        guard value <= UInt64(Int32.max) else { throw broken }
        return Int(value)
    }

    private mutating func value(_ number: Int, depth: Int) throws(FormatError) -> ConfigValue {
        visited += 1
        guard visited <= Self.maximumValues else {
            throw FormatError("The file expands to more than \(Self.maximumValues) values.", Position())
        }
        guard depth < ByteCursor.deepest else { throw FormatError("Values are nested too deep.", Position()) }
        guard number < offsets.count, offsets[number] < bytes.count - 32 else { throw Self.broken }
        var offset = offsets[number]
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        offset += 1
        switch marker >> 4 {
        case 0x0:
            return ConfigValue(low == 8 || low == 9 ? .boolean(low == 9) : .other("a value"))
        case 0x1:
            guard low <= 3 else { return ConfigValue(.number("0")) }
            let size = 1 << low
            guard offset + size <= bytes.count else { throw Self.broken }
            let bits = bytes[offset..<(offset + size)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            return ConfigValue(.number("\(Int64(bitPattern: bits))"))
        case 0x5:
            let count = try self.count(low, &offset)
            guard count <= bytes.count - offset else { throw Self.broken }
            try countText(count)
            return ConfigValue(.string(String(decoding: bytes[offset..<(offset + count)], as: UTF8.self)))
        case 0x6:
            let count = try self.count(low, &offset)
            guard count <= (bytes.count - offset) / 2 else { throw Self.broken }
            try countText(2 * count)
            let units = (0..<count).map { UInt16(bytes[offset + 2 * $0]) << 8 | UInt16(bytes[offset + 2 * $0 + 1]) }
            return ConfigValue(.string(String(decoding: units, as: UTF16.self)))
        case 0xA, 0xC:
            let count = try self.count(low, &offset)
            var values: [ConfigValue] = []
            for index in 0..<count { values.append(try value(reference(offset, index), depth: depth + 1)) }
            return ConfigValue(.array(values))
        case 0xD:
            let count = try self.count(low, &offset)
            var entries: [ConfigValue.Entry] = []
            for index in 0..<count {
                guard let key = try value(reference(offset, index), depth: depth + 1).string else { throw Self.broken }
                let value = try value(reference(offset, count + index), depth: depth + 1)
                entries.append(ConfigValue.Entry(key: key, position: Position(), value: value))
            }
            return ConfigValue(.dictionary(entries.sorted { $0.key < $1.key }))
        default: return ConfigValue(.other("a value"))
        }
    }

    private mutating func countText(_ count: Int) throws(FormatError) {
        textBytes += count
        guard textBytes <= Self.maximumTextBytes else {
            throw FormatError(
                "The file expands to strings of more than \(Self.maximumTextBytes >> 20) MiB.",
                Position()
            )
        }
    }

    private func reference(_ offset: Int, _ index: Int) throws(FormatError) -> Int {
        try Self.number(bytes, offset + index * referenceSize, referenceSize)
    }

    /// Reads the number of elements, either from the marker or from the number after it.
    private func count(_ low: Int, _ offset: inout Int) throws(FormatError) -> Int {
        guard low == 0x0F else { return low }
        guard offset < bytes.count, bytes[offset] >> 4 == 1, bytes[offset] & 0x0F <= 3 else { throw Self.broken }
        let size = 1 << Int(bytes[offset] & 0x0F)
        let count = try Self.number(bytes, offset + 1, size)
        offset += 1 + size
        return count
    }
}
