// SPDX-License-Identifier: Apache-2.0

/// A tag as one JSON object, kept member by member.
///
/// Members are `type` (`T2T`), `product`, `uid`, `memory_hex`, and where they differ from the product's own `atqa` (high
/// octet first), `sak`, `get_version`, `signature`, `counters`, `tearing_flags` and `failed_authentications`. `pages` is
/// checked. Others are kept, but for those that say what the memory means (`state`, `ndef_hex`, `capacity`, `readonly`,
/// `note`): they are left out of a changed image, because they would be about the old one.
struct JSONImage: Sendable {
    private let source: [UInt8]
    private let members: [JSONScanner.Member]
    private(set) var contents: Type2Contents

    private static let descriptions: Set<String> = ["state", "ndef_hex", "capacity", "readonly", "note"]

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        var scanner = JSONScanner(bytes)
        source = bytes
        members = try scanner.members()
        contents = try Self.contents(JSONFields(members))
    }

    private static func contents(_ fields: JSONFields) throws(TagImageError) -> Type2Contents {
        let type = try fields.text("type")
        guard type == "T2T" else {
            throw TagImageError(.unsupported, "A tag of type \(type) is not supported yet.", line: fields.line("type"))
        }
        let name = try fields.text("product")
        guard let product = Type2Product(named: name) else {
            throw TagImageError(
                .unsupported,
                "A tag of product \(name) is not supported yet.",
                line: fields.line("product")
            )
        }
        let uid = try fields.octets("uid", count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 octets, not \(uid.count).", line: fields.line("uid"))
        }
        let memory = try fields.octets("memory_hex", count: nil)
        guard memory.count % 4 == 0, memory.count >= 16 else {
            throw TagImageError(
                .malformed,
                "\(memory.count) octets are not whole pages, or not even the first four.",
                line: fields.line("memory_hex")
            )
        }
        guard memory.count <= product.pageCount * 4 else {
            throw TagImageError(
                .inconsistent,
                "\(memory.count / 4) pages are more than the \(product.pageCount) of the \(product).",
                line: fields.line("memory_hex")
            )
        }
        if let pages = try fields.number("pages", in: 0...100_000), pages * 4 != memory.count {
            throw TagImageError(
                .inconsistent,
                "\"pages\" says \(pages), and the memory has \(memory.count / 4).",
                line: fields.line("pages")
            )
        }
        var contents = Type2Contents(blank: product, uid: uid)
        contents.memory = memory
        if fields.hasValue("atqa") {
            let atqa = try fields.octets("atqa", count: 2)
            contents.atqa = UInt16(atqa[0]) << 8 | UInt16(atqa[1])
        }
        if fields.hasValue("sak") { contents.sak = try fields.octets("sak", count: 1)[0] }
        if product.version != nil, fields.hasValue("get_version") {
            contents.version = try fields.octets("get_version", count: 8)
        }
        if fields.hasValue("signature") { contents.signature = try fields.octets("signature", count: 32) }
        if fields.hasValue("tearing_flags") { contents.tearingFlags = try fields.octets("tearing_flags", count: 3) }
        if let counters = try fields.numbers("counters", count: 3, upTo: 0xFF_FFFF) {
            contents.counters = counters.map { UInt32($0) }
        }
        contents.failedAuthentications = try fields.number("failed_authentications", in: 0...0xFFFF_FFFF) ?? 0
        return contents
    }

    /// The file with what the tag holds now.
    func encoded(_ now: Type2Contents) -> [UInt8] {
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
    static func encoded(new contents: Type2Contents) -> [UInt8] {
        let blank = Type2Contents(blank: contents.product, uid: contents.uid)
        var members = [
            ("type", "\"T2T\""),
            ("product", "\"\(contents.product.name)\""),
            ("uid", "\"\(contents.uid.hexadecimalText)\""),
            ("pages", String(contents.memory.count / 4)),
            ("memory_hex", "\"\(contents.memory.hexadecimalText)\""),
        ]
        members += changes(from: blank, to: contents).filter { $0.0 != "memory_hex" && $0.0 != "pages" }
        return text(members.map { (Array("\"\($0.0)\"".utf8), Array($0.1.utf8)) }, newline: true)
    }

    /// The members whose values differ.
    private static func changes(from old: Type2Contents, to new: Type2Contents) -> [(String, String)] {
        var changes: [(String, String)] = []
        func add(_ key: String, _ differs: Bool, _ value: String) {
            if differs { changes.append((key, value)) }
        }
        add("memory_hex", old.memory != new.memory, "\"\(new.memory.hexadecimalText)\"")
        add("pages", old.memory.count != new.memory.count, String(new.memory.count / 4))
        let atqa = [UInt8(new.atqa >> 8), UInt8(new.atqa & 0xFF)]
        add("atqa", old.atqa != new.atqa, "\"\(atqa.hexadecimalText)\"")
        add("sak", old.sak != new.sak, "\"\([new.sak].hexadecimalText)\"")
        add("get_version", old.version != new.version, new.version.map { "\"\($0.hexadecimalText)\"" } ?? "null")
        add("signature", old.signature != new.signature, "\"\(new.signature.hexadecimalText)\"")
        let counters = new.counters.map { String($0) }.joined(separator: ", ")
        add("counters", old.counters != new.counters, "[\(counters)]")
        add("tearing_flags", old.tearingFlags != new.tearingFlags, "\"\(new.tearingFlags.hexadecimalText)\"")
        let failed = new.failedAuthentications
        add("failed_authentications", old.failedAuthentications != failed, String(failed))
        return changes
    }

    private static func text(_ members: [(key: [UInt8], value: [UInt8])], newline: Bool) -> [UInt8] {
        let body = members.map { $0.key + Array(": ".utf8) + $0.value }.joined(separator: Array(", ".utf8))
        return [UInt8(ascii: "{")] + body + [UInt8(ascii: "}")] + (newline ? [0x0A] : [])
    }
}
