// SPDX-License-Identifier: Apache-2.0

/// A tag as one JSON object, kept member by member.
///
/// Members are `type` (`T1T` to `T5T`), `product`, `uid`, and what the type adds. Others are kept, but for those that say
/// what the memory means (`state`, `ndef_hex`, `capacity`, `readonly`, `note`): they are left out of a changed image,
/// because they would be about the old one.
struct JSONImage: Sendable {
    private let source: [UInt8]
    private let members: [JSONScanner.Member]
    private(set) var contents: TagContents

    private static let descriptions: Set<String> = ["state", "ndef_hex", "capacity", "readonly", "note"]

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        var scanner = JSONScanner(bytes)
        source = bytes
        members = try scanner.members()
        contents = try Self.contents(JSONFields(members))
    }

    private static func contents(_ fields: JSONFields) throws(TagImageError) -> TagContents {
        let type = try fields.text("type")
        switch type {
        case "T1T": return .type1(try type1(fields))
        case "T2T": return .type2(try type2(fields))
        case "T3T": return .type3(try type3(fields))
        case "T4T": return .type4(try type4(fields))
        case "T5T": return .type5(try type5(fields))
        default:
            throw TagImageError(.unsupported, "A tag of type \(type) is not supported yet.", line: fields.line("type"))
        }
    }

    /// The file with what the tag holds now.
    func encoded(_ now: TagContents) -> [UInt8] {
        guard now != contents else { return source }
        var kept = members
        kept.removeAll { Self.descriptions.contains($0.key) }
        for (key, value) in Self.changes(from: contents, to: now) {
            if let index = kept.firstIndex(where: { $0.key == key }) {
                kept[index].text = Array(value.utf8)
            } else {
                kept.append(
                    JSONScanner.Member(key: key, keyText: Array("\"\(key)\"".utf8), text: Array(value.utf8), line: 0)
                )
            }
        }
        return Self.text(kept.map { ($0.keyText, $0.text) }, newline: source.last == 0x0A)
    }

    /// A new file.
    static func encoded(new contents: TagContents) -> [UInt8] {
        let head = [
            ("type", "\"T\(contents.tagType)T\""),
            ("product", "\"\(contents.product)\""),
            ("uid", quoted(contents.uid)),
        ]
        return text((head + members(of: contents)).map { (Array("\"\($0.0)\"".utf8), Array($0.1.utf8)) }, newline: true)
    }

    /// The members that describe a tag, without `type`, `product` and `uid`; those that are as delivered are left out.
    private static func members(of contents: TagContents) -> [(String, String)] {
        switch contents {
        case .type1(let contents): members(of: contents)
        case .type2(let contents):
            [("pages", String(contents.memory.count / 4)), ("memory_hex", quoted(contents.memory))]
                + changes(from: Type2Contents(blank: contents.product, uid: contents.uid), to: contents).filter {
                    $0.0 != "memory_hex" && $0.0 != "pages"
                }
        case .type3(let contents): members(of: contents)
        case .type4(let contents): members(of: contents)
        case .type5(let contents): members(of: contents)
        }
    }

    /// The members whose values differ. One that is as delivered now, and was not, is null.
    private static func changes(from old: TagContents, to new: TagContents) -> [(String, String)] {
        if case .type2(let old) = old, case .type2(let new) = new { return changes(from: old, to: new) }
        let before = members(of: old)
        let now = members(of: new)
        let gone = before.filter { member in !now.contains { $0.0 == member.0 } }.map { ($0.0, "null") }
        return gone + now.filter { member in !before.contains { $0 == member } }
    }

    /// Octets as a JSON string.
    static func quoted(_ octets: [UInt8]) -> String {
        "\"\(octets.hexadecimalText)\""
    }

    private static func text(_ members: [(key: [UInt8], value: [UInt8])], newline: Bool) -> [UInt8] {
        let body = members.map { $0.key + Array(": ".utf8) + $0.value }.joined(separator: Array(", ".utf8))
        return [UInt8(ascii: "{")] + body + [UInt8(ascii: "}")] + (newline ? [0x0A] : [])
    }
}
