// SPDX-License-Identifier: Apache-2.0

/// A Flipper NFC file of a tag that is not of Type 2, kept line by line.
///
/// A file that was read and changed has the lines that say something else written anew; all others stay.
struct FlipperTagDump: ImageSource {
    private let lines: [[UInt8]]
    let contents: TagContents

    /// Reads a file.
    init(_ fields: FlipperFields, deviceType: String) throws(TagImageError) {
        lines = fields.lines.map(\.text)
        switch deviceType {
        case "ISO14443-3A", "UID": contents = .nfcA(try Self.nfcA(fields))
        case "ISO14443-4A": contents = .type4(try Self.type4A(fields))
        case "ISO14443-3B", "ISO14443-4B": contents = .type4(try Self.type4B(fields))
        case "Mifare Classic": contents = .classic(try Self.classic(fields))
        case "Mifare DESFire": contents = .type4(try Self.desfire(fields))
        case "ISO15693-3", "ISO15693", "SLIX": contents = .type5(try Self.type5(fields))
        case "FeliCa": contents = .type3(try Self.type3(fields))
        default:
            throw TagImageError(
                .unsupported,
                "A tag of type \(deviceType) is not supported yet.",
                line: fields.line("Device type")
            )
        }
    }

    var format: TagImage.Format { .flipper }

    var bytes: [UInt8] { Array(lines.joined(separator: [0x0A])) }

    /// The file with what the tag holds now.
    func encoded(_ now: TagContents) -> [UInt8]? {
        guard let new = Self.fields(of: now) else { return nil }
        let before = Self.values(of: contents)
        let changes = Self.values(new).filter { before[$0.key] != $0.value }
        let written = lines.map { line in
            let key = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            guard line.first != UInt8(ascii: "#"), let value = changes[key] else { return line }
            let ending: [UInt8] = line.last == 0x0D ? [0x0D] : []
            return Array("\(key): \(value)".utf8) + ending
        }
        return Array(written.joined(separator: [0x0A]))
    }

    private static func values(of contents: TagContents) -> [String: String] {
        values(fields(of: contents) ?? [])
    }

    private static func values(_ lines: [FlipperLine]) -> [String: String] {
        var values: [String: String] = [:]
        for case .field(let key, let value) in lines { values[key] = value }
        return values
    }

    /// The lines of a new file, or nil when there is no device type for the tag.
    static func fields(of contents: TagContents) -> [FlipperLine]? {
        switch contents {
        case .nfcA(let contents): fields(of: contents)
        case .classic(let contents): fields(of: contents)
        case .type3(.liteS(let contents)): fields(of: contents)
        case .type3(.standard(let contents)): fields(of: contents)
        case .type4(let contents): fields(of: contents)
        case .type5(let contents): fields(of: contents)
        case .type1, .type2: nil
        }
    }
}

extension FlipperFields {
    /// Reads a file of any kind of tag.
    static func source(_ bytes: [UInt8]) throws(TagImageError) -> any ImageSource {
        let fields = try FlipperFields(parsing: bytes)
        let version = try fields.number("Version", in: 1...99)
        guard (2...4).contains(version) else {
            throw TagImageError(
                .unsupported,
                "Version \(version) of the file format is not supported; 2, 3 and 4 are.",
                line: fields.line("Version")
            )
        }
        let device = try fields.text("Device type")
        let isType2 =
            device == "NTAG/Ultralight" || FlipperLayout.products.contains { $0.name == device }
            || fields.line("Mifare Ultralight type") != nil
        return isType2 ? try FlipperDump(fields) : try FlipperTagDump(fields, deviceType: device)
    }

    /// A new file, of version 4, or nil when the format has no place for a tag of the kind.
    static func encoded(new contents: TagContents) -> [UInt8]? {
        if case .type2(let contents) = contents { return FlipperDump.encoded(new: contents) }
        guard let lines = FlipperTagDump.fields(of: contents) else { return nil }
        return Array((lines.map(\.text).joined(separator: "\n") + "\n").utf8)
    }

    /// ATQA, whose octets version 2 writes the other way round.
    func atqa() throws(TagImageError) -> UInt16 {
        let octets = try octets("ATQA", count: 2)
        let isSwapped = try number("Version", in: 1...99) == 2
        return isSwapped ? UInt16(octets[1]) << 8 | UInt16(octets[0]) : UInt16(octets[0]) << 8 | UInt16(octets[1])
    }

    /// A UID of NFC-A.
    func nfcAIdentifier() throws(TagImageError) -> [UInt8] {
        let uid = try octets("UID", count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 octets, not \(uid.count).", line: line("UID"))
        }
        return uid
    }
}
