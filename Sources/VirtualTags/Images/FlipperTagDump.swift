// SPDX-License-Identifier: Apache-2.0
import TagLink

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
        return isSwapped ? UInt16(high: octets[1], low: octets[0]) : UInt16(high: octets[0], low: octets[1])
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

/// Files of tags of which no more is known than their activation: ISO14443-3A, -3B, -4A and -4B.
extension FlipperTagDump {
    static func nfcA(_ fields: FlipperFields) throws(TagImageError) -> NFCAContents {
        NFCAContents(
            uid: try fields.nfcAIdentifier(),
            atqa: try fields.atqa(),
            sak: try fields.octets("SAK", count: 1)[0]
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

    /// The activation of a Type 4A tag. The ATS is in lines of its parts, or in older files in one line.
    static func frontEndA(_ fields: FlipperFields) throws(TagImageError) -> Type4FrontEnd {
        var ats: [UInt8] = []
        if fields.line("ATS") != nil {
            ats = try fields.octets("ATS", count: nil)
            guard let length = ats.first, Int(length) == ats.count, ats.count <= 254 else {
                throw TagImageError(.malformed, "ATS does not begin with its length.", line: fields.line("ATS"))
            }
        } else {
            if fields.line("T0") != nil { ats += try fields.octets("T0", count: 1) }
            let format = ats.first ?? 0
            for (key, bit) in interfaceOctets where format & bit != 0 { ats += try fields.octets(key, count: 1) }
            if fields.line("T1...Tk") != nil { ats += try fields.octets("T1...Tk", count: nil) }
            guard ats.count <= 253 else {
                throw TagImageError(.malformed, "The ATS has more than 254 octets.", line: fields.line("T1...Tk"))
            }
            ats.insert(UInt8(ats.count + 1), at: 0)
        }
        return .nfcA(
            uid: try fields.nfcAIdentifier(),
            atqa: try fields.atqa(),
            sak: try fields.octets("SAK", count: 1)[0],
            ats: ats
        )
    }

    /// The interface octets of an ATS and the bits of T0 that say that they are there (ISO/IEC 14443-4, 5.2.3).
    private static let interfaceOctets: [(String, UInt8)] = [("TA(1)", 0x10), ("TB(1)", 0x20), ("TC(1)", 0x40)]

    static func type4B(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        let frontEnd = Type4FrontEnd.nfcB(
            pupi: try fields.octets("UID", count: 4),
            applicationData: try fields.octets("Application data", count: 4),
            protocolInfo: try fields.octets("Protocol info", count: 3)
        )
        return Type4Contents(frontEnd: frontEnd, kind: .unspecified)
    }

    static func fields(of contents: Type4Contents) -> [FlipperLine]? {
        if case .desfire(let desfire) = contents.kind {
            guard case .nfcA = contents.frontEnd else { return nil }
            return FlipperLine.header(deviceType: "Mifare DESFire", uid: contents.identifier)
                + frontEndFields(of: contents) + fields(of: desfire)
        }
        guard case .unspecified = contents.kind else { return nil }
        guard case .nfcB(_, _, let info) = contents.frontEnd else {
            return FlipperLine.header(deviceType: "ISO14443-4A", uid: contents.identifier)
                + frontEndFields(of: contents)
        }
        // Bit 0 of the protocol type says ISO/IEC 14443-4 (ISO/IEC 14443-3, 7.9.4.4).
        let device = info.count == 3 && info[1] & 0x01 != 0 ? "ISO14443-4B" : "ISO14443-3B"
        return FlipperLine.header(deviceType: device, uid: contents.identifier) + frontEndFields(of: contents)
    }

    private static func frontEndFields(of contents: Type4Contents) -> [FlipperLine] {
        switch contents.frontEnd {
        case .nfcB(_, let data, let info):
            return [
                .comment("ISO14443-3B specific data"), .field("Application data", octets: data),
                .field("Protocol info", octets: info),
            ]
        case .nfcA(_, let atqa, let sak, let ats):
            var lines = FlipperLine.nfcA(atqa: atqa, sak: sak) + [.comment("ISO14443-4A specific data")]
            var rest = ats.dropFirst()
            guard let format = rest.popFirst() else { return lines }
            lines.append(.field("T0", octets: [format]))
            for (key, bit) in interfaceOctets where format & bit != 0 {
                if let octet = rest.popFirst() { lines.append(.field(key, octets: [octet])) }
            }
            if !rest.isEmpty { lines.append(.field("T1...Tk", octets: Array(rest))) }
            return lines
        }
    }
}
