// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A line of a file, and the tag property that the line stores.
typealias FlipperField<Contents> = ImageField<FlipperFields, Contents>

/// The `Key: value` lines of a Flipper file, with line numbers for error messages.
struct FlipperFields: ImageFields {
    private static let maximumLineLength = 1 << 15

    struct Line: Sendable {
        var text: [UInt8]
        var key: FlipperKey?
    }

    /// The keys that may occur in several lines of a section.
    private static let repeatedKeys: Set<String> = ["NDEF Data"]

    private(set) var lines: [Line] = []
    private var values: [FlipperKey: (value: ArraySlice<UInt8>, line: Int)] = [:]
    private var section = ""

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        var number = 0
        var keys = FlipperKeyCounter()
        var hasTree = false
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let content = Self.trimmed(line, byteOrderMark: number == 1)
            let colon = content.firstIndex(of: UInt8(ascii: ":"))
            // Lines without a colon are kept after "Directory Tree": they draw the tree of a FeliCa card.
            guard !content.isEmpty, content.first != UInt8(ascii: "#"), colon != nil || !hasTree else {
                lines.append(Line(text: Array(line)))
                continue
            }
            guard colon != nil || !values.isEmpty else { throw Self.unknown(line: number) }
            guard let colon, content.count <= Self.maximumLineLength,
                let name = String(validating: content[..<colon], as: UTF8.self)
            else { throw TagImageError(.malformed, "The line must have a key, a colon and a value.", line: number) }
            let value = Self.trimmed(content[(colon + 1)...], byteOrderMark: false)
            if values.isEmpty { try Self.checkHeader(name, value, line: number) }
            let key = keys.next(name)
            let earlier = values[key] ?? (key.ordinal > 0 ? values[FlipperKey(section: key.section, name: name)] : nil)
            if let earlier, values[key] != nil || !Self.repeatedKeys.contains(name) {
                throw TagImageError(.malformed, "\(name) is already in line \(earlier.line).", line: number)
            }
            values[key] = (value, number)
            lines.append(Line(text: Array(line), key: key))
            hasTree = hasTree || name == "Directory Tree"
        }
    }

    private static let fileType = "Flipper NFC device"

    private static func checkHeader(_ name: String, _ value: ArraySlice<UInt8>, line: Int) throws(TagImageError) {
        guard name == "Filetype", let type = String(validating: value, as: UTF8.self) else { throw unknown(line: line) }
        guard type != fileType else { return }
        guard type != "Flipper Picopass device" else {
            throw TagImageError(.unsupported, ProxmarkJSON.refusal(of: "iclass"), line: line)
        }
        let reason = "The file's type is \"\(type.prefix(64))\", but an image of a tag has \"\(fileType)\"."
        throw TagImageError(.unknownFormat, reason, line: line)
    }

    private static func unknown(line: Int) -> TagImageError {
        TagImageError(.unknownFormat, "The file does not begin with \"Filetype: \(fileType)\".", line: line)
    }

    private static func trimmed(_ line: ArraySlice<UInt8>, byteOrderMark: Bool) -> ArraySlice<UInt8> {
        var line = line
        if byteOrderMark, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        while let last = line.last, [0x20, 0x09, 0x0D].contains(last) { line = line.dropLast() }
        while let first = line.first, [0x20, 0x09].contains(first) { line = line.dropFirst() }
        return line
    }

    // MARK: Values

    static func shown(_ key: String) -> String { key }

    /// Returns the keys of a section, such as those of `System 01`.
    func inSection(_ name: String) -> FlipperFields {
        var fields = self
        fields.section = name
        return fields
    }

    private func field(_ key: String, ordinal: Int = 0) -> (value: ArraySlice<UInt8>, line: Int)? {
        values[FlipperKey(section: section, name: key, ordinal: ordinal)]
    }

    func line(_ key: String) -> Int? { field(key)?.line }

    func hasValue(_ key: String) -> Bool { field(key) != nil }

    func value(_ key: FlipperKey) -> ArraySlice<UInt8>? { values[key]?.value }

    private func required(
        _ key: String,
        ordinal: Int = 0
    ) throws(TagImageError) -> (value: ArraySlice<UInt8>, line: Int) {
        guard let field = field(key, ordinal: ordinal) else {
            let place = section.isEmpty ? "" : " in \(section)"
            let reason = "\(key) is missing\(place); the file may have been cut off."
            throw TagImageError(.missingField, reason, line: lines.count)
        }
        return field
    }

    func text(_ key: String) throws(TagImageError) -> String {
        guard let text = String(validating: try required(key).value, as: UTF8.self) else {
            throw malformed(key, "is not text")
        }
        return text
    }

    func number(_ key: String, in range: ClosedRange<Int>) throws(TagImageError) -> Int {
        guard let number = Int(String(decoding: try required(key).value, as: UTF8.self)), range.contains(number) else {
            throw malformed(key, "is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func flag(_ key: String) throws(TagImageError) -> Bool {
        guard let flag = Bool(String(decoding: try required(key).value, as: UTF8.self)) else {
            throw malformed(key, "is neither true nor false")
        }
        return flag
    }

    /// Returns a value's bytes, which are separated by spaces.
    func bytes(_ key: String, count: Int? = nil) throws(TagImageError) -> [UInt8] {
        try bytes(key, count: count, ordinal: 0)
    }

    private func bytes(_ key: String, count: Int?, ordinal: Int) throws(TagImageError) -> [UInt8] {
        let field = try required(key, ordinal: ordinal)
        guard let bytes = [UInt8](hexadecimal: field.value, separated: true) else {
            throw TagImageError(.malformed, "\(key) must be hexadecimal bytes separated by spaces.", line: field.line)
        }
        if let count, bytes.count != count { throw malformed(key, "has \(bytes.count) bytes instead of \(count)") }
        return bytes
    }

    func bytesOfAllLines(_ key: String) throws(TagImageError) -> [UInt8] {
        var all: [UInt8] = []
        var ordinal = 0
        while field(key, ordinal: ordinal) != nil {
            all += try bytes(key, count: nil, ordinal: ordinal)
            ordinal += 1
        }
        return all
    }
}

/// Identifies a `Key: value` line of a Flipper file.
///
/// Most keys occur once in a file. For a FeliCa card with several systems, each system repeats the same keys. Long data
/// of a Type 4 tag takes several lines with the same key.
struct FlipperKey: Sendable, Hashable {
    /// The system to which the line belongs, such as `System 00`; empty before the first system.
    var section = ""
    var name: String
    /// The number of earlier lines with the same key in the section.
    var ordinal = 0

    var description: String { section.isEmpty || section == name ? name : "\(name) of \(section)" }
}

/// Numbers lines with the same key, in the order of the file.
struct FlipperKeyCounter {
    private var section = ""
    private var counts: [String: Int] = [:]

    mutating func next(_ name: String) -> FlipperKey {
        if Self.beginsSection(name), name != section {
            section = name
            counts = [:]
        }
        defer { counts[name, default: 0] += 1 }
        return FlipperKey(section: section, name: name, ordinal: counts[name, default: 0])
    }

    /// Returns whether a key starts the section of a FeliCa system: `System` and two hexadecimal digits.
    private static func beginsSection(_ name: String) -> Bool {
        let digits = name.utf8.dropFirst(7)
        return name.hasPrefix("System ") && digits.count == 2 && digits.allSatisfy { $0.hexDigitValue != nil }
    }
}

// MARK: Writing

enum FlipperLine {
    case comment(String)
    case field(String, String)
    case empty

    var text: String {
        switch self {
        case .comment(let text): "# \(text)"
        case .field(let key, let value): "\(key): \(value)"
        case .empty: ""
        }
    }

    static func field(_ key: String, bytes: [UInt8]) -> FlipperLine { .field(key, bytes.spacedHexadecimalText) }

    static func fields<Contents>(_ table: some Sequence<FlipperField<Contents>>, of contents: Contents) -> [FlipperLine]
    {
        table.flatMap { row in
            let value =
                switch row.write(contents) {
                case .bytes(let bytes): bytes.spacedHexadecimalText
                case .number(let number): String(number)
                case .numbers(let numbers): numbers.map { String($0) }.joined(separator: " ")
                case .flag(let flag): String(flag)
                case .text(let text): text
                case .null: ""
                }
            return (row.comment.map { [.comment($0)] } ?? []) + [FlipperLine.field(row.key, value)]
        }
    }

    /// The first lines of every version 4 file.
    static func header(deviceType: String, uid: [UInt8]) -> [FlipperLine] {
        [
            .field("Filetype", "Flipper NFC device"), .field("Version", "4"),
            .comment(
                "Device type can be ISO14443-3A, ISO14443-3B, ISO14443-4A, ISO14443-4B, ISO15693-3, FeliCa, "
                    + "NTAG/Ultralight, Mifare Classic, Mifare Plus, Mifare DESFire, SLIX, ST25TB, EMV"
            ),
            .field("Device type", deviceType), .comment("UID is common for all formats"), .field("UID", bytes: uid),
        ]
    }

    /// The next lines in every file of an NFC-A tag.
    static func nfcA(atqa: UInt16, sak: UInt8) -> [FlipperLine] {
        [
            .comment("ISO14443-3A specific data"), .field("ATQA", bytes: atqa.bigEndianBytes),
            .field("SAK", bytes: [sak]),
        ]
    }
}

extension [UInt8] {
    var spacedHexadecimalText: String { hexText(separator: " ").uppercased() }
}
