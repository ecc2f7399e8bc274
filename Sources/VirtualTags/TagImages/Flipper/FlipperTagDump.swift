// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A Flipper NFC file, line by line.
///
/// When a changed tag is saved, only the lines with changed values are written again. All others stay.
struct FlipperTagDump: ImageSource {
    private let fields: FlipperFields
    let contents: TagContents
    let remarks: [TagImageRemark]

    /// Reads a file.
    init(_ fields: FlipperFields, deviceType: String) throws(TagImageError) {
        self.fields = fields
        var remarks: [TagImageRemark] = []
        switch deviceType {
        case "ISO14443-3A", "UID": contents = .nfcA(try Self.nfcA(fields))
        case "ISO14443-4A": contents = .type4(try Self.type4A(fields))
        case "ISO14443-3B", "ISO14443-4B": contents = .type4(try Self.type4B(fields))
        case "Mifare Classic": contents = .classic(try Self.classic(fields))
        case "Mifare DESFire": contents = .type4(try Self.desfire(fields, &remarks))
        case "ISO15693-3", "ISO15693", "SLIX": contents = .type5(try Self.type5(fields, &remarks))
        case "Type 4 Tag": contents = .type4(try Self.type4Tag(fields, &remarks))
        case "NTAG4xx": contents = .type4(try Self.ntag4xx(fields))
        case "Mifare Plus": contents = .type4(try Self.mifarePlus(fields))
        case "EMV": contents = .type4(try Self.emv(fields, &remarks))
        case "FeliCa": contents = .type3(try Self.type3(fields, &remarks))
        case let type where Self.isType2(type, fields): contents = .type2(try Self.type2(fields, &remarks))
        case "ST25TB": throw Self.refusal(ofST25TB: fields)
        default:
            throw TagImageError(
                .unsupported,
                "A tag of type \(deviceType) is not supported yet.",
                line: fields.line("Device type")
            )
        }
        self.remarks = remarks
    }

    var format: TagImage.Format { .flipper }

    var bytes: [UInt8] { Array(fields.lines.map(\.text).joined(separator: [0x0A])) }

    /// Returns the file with the tag's current contents. Changed lines are written again, new lines follow the line
    /// that precedes them in a new file, and lines of removed values are left out.
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

    /// Returns the values of a new file in order; nil when there is no device type for the tag.
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

    /// Returns the lines of a new file; nil when there is no device type for the tag.
    static func fields(of contents: TagContents) -> [FlipperLine]? {
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

    /// Keys that describe the file itself, or repeat other values in words.
    private static let descriptiveKeys: Set<String> = [
        "Filetype", "Version", "Device type", "Data format version", "Directory Tree",
    ]

    /// The names of the same value in several versions.
    private static let aliases =
        ["Mifare Ultralight type": "NTAG/Ultralight type"].merging(earlierTriesKeys.map { ($0, triesKey) }) { $1 }

    /// The keys whose values would not be in a new file with the same contents.
    var leftOut: [String] {
        let held = Self.dictionary(Self.values(of: contents) ?? [])
        let isVersion2 = fields.value(FlipperKey(name: "Version")).map { Array($0) == Array("2".utf8) } ?? false
        return fields.lines.compactMap(\.key).filter { key in
            guard !Self.descriptiveKeys.contains(key.name), !(isVersion2 && key.name == "ATQA") else { return false }
            var place = key
            place.name = Self.aliases[key.name] ?? key.name
            guard let value = fields.value(key), let new = held[place] ?? held[key] else { return true }
            return !Self.isSame(value, new, isService: key.name.hasPrefix("Service "))
        }.map(\.description)
    }

    /// Returns whether two values are equal. Spaces, the case of letters, leading zeros of a number, and the words for
    /// a FeliCa service's attribute are ignored.
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
        return try FlipperTagDump(fields, deviceType: device)
    }

    /// Returns a new file of version 4; nil when the format does not support this kind of tag.
    static func encoded(new contents: TagContents) -> [UInt8]? {
        guard let lines = FlipperTagDump.fields(of: contents) else { return nil }
        return Array((lines.map(\.text).joined(separator: "\n") + "\n").utf8)
    }

    /// Returns ATQA. Version 2 writes its bytes in the reverse order.
    func atqa() throws(TagImageError) -> UInt16 {
        let bytes = try bytes("ATQA", count: 2)
        let isSwapped = try number("Version", in: 1...99) == 2
        return isSwapped ? UInt16(high: bytes[1], low: bytes[0]) : UInt16(high: bytes[0], low: bytes[1])
    }

    /// Returns an NFC-A UID.
    func nfcAIdentifier() throws(TagImageError) -> [UInt8] {
        let uid = try bytes("UID", count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 bytes, not \(uid.count).", line: line("UID"))
        }
        return uid
    }
}

