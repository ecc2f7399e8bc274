// SPDX-License-Identifier: Apache-2.0
/// A parsed configuration file.
public struct ConfigFile: Sendable {
    /// The file's path.
    public var path: String
    /// The file's contents.
    public var root: ConfigValue

    /// Creates a configuration file.
    public init(path: String, root: ConfigValue) {
        self.path = path
        self.root = root
    }

    /// The location of a position in this file.
    public func place(_ position: Position?) -> Place { Place(path, position ?? Position()) }

    /// Parses a property list in XML, binary or the old style.
    ///
    /// - Throws: ``FormatError`` with the position of the error.
    public static func propertyList(_ bytes: [UInt8]) throws(FormatError) -> ConfigValue {
        if bytes.starts(with: Array("bplist".utf8)) { return try BinaryPropertyList.read(bytes) }
        let bytes = utf8(bytes)
        guard !bytes.isEmpty else { throw FormatError("The file is empty.", Position()) }
        let first = bytes.first { $0 > 0x20 && $0 < 0x80 }
        return try first == 0x3C ? XMLPropertyList.read(bytes) : OldPropertyList.read(bytes)
    }

    /// Converts UTF-16 to UTF-8, because older `.strings` files use UTF-16.
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return bytes }
        var units: [UInt16] = []
        for index in stride(from: 2, to: bytes.count - 1, by: 2) {
            let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isLittle ? pair.1 << 8 | pair.0 : pair.0 << 8 | pair.1)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
