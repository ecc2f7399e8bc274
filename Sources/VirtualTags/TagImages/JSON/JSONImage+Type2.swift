// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Type 1 and Type 2 tags, MIFARE Classic, and tags of which only the activation is known.
extension JSONImage {
    // MARK: Type 1

    /// Reads a Type 1 tag: `memory_hex`, and `hr` if it differs from the product's own. `uid` is only checked.
    static func type1(_ fields: JSONFields) throws(TagImageError) -> Type1Contents {
        let product = try fields.product { Type1Product(named: $0) }
        let memory = try fields.bytes("memory_hex", count: product.memorySize)
        guard try fields.bytes("uid", count: 7) == Array(memory.prefix(7)) else {
            throw fields.error(.inconsistent, "uid", "\"uid\" is not what the memory begins with.")
        }
        let header = fields.hasValue("hr") ? try fields.bytes("hr", count: 2) : nil
        return Type1Contents(product, memory: memory, header: header)
    }

    static func members(of contents: Type1Contents) -> [(String, String)] {
        let header = contents.header == contents.product.header ? [] : [("hr", quoted(contents.header))]
        return [("memory_hex", quoted(contents.memory))] + header
    }

    // MARK: Type 2

    /// The members of a Type 2 tag besides `memory_hex` and `pages`. The high byte of ATQA is first.
    private static var type2Members: [JSONMember<Type2Contents>] {
        [
            .word("atqa", \.atqa), .byte("sak", \.sak),
            JSONMember("get_version") { (fields, contents) throws(TagImageError) in
                guard contents.product.version != nil else { return }
                contents.version = try fields.bytes("get_version", count: 8)
            } write: {
                $0.version.map { .bytes($0) } ?? .null
            },
            .bytes("signature", \.signature, count: 32),
            JSONMember("counters") { (fields, contents) throws(TagImageError) in
                contents.counters = try fields.numbers("counters", count: 3, upTo: 0xFF_FFFF).map { UInt32($0) }
            } write: {
                .numbers($0.counters.map { Int($0) })
            },
            .bytes("tearing_flags", \.tearingFlags, count: 3),
            .number("failed_authentications", \.failedAuthentications, in: 0...0xFFFF_FFFF),
        ]
    }

    /// Reads a Type 2 tag: `uid`, `memory_hex`, and the members of the table if they differ from the product's own
    /// values. `pages` is only checked.
    static func type2(_ fields: JSONFields) throws(TagImageError) -> Type2Contents {
        let product = try fields.product { Type2Product(named: $0) }
        let uid = try fields.nfcAIdentifier("uid")
        let memory = try fields.bytes("memory_hex")
        let count = memory.count / 4
        guard memory.count % 4 == 0, count >= 4 else {
            let reason = "\(memory.count) bytes are not whole pages, or not even the first four."
            throw fields.error(.malformed, "memory_hex", reason)
        }
        guard count <= product.pageCount else {
            let reason = "\(count) pages are more than the \(product.pageCount) of the \(product)."
            throw fields.error(.inconsistent, "memory_hex", reason)
        }
        let pages = try fields.number("pages", in: 0...100_000, default: count)
        guard pages == count else {
            throw fields.error(.inconsistent, "pages", "\"pages\" says \(pages), and the memory has \(count).")
        }
        var contents = Type2Contents(blank: product, uid: uid)
        contents.memory = memory
        try fields.read(type2Members, into: &contents)
        return contents
    }

    static func members(of contents: Type2Contents) -> [(String, String)] {
        let blank = Type2Contents(blank: contents.product, uid: contents.uid)
        return [("pages", String(contents.memory.count / 4)), ("memory_hex", quoted(contents.memory))]
            + members(type2Members, of: contents, unlike: blank)
    }

    static func changes(from old: Type2Contents, to new: Type2Contents) -> [(String, String)] {
        let memory = old.memory == new.memory ? [] : [("memory_hex", quoted(new.memory))]
        let pages = old.memory.count == new.memory.count ? [] : [("pages", String(new.memory.count / 4))]
        return memory + pages + members(type2Members, of: new, unlike: old)
    }

    // MARK: MIFARE Classic

    /// Reads a MIFARE Classic: `memory_hex`, `atqa`, `sak`, and if present `unknown_octets` and `signature`.
    static func classic(_ fields: JSONFields) throws(TagImageError) -> ClassicContents {
        let product = try fields.product { ClassicProduct(named: $0) }
        let memory = try fields.bytes("memory_hex", count: product.memorySize)
        var contents = ClassicContents(product, memory: memory, uid: try fields.nfcAIdentifier("uid"))
        contents.atqa = try fields.word("atqa")
        contents.sak = try fields.byte("sak")
        if fields.hasValue("unknown_octets") {
            contents.unknownBytes = Set(try fields.numbers("unknown_octets", upTo: memory.count - 1))
        }
        if fields.hasValue("signature") { contents.signature = try fields.bytes("signature") }
        return contents
    }

    static func members(of contents: ClassicContents) -> [(String, String)] {
        var members = [("memory_hex", quoted(contents.memory))] + activation(contents.atqa, contents.sak)
        if !contents.unknownBytes.isEmpty { members.append(("unknown_octets", array(contents.unknownBytes.sorted()))) }
        if !contents.signature.isEmpty { members.append(("signature", quoted(contents.signature))) }
        return members
    }

    // MARK: Activation only

    /// Reads a tag of which only the activation is known: `atqa` and `sak`.
    static func nfcA(_ fields: JSONFields) throws(TagImageError) -> NFCAContents {
        NFCAContents(uid: try fields.nfcAIdentifier("uid"), atqa: try fields.word("atqa"), sak: try fields.byte("sak"))
    }

    static func members(of contents: NFCAContents) -> [(String, String)] { activation(contents.atqa, contents.sak) }

    private static func activation(_ atqa: UInt16, _ sak: UInt8) -> [(String, String)] {
        [("atqa", quoted(atqa.bigEndianBytes)), ("sak", quoted([sak]))]
    }
}

extension JSONFields {
    func product<Product>(_ find: (String) -> Product?) throws(TagImageError) -> Product {
        let name = try text("product")
        guard let product = find(name) else {
            throw error(.unsupported, "product", "A tag of product \(name) is not supported yet.")
        }
        return product
    }
}