/// Files of tags of which only the activation is known: ISO14443-3A, -3B, -4A and -4B.
extension FlipperTagDump {
    static func nfcA(_ fields: FlipperFields) throws(TagImageError) -> NFCAContents {
        NFCAContents(
            uid: try fields.nfcAIdentifier(),
            atqa: try fields.atqa(),
            sak: try fields.bytes("SAK", count: 1)[0]
        )
    }

    static func fields(of contents: NFCAContents) -> [FlipperLine] {
        FlipperLine.header(deviceType: "ISO14443-3A", uid: contents.uid)
            + FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak)
    }

    // MARK: ISO 14443-4

    static func type4A(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        Type4Contents(frontEnd: try frontEndA(fields), kind: .unspecified)
    }

    /// Reads the activation of a Type 4A tag. The ATS has lines for its parts, or a single line in older files.
    static func frontEndA(_ fields: FlipperFields) throws(TagImageError) -> Type4FrontEnd {
        var ats: [UInt8] = []
        if fields.line("ATS") != nil {
            ats = try fields.bytes("ATS", count: nil)
            guard let length = ats.first, Int(length) == ats.count, ats.count <= 254 else {
                throw TagImageError(.malformed, "ATS does not begin with its length.", line: fields.line("ATS"))
            }
        } else {
            if fields.line("T0") != nil { ats += try fields.bytes("T0", count: 1) }
            let format = ats.first ?? 0
            for (key, bit) in interfaceBytes where format & bit != 0 { ats += try fields.bytes(key, count: 1) }
            if fields.line("T1...Tk") != nil { ats += try fields.bytes("T1...Tk", count: nil) }
            guard ats.count <= 253 else {
                throw TagImageError(.malformed, "The ATS has more than 254 bytes.", line: fields.line("T1...Tk"))
            }
            ats.insert(UInt8(ats.count + 1), at: 0)
        }
        return .nfcA(
            uid: try fields.nfcAIdentifier(),
            atqa: try fields.atqa(),
            sak: try fields.bytes("SAK", count: 1)[0],
            ats: ats
        )
    }

    /// The interface bytes of an ATS, and the bits of T0 for their presence (ISO/IEC 14443-4, 5.2.3).
    private static let interfaceBytes: [(String, UInt8)] = [("TA(1)", 0x10), ("TB(1)", 0x20), ("TC(1)", 0x40)]

    static func type4B(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        let frontEnd = Type4FrontEnd.nfcB(
            pupi: try fields.bytes("UID", count: 4),
            applicationData: try fields.bytes("Application data", count: 4),
            protocolInfo: try fields.bytes("Protocol info", count: 3)
        )
        return Type4Contents(frontEnd: frontEnd, kind: .unspecified)
    }

    static func fields(of contents: Type4Contents) -> [FlipperLine]? {
        guard case .nfcB(_, _, let info) = contents.frontEnd else { return fieldsOfType4A(contents) }
        guard case .unspecified = contents.kind else { return nil }
        // Bit 0 of the protocol type means ISO/IEC 14443-4 (ISO/IEC 14443-3, 7.9.4.4).
        let device = info.count == 3 && info[1] & 0x01 != 0 ? "ISO14443-4B" : "ISO14443-3B"
        return FlipperLine.header(deviceType: device, uid: contents.identifier) + frontEndFields(of: contents)
    }

    /// Returns the lines of a Type 4A tag: its activation, and the lines of its kind.
    private static func fieldsOfType4A(_ contents: Type4Contents) -> [FlipperLine]? {
        let kind: (deviceType: String, lines: [FlipperLine])
        switch contents.kind {
        case .unspecified: kind = ("ISO14443-4A", [])
        case .desfire(let desfire): kind = ("Mifare DESFire", fields(of: desfire))
        case .version(let version): kind = fields(of: version)
        case .emv(let emv): kind = ("EMV", fields(of: emv))
        case .ndef(let files):
            guard let lines = fields(ofFiles: files) else { return nil }
            kind = ("Type 4 Tag", lines)
        case .ntag424, .emrtd: return nil
        }
        return FlipperLine.header(deviceType: kind.deviceType, uid: contents.identifier)
            + frontEndFields(of: contents) + kind.lines
    }

    private static func frontEndFields(of contents: Type4Contents) -> [FlipperLine] {
        switch contents.frontEnd {
        case .nfcB(_, let data, let info):
            return [
                .comment("ISO14443-3B specific data"), .field("Application data", bytes: data),
                .field("Protocol info", bytes: info),
            ]
        case .nfcA(_, let atqa, let sak, let ats):
            var lines = FlipperLine.nfcA(atqa: atqa, sak: sak) + [.comment("ISO14443-4A specific data")]
            var rest = ats.dropFirst()
            guard let format = rest.popFirst() else { return lines }
            lines.append(.field("T0", bytes: [format]))
            for (key, bit) in interfaceBytes where format & bit != 0 {
                if let byte = rest.popFirst() { lines.append(.field(key, bytes: [byte])) }
            }
            if !rest.isEmpty { lines.append(.field("T1...Tk", bytes: Array(rest))) }
            return lines
        }
    }
}
