// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension JSONImage {
    /// Reads a Type 2 tag. Its members are `uid`, `memory_hex`, and if they differ from the product's own values,
    /// `atqa` (high byte first), `sak`, `get_version`, `signature`, `counters`, `tearing_flags` and
    /// `failed_authentications`. `pages` is only checked.
    static func type2(_ fields: JSONFields) throws(TagImageError) -> Type2Contents {
        let name = try fields.text("product")
        guard let product = Type2Product(named: name) else {
            throw TagImageError(
                .unsupported,
                "A tag of product \(name) is not supported yet.",
                line: fields.line("product")
            )
        }
        let uid = try fields.bytes("uid", count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 bytes, not \(uid.count).", line: fields.line("uid"))
        }
        let memory = try fields.bytes("memory_hex", count: nil)
        guard memory.count % 4 == 0, memory.count >= 16 else {
            throw TagImageError(
                .malformed,
                "\(memory.count) bytes are not whole pages, or not even the first four.",
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
            let atqa = try fields.bytes("atqa", count: 2)
            contents.atqa = UInt16(high: atqa[0], low: atqa[1])
        }
        if fields.hasValue("sak") { contents.sak = try fields.bytes("sak", count: 1)[0] }
        if product.version != nil, fields.hasValue("get_version") {
            contents.version = try fields.bytes("get_version", count: 8)
        }
        if fields.hasValue("signature") { contents.signature = try fields.bytes("signature", count: 32) }
        if fields.hasValue("tearing_flags") { contents.tearingFlags = try fields.bytes("tearing_flags", count: 3) }
        if let counters = try fields.numbers("counters", count: 3, upTo: 0xFF_FFFF) {
            contents.counters = counters.map { UInt32($0) }
        }
        contents.failedAuthentications = try fields.number("failed_authentications", in: 0...0xFFFF_FFFF) ?? 0
        return contents
    }

    /// Returns the members with different values.
    static func changes(from old: Type2Contents, to new: Type2Contents) -> [(String, String)] {
        var changes: [(String, String)] = []
        func add(_ key: String, _ differs: Bool, _ value: String) {
            if differs { changes.append((key, value)) }
        }
        add("memory_hex", old.memory != new.memory, "\"\(new.memory.hexText())\"")
        add("pages", old.memory.count != new.memory.count, String(new.memory.count / 4))
        let atqa = new.atqa.bigEndianBytes
        add("atqa", old.atqa != new.atqa, "\"\(atqa.hexText())\"")
        add("sak", old.sak != new.sak, "\"\([new.sak].hexText())\"")
        add("get_version", old.version != new.version, new.version.map { "\"\($0.hexText())\"" } ?? "null")
        add("signature", old.signature != new.signature, "\"\(new.signature.hexText())\"")
        let counters = new.counters.map { String($0) }.joined(separator: ", ")
        add("counters", old.counters != new.counters, "[\(counters)]")
        add("tearing_flags", old.tearingFlags != new.tearingFlags, "\"\(new.tearingFlags.hexText())\"")
        let failed = new.failedAuthentications
        add("failed_authentications", old.failedAuthentications != failed, String(failed))
        return changes
    }

    // MARK: Classic

    // MARK: MIFARE Classic

    /// Reads a MIFARE Classic: `memory_hex`, `atqa` (high byte first), `sak`, and if present `unknown_octets` and
    /// `signature`.
    static func classic(_ fields: JSONFields) throws(TagImageError) -> ClassicContents {
        let name = try fields.text("product")
        guard let product = ClassicProduct(named: name) else {
            throw TagImageError(
                .unsupported,
                "A tag of product \(name) is not supported yet.",
                line: fields.line("product")
            )
        }
        let memory = try fields.bytes("memory_hex", count: product.memorySize)
        var contents = ClassicContents(product, memory: memory, uid: try nfcAIdentifier(fields))
        (contents.atqa, contents.sak) = try answers(fields)
        contents.unknownBytes = Set(try fields.list("unknown_octets", upTo: memory.count - 1) ?? [])
        if fields.hasValue("signature") { contents.signature = try fields.bytes("signature", count: nil) }
        return contents
    }

    static func members(of contents: ClassicContents) -> [(String, String)] {
        var members = [("memory_hex", quoted(contents.memory))] + answers(contents.atqa, contents.sak)
        if !contents.unknownBytes.isEmpty {
            let places = contents.unknownBytes.sorted().map { String($0) }.joined(separator: ", ")
            members.append(("unknown_octets", "[\(places)]"))
        }
        if !contents.signature.isEmpty { members.append(("signature", quoted(contents.signature))) }
        return members
    }

    // MARK: Activation only

    /// Reads a tag of which only the activation is known: `atqa` (high byte first) and `sak`.
    static func nfcA(_ fields: JSONFields) throws(TagImageError) -> NFCAContents {
        let answers = try answers(fields)
        return NFCAContents(uid: try nfcAIdentifier(fields), atqa: answers.atqa, sak: answers.sak)
    }

    static func members(of contents: NFCAContents) -> [(String, String)] {
        answers(contents.atqa, contents.sak)
    }

    private static func nfcAIdentifier(_ fields: JSONFields) throws(TagImageError) -> [UInt8] {
        let uid = try fields.bytes("uid", count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 bytes, not \(uid.count).", line: fields.line("uid"))
        }
        return uid
    }

    private static func answers(_ fields: JSONFields) throws(TagImageError) -> (atqa: UInt16, sak: UInt8) {
        let atqa = try fields.bytes("atqa", count: 2)
        return (UInt16(high: atqa[0], low: atqa[1]), try fields.bytes("sak", count: 1)[0])
    }

    private static func answers(_ atqa: UInt16, _ sak: UInt8) -> [(String, String)] {
        [("atqa", quoted(atqa.bigEndianBytes)), ("sak", quoted([sak]))]
    }
}
