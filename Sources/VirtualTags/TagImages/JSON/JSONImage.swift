// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety
import VirtualTags

/// A member of an image, and the tag property that the member stores.
typealias JSONMember<Contents> = ImageField<JSONFields, Contents>

/// A tag as one JSON object, member by member.
///
/// The members are `type` (`T1T` to `T5T`, `MFC` or `NFCA`), `product`, `uid`, and those of the type. Unknown members
/// are kept. A changed image omits members that describe the memory (`state`, `ndef_hex`, `capacity`, `readonly`,
/// `note`), because they describe the old memory.
struct JSONImage: ImageSource {
    let bytes: [UInt8]
    private let fields: JSONFields
    let contents: TagContents

    private static let descriptions: Set<String> = ["state", "ndef_hex", "capacity", "readonly", "note"]

    /// Creates an image from a file's bytes and the members of its object.
    init(_ bytes: [UInt8], _ fields: JSONFields) throws(TagImageError) {
        self.bytes = bytes
        self.fields = fields
        contents = try Self.contents(fields)
    }

    var format: TagImage.Format { .json }

    private static func contents(_ fields: JSONFields) throws(TagImageError) -> TagContents {
        let type = try fields.text("type")
        switch type {
        case "T1T": return .type1(try type1(fields))
        case "T2T": return .type2(try type2(fields))
        case "T3T": return .type3(try type3(fields))
        case "T4T": return .type4(try type4(fields))
        case "T5T": return .type5(try type5(fields))
        case "MFC": return .classic(try classic(fields))
        case "NFCA": return .nfcA(try nfcA(fields))
        default: throw fields.error(.unsupported, "type", "A tag of type \(type) is not supported yet.")
        }
    }

    func encoded(_ now: TagContents) -> [UInt8]? {
        let now = trimmed(now)
        guard now != contents else { return bytes }
        var kept = fields.texts
        kept.removeAll { Self.descriptions.contains($0.key) }
        for (key, value) in Self.changes(from: contents, to: now) {
            if let index = kept.firstIndex(where: { $0.key == key }) {
                kept[index].value = Array(value.utf8)
            } else {
                kept.append((key, Array("\"\(key)\"".utf8), Array(value.utf8)))
            }
        }
        return Self.text(kept.map { ($0.keyText, $0.value) }, newline: bytes.last == 0x0A)
    }

    private func trimmed(_ now: TagContents) -> TagContents {
        guard case .type2(var type2) = now, case .type2(let original) = contents else { return now }
        type2.memory.removeLast(max(0, type2.memory.count - original.memory.count))
        return .type2(type2)
    }

    static func encoded(new contents: TagContents) -> [UInt8] {
        let head = [
            ("type", "\"\(type(of: contents))\""), ("product", "\"\(contents.model)\""),
            ("uid", quoted(contents.uid)),
        ]
        let members = head + members(of: contents)
        return text(members.map { (Array("\"\($0.0)\"".utf8), Array($0.1.utf8)) }, newline: true)
    }

    private static func type(of contents: TagContents) -> String {
        switch contents {
        case .type1: "T1T"
        case .type2: "T2T"
        case .type3: "T3T"
        case .type4: "T4T"
        case .type5: "T5T"
        case .classic: "MFC"
        case .nfcA: "NFCA"
        }
    }

    /// Returns the members of a tag except `type`, `product` and `uid`, omitting values that equal those of a new tag.
    static func members(of contents: TagContents) -> [(String, String)] {
        switch contents {
        case .type1(let contents): members(of: contents)
        case .type2(let contents): members(of: contents)
        case .type3(let contents): members(of: contents)
        case .type4(let contents): members(of: contents)
        case .type5(let contents): members(of: contents)
        case .classic(let contents): members(of: contents)
        case .nfcA(let contents): members(of: contents)
        }
    }

    private static func changes(from old: TagContents, to new: TagContents) -> [(String, String)] {
        if case .type2(let old) = old, case .type2(let new) = new { return changes(from: old, to: new) }
        let before = members(of: old)
        let now = members(of: new)
        let removed = before.filter { member in !now.contains { $0.0 == member.0 } }.map { ($0.0, "null") }
        return removed + now.filter { member in !before.contains { $0 == member } }
    }

    /// Returns the names of the members with different values.
    static func namesOfChanges(from old: TagContents, to new: TagContents) -> [String] {
        let head = [
            ("type", type(of: old) != type(of: new)), ("product", old.model != new.model),
            ("uid", old.uid != new.uid),
        ]
        return head.filter { $0.1 }.map { $0.0 } + changes(from: old, to: new).map { $0.0 }
    }

    /// Returns the members of a table whose values differ from those of other contents, such as a new tag.
    static func members<Contents>(
        _ table: [JSONMember<Contents>],
        of contents: Contents,
        unlike other: Contents
    ) -> [(String, String)] {
        table.compactMap { member in
            let value = member.write(contents)
            return value == member.write(other) ? nil : (member.key, text(value))
        }
    }

    // MARK: Text

    private static func text(_ value: ImageValue) -> String {
        switch value {
        case .bytes(let bytes): quoted(bytes)
        case .number(let number): String(number)
        case .numbers(let numbers): array(numbers)
        case .flag(let flag): String(flag)
        case .text(let text): JSONText.quoted(text)
        case .null: "null"
        }
    }

    static func quoted(_ bytes: [UInt8]) -> String { "\"\(bytes.hexText())\"" }

    static func array(_ numbers: [Int]) -> String { "[\(numbers.map { String($0) }.joined(separator: ", "))]" }

    // `JSONWriter` can't be used here: it writes no spaces and can't insert existing text. An image has a space after
    // each comma and colon, and unchanged members keep their original text.

    static func object(_ members: [(String, String)]) -> String {
        "{\(members.map { "\(JSONText.quoted($0.0)): \($0.1)" }.joined(separator: ", "))}"
    }

    private static func text(_ members: [(key: [UInt8], value: [UInt8])], newline: Bool) -> [UInt8] {
        let body = members.map { $0.key + Array(": ".utf8) + $0.value }.joined(separator: Array(", ".utf8))
        return [UInt8(ascii: "{")] + body + [UInt8(ascii: "}")] + (newline ? [0x0A] : [])
    }
}
