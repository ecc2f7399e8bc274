// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The `Key: value` lines of a Flipper file, with their line numbers for messages.
struct FlipperFields {
    /// The maximum length of a line: the data of 256 blocks of 32 bytes.
    private static let maximumLineLength = 1 << 15

    /// A line of the file and its key; nil for comments and empty lines.
    struct Line: Sendable {
        var text: [UInt8]
        var key: FlipperKey?
    }

    /// The keys that may occur in several lines of a section.
    private static let repeatedKeys: Set<String> = ["NDEF Data"]

    private(set) var lines: [Line] = []
    private var values: [FlipperKey: (value: ArraySlice<UInt8>, line: Int)] = [:]
    /// The section of the current lookups.
    private var section = ""

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        var number = 0
        var keys = FlipperKeyCounter()
        var hasTree = false
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let content = Self.trimmed(line, byteOrderMark: number == 1)
            let colon = content.firstIndex(of: UInt8(ascii: ":"))
            // The tree of a FeliCa card has its own lines.
            guard !content.isEmpty, content.first != UInt8(ascii: "#"), colon != nil || !hasTree else {
                lines.append(Line(text: Array(line)))
                continue
            }
            guard colon != nil || !values.isEmpty else { throw Self.unknown(line: number) }
            guard let colon, content.count <= Self.maximumLineLength,
                let name = String(validating: content[..<colon], as: UTF8.self)
            else {
                throw TagImageError(.malformed, "The line is not a key, a colon and a value.", line: number)
            }
            let value = Self.trimmed(content[(colon + 1)...], byteOrderMark: false)
            if values.isEmpty { try Self.checkHeader(name, value, line: number) }
            let key = keys.next(name)
            let earlier = values[key] ?? (key.ordinal > 0 ? values[FlipperKey(section: key.section, name: name)] : nil)
            if let earlier, values[key] != nil || !Self.repeatedKeys.contains(name) {
                throw TagImageError(.malformed, "\(name) is in line \(earlier.line) already.", line: number)
            }
            values[key] = (value, number)
            lines.append(Line(text: Array(line), key: key))
            hasTree = hasTree || name == "Directory Tree"
        }
    }

    /// The value of the first line in a tag's file.
    private static let fileType = "Flipper NFC device"

    /// Checks the first line of a tag's file.
    private static func checkHeader(
        _ name: String,
        _ value: ArraySlice<UInt8>,
        line: Int
    ) throws(TagImageError) {
        guard name == "Filetype", let type = String(validating: value, as: UTF8.self) else { throw unknown(line: line) }
        guard type != fileType else { return }
        guard type != "Flipper Picopass device" else {
            throw TagImageError(.unsupported, ProxmarkJSON.refusal(of: "iclass"), line: line)
        }
        throw TagImageError(
            .unknownFormat,
            "The file's type is \"\(type.prefix(64))\", which is not an image of a tag; \"\(fileType)\" is.",
            line: line
        )
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

    /// Returns the keys of a section, such as those of `System 01`.
    func inSection(_ name: String) -> FlipperFields {
        var fields = self
        fields.section = name
        return fields
    }

    private func field(_ key: String, ordinal: Int = 0) -> (value: ArraySlice<UInt8>, line: Int)? {
        values[FlipperKey(section: section, name: key, ordinal: ordinal)]
    }

    /// Returns the number of a key's line, counted from 1.
    func line(_ key: String) -> Int? {
        field(key)?.line
    }

    /// Returns the value of a line, without surrounding spaces.
    func value(_ key: FlipperKey) -> ArraySlice<UInt8>? {
        values[key]?.value
    }

    func text(_ key: String) throws(TagImageError) -> String {
        let field = try required(key)
        guard let text = String(validating: field.value, as: UTF8.self) else {
            throw TagImageError(.malformed, "\(key) is not text.", line: field.line)
        }
        return text
    }

    func number(_ key: String, in range: ClosedRange<Int>) throws(TagImageError) -> Int {
        let field = try required(key)
        guard let text = String(validating: field.value, as: UTF8.self), let number = Int(text), range.contains(number)
        else {
            throw TagImageError(
                .malformed,
                "\(key) is not a number from \(range.lowerBound) to \(range.upperBound).",
                line: field.line
            )
        }
        return number
    }

    /// Returns a Boolean; nil when the line is missing.
    func flag(_ key: String) throws(TagImageError) -> Bool? {
        guard let field = field(key) else { return nil }
        switch String(validating: field.value, as: UTF8.self) {
        case "true": return true
        case "false": return false
        default: throw TagImageError(.malformed, "\(key) is neither true nor false.", line: field.line)
        }
    }

    /// Returns the bytes of all lines with a key, concatenated.
    func bytesOfAllLines(_ key: String) throws(TagImageError) -> [UInt8] {
        var all: [UInt8] = []
        var ordinal = 0
        while field(key, ordinal: ordinal) != nil {
            all += try bytes(key, count: nil, ordinal: ordinal)
            ordinal += 1
        }
        return all
    }

    /// Returns bytes that are separated by spaces.
    func bytes(_ key: String, count: Int?, ordinal: Int = 0) throws(TagImageError) -> [UInt8] {
        let field = try required(key, ordinal: ordinal)
        guard let bytes = [UInt8](hexadecimal: field.value, separated: true) else {
            throw TagImageError(.malformed, "\(key) is not hexadecimal bytes separated by spaces.", line: field.line)
        }
        if let count, bytes.count != count {
            throw TagImageError(.malformed, "\(key) has \(bytes.count) bytes instead of \(count).", line: field.line)
        }
        return bytes
    }

    private func required(
        _ key: String,
        ordinal: Int = 0
    ) throws(TagImageError) -> (value: ArraySlice<UInt8>, line: Int) {
        guard let field = field(key, ordinal: ordinal) else {
            let place = section.isEmpty ? "" : " in \(section)"
            throw TagImageError(
                .missingField,
                "\(key) is missing\(place); the file may have been cut off.",
                line: lines.count
            )
        }
        return field
    }
}
