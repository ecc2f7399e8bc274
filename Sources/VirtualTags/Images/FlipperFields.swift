// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The `Key: value` lines of a Flipper file, each with its number for messages.
struct FlipperFields {
    /// The longest line: the data of 256 blocks of 32 octets.
    private static let maximumLineLength = 1 << 15

    private(set) var lines: [FlipperDump.Line] = []
    private var values: [String: (value: ArraySlice<UInt8>, line: Int)] = [:]

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let content = Self.trimmed(line, byteOrderMark: number == 1)
            guard !content.isEmpty, content.first != UInt8(ascii: "#") else {
                lines.append(FlipperDump.Line(text: Array(line)))
                continue
            }
            let colon = content.firstIndex(of: UInt8(ascii: ":"))
            if colon == nil, values["Directory Tree"] != nil {
                // The tree of a FeliCa card is drawn in lines of its own.
                lines.append(FlipperDump.Line(text: Array(line)))
                continue
            }
            guard let colon, content.count <= Self.maximumLineLength,
                let key = String(validating: content[..<colon], as: UTF8.self)
            else {
                throw TagImageError(.malformed, "The line is not a key, a colon and a value.", line: number)
            }
            let value = Self.trimmed(content[(colon + 1)...], byteOrderMark: false)
            if values.isEmpty, key != "Filetype" || value != Array("Flipper NFC device".utf8)[...] {
                throw TagImageError(
                    .unknownFormat,
                    "The file does not begin with \"Filetype: Flipper NFC device\".",
                    line: number
                )
            }
            if let earlier = values[key] {
                throw TagImageError(.malformed, "\(key) is in line \(earlier.line) already.", line: number)
            }
            values[key] = (value, number)
            lines.append(FlipperDump.Line(text: Array(line), field: Self.field(key)))
        }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>, byteOrderMark: Bool) -> ArraySlice<UInt8> {
        var line = line
        if byteOrderMark, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        while let last = line.last, [0x20, 0x09, 0x0D].contains(last) { line = line.dropLast() }
        while let first = line.first, [0x20, 0x09].contains(first) { line = line.dropFirst() }
        return line
    }

    /// What a key that may change is about.
    private static func field(_ key: String) -> FlipperDump.Field? {
        if key == "Failed authentication attempts" { return .failedAuthentications }
        guard let space = key.lastIndex(of: " "), let index = Int(key[key.index(after: space)...]), index >= 0 else {
            return nil
        }
        return switch key[..<space] {
        case "Page": .page(index)
        case "Counter" where index < 3: .counter(index)
        case "Tearing" where index < 3: .tearing(index)
        default: nil
        }
    }

    /// The line that a key is in, from 1.
    func line(_ key: String) -> Int? {
        values[key]?.line
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

    /// A true or false, or nil when the line is missing.
    func flag(_ key: String) throws(TagImageError) -> Bool? {
        guard let field = values[key] else { return nil }
        switch String(validating: field.value, as: UTF8.self) {
        case "true": return true
        case "false": return false
        default: throw TagImageError(.malformed, "\(key) is neither true nor false.", line: field.line)
        }
    }

    /// Octets separated by spaces.
    func octets(_ key: String, count: Int?) throws(TagImageError) -> [UInt8] {
        let field = try required(key)
        guard let octets = [UInt8](hexadecimal: field.value, separated: true) else {
            throw TagImageError(.malformed, "\(key) is not hexadecimal octets separated by spaces.", line: field.line)
        }
        if let count, octets.count != count {
            throw TagImageError(.malformed, "\(key) has \(octets.count) octets instead of \(count).", line: field.line)
        }
        return octets
    }

    private func required(_ key: String) throws(TagImageError) -> (value: ArraySlice<UInt8>, line: Int) {
        guard let field = values[key] else {
            throw TagImageError(.missingField, "\(key) is missing; the file may have been cut off.", line: lines.count)
        }
        return field
    }
}

/// A line of a new Flipper file.
enum FlipperLine {
    case comment(String)
    case field(String, String)
    case empty

    /// The line without its ending.
    var text: String {
        switch self {
        case .comment(let text): "# \(text)"
        case .field(let key, let value): "\(key): \(value)"
        case .empty: ""
        }
    }

    static func field(_ key: String, octets: [UInt8]) -> FlipperLine {
        .field(key, octets.spacedHexadecimalText)
    }

    /// The beginning that all files of version 4 share.
    static func header(deviceType: String, uid: [UInt8]) -> [FlipperLine] {
        [
            .field("Filetype", "Flipper NFC device"),
            .field("Version", "4"),
            .comment(
                "Device type can be ISO14443-3A, ISO14443-3B, ISO14443-4A, ISO14443-4B, ISO15693-3, FeliCa, "
                    + "NTAG/Ultralight, Mifare Classic, Mifare Plus, Mifare DESFire, SLIX, ST25TB, EMV"
            ),
            .field("Device type", deviceType),
            .comment("UID is common for all formats"),
            .field("UID", octets: uid),
        ]
    }

    /// What all files of NFC-A tags go on with.
    static func nfcA(atqa: UInt16, sak: UInt8) -> [FlipperLine] {
        [
            .comment("ISO14443-3A specific data"),
            .field("ATQA", octets: atqa.bigEndianOctets),
            .field("SAK", octets: [sak]),
        ]
    }
}
