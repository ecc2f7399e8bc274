// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A Flipper NFC file, line by line.
///
/// Saving a changed tag rewrites only the lines with changed values.
struct FlipperTagDump: ImageSource {
    typealias Remarks = [TagImageRemark]

    private let fields: FlipperFields
    let contents: TagContents
    let remarks: Remarks

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        fields = try FlipperFields(parsing: bytes)
        let version = try fields.number("Version", in: 1...99)
        guard (2...4).contains(version) else {
            let reason = "Version \(version) of the file format is not supported; 2, 3 and 4 are."
            throw fields.error(.unsupported, "Version", reason)
        }
        var remarks: Remarks = []
        let deviceType = try fields.text("Device type")
        switch deviceType {
        case "ISO14443-3A", "UID": contents = .nfcA(try Self.nfcA(fields))
        case "ISO14443-4A": contents = .type4(try Self.type4A(fields, .unspecified))
        case "ISO14443-3B", "ISO14443-4B": contents = .type4(try Self.type4B(fields))
        case "Mifare Classic": contents = .classic(try Self.classic(fields, &remarks))
        case "Mifare DESFire": contents = .type4(try Self.desfire(fields))
        case "ISO15693-3", "ISO15693", "SLIX": contents = .type5(try Self.type5(fields, &remarks))
        case "Type 4 Tag": contents = .type4(try Self.type4Tag(fields, &remarks))
        case "NTAG4xx": contents = .type4(try Self.versionCard(fields, .ntag4xx))
        case "Mifare Plus": contents = .type4(try Self.versionCard(fields, .mifarePlus))
        case "EMV": contents = .type4(try Self.emv(fields, &remarks))
        case "FeliCa": contents = .type3(try Self.type3(fields, &remarks))
        case let type where Self.isType2(type, fields): contents = .type2(try Self.type2(fields, &remarks))
        case "ST25TB":
            let reason =
                "An ST25TB uses its own discovery commands, not those of ISO/IEC 14443-3. Core NFC has no kind of tag for "
                + "it, so phones can't detect it, and it can't become a virtual tag."
            throw fields.error(.unsupported, "Device type", reason)
        default:
            throw fields.error(.unsupported, "Device type", "A tag of type \(deviceType) is not supported yet.")
        }
        self.remarks = remarks
    }

    var format: TagImage.Format { .flipper }

    var bytes: [UInt8] { Array(fields.lines.map(\.text).joined(separator: [0x0A])) }

    func encoded(_ now: TagContents) -> [UInt8]? {
        guard now != contents else { return bytes }
        guard let new = Self.values(of: now) else { return nil }
        let before = Self.dictionary(Self.values(of: contents) ?? [])
        let after = Self.dictionary(new)
        let kept = Set(fields.lines.compactMap(\.key))
        var additions: [FlipperKey: [String]] = [:]
        var previous: FlipperKey?
        for (key, value) in new {
            if kept.contains(key) {
                previous = key
            } else if before[key] == nil, let previous {
                additions[previous, default: []].append("\(key.name): \(value)")
            }
        }
        var written: [[UInt8]] = []
        for line in fields.lines {
            guard let key = line.key else {
                written.append(line.text)
                continue
            }
            let ending: [UInt8] = line.text.last == 0x0D ? [0x0D] : []
            switch (before[key], after[key]) {
            case (_?, nil): break
            case (let old, let new?) where old != new: written.append(Array("\(key.name): \(new)".utf8) + ending)
            default: written.append(line.text)
            }
            written += (additions[key] ?? []).map { Array($0.utf8) + ending }
        }
        return Array(written.joined(separator: [0x0A]))
    }

    private static func values(of contents: TagContents) -> [(FlipperKey, String)]? {
        var keys = FlipperKeyCounter()
        return fields(of: contents)?.compactMap { line in
            guard case .field(let name, let value) = line else { return nil }
            return (keys.next(name), value)
        }
    }

    private static func dictionary(_ values: [(FlipperKey, String)]) -> [FlipperKey: String] {
        Dictionary(values) { first, _ in first }
    }

    /// Returns a new file of version 4; nil when the format does not support this kind of tag.
    static func encoded(new contents: TagContents) -> [UInt8]? {
        guard let lines = fields(of: contents) else { return nil }
        return Array((lines.map(\.text).joined(separator: "\n") + "\n").utf8)
    }

    private static func fields(of contents: TagContents) -> [FlipperLine]? {
        switch contents {
        case .nfcA(let contents): fields(of: contents)
        case .classic(let contents): fields(of: contents)
        case .type2(let contents): fields(of: contents)
        case .type3(.liteS(let contents)): fields(of: contents)
        case .type3(.standard(let contents)): fields(of: contents)
        case .type4(let contents): fields(of: contents)
        case .type5(let contents): fields(of: contents)
        case .type1: nil
        }
    }

    // MARK: Parts that are left out

    private static let descriptiveKeys: Set<String> = [
        "Filetype", "Version", "Device type", "Data format version", "Directory Tree",
    ]

    private static let aliases =
        ["Mifare Ultralight type": "NTAG/Ultralight type"].merging(earlierTriesKeys.map { ($0, triesKey) }) { $1 }

    /// The keys whose values would be missing or different in a new file with the same contents.
    var leftOut: [String] {
        let newValues = Self.dictionary(Self.values(of: contents) ?? [])
        let isVersion2 = fields.value(FlipperKey(name: "Version")).map { Array($0) == Array("2".utf8) } ?? false
        return fields.lines.compactMap(\.key).filter { key in
            guard !Self.descriptiveKeys.contains(key.name), !(isVersion2 && key.name == "ATQA") else { return false }
            var place = key
            place.name = Self.aliases[key.name] ?? key.name
            guard let value = fields.value(key), let new = newValues[place] ?? newValues[key] else { return true }
            return !Self.isSame(value, new, isService: key.name.hasPrefix("Service "))
        }.map(\.description)
    }

    /// Returns whether two values are equal. Ignores spaces, the case of letters, leading zeros of a number, and the
    /// description of a FeliCa service's attribute.
    private static func isSame(_ one: ArraySlice<UInt8>, _ other: String, isService: Bool) -> Bool {
        func plain(_ text: some Sequence<UInt8>) -> String {
            let text = String(decoding: text.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).uppercased()
            guard isService else { return text }
            return text.split(separator: "|").filter { $0.hasPrefix("CODE") || $0.hasPrefix("KEY") }.joined(
                separator: "|"
            )
        }
        let (old, new) = (plain(one), plain(other.utf8))
        return old == new || Int(old).map { $0 == Int(new) } ?? false
    }
}

extension FlipperFields {
    /// Returns ATQA, whose bytes are reversed in version 2.
    func atqa() throws(TagImageError) -> UInt16 {
        let atqa = try word("ATQA")
        return try number("Version", in: 1...99) == 2 ? atqa.byteSwapped : atqa
    }
}

extension TagImageRemark {
    /// A new file always has a line for the signature, even if the chip's signature is unknown.
    static let missingSignature = TagImageRemark(
        .missing,
        "The file lacks the chip's signature; the virtual tag has zeros, and so will files of other formats."
    )
}
