// SPDX-License-Identifier: Apache-2.0

extension JSONImage {
    // MARK: MIFARE Classic

    /// Reads a MIFARE Classic: `memory_hex`, `atqa` (high octet first), `sak`, and where there is such `unknown_octets`
    /// and `signature`.
    static func classic(_ fields: JSONFields) throws(TagImageError) -> ClassicContents {
        let name = try fields.text("product")
        guard let product = ClassicProduct(named: name) else {
            throw TagImageError(
                .unsupported,
                "A tag of product \(name) is not supported yet.",
                line: fields.line("product")
            )
        }
        let memory = try fields.octets("memory_hex", count: product.memorySize)
        var contents = ClassicContents(product, memory: memory, uid: try nfcAIdentifier(fields))
        (contents.atqa, contents.sak) = try answers(fields)
        contents.unknownOctets = Set(try fields.list("unknown_octets", upTo: memory.count - 1) ?? [])
        if fields.hasValue("signature") { contents.signature = try fields.octets("signature", count: nil) }
        return contents
    }

    static func members(of contents: ClassicContents) -> [(String, String)] {
        var members = [("memory_hex", quoted(contents.memory))] + answers(contents.atqa, contents.sak)
        if !contents.unknownOctets.isEmpty {
            let places = contents.unknownOctets.sorted().map { String($0) }.joined(separator: ", ")
            members.append(("unknown_octets", "[\(places)]"))
        }
        if !contents.signature.isEmpty { members.append(("signature", quoted(contents.signature))) }
        return members
    }

    // MARK: Activation only

    /// Reads a tag of which no more is known than its activation: `atqa` (high octet first) and `sak`.
    static func nfcA(_ fields: JSONFields) throws(TagImageError) -> NFCAContents {
        let answers = try answers(fields)
        return NFCAContents(uid: try nfcAIdentifier(fields), atqa: answers.atqa, sak: answers.sak)
    }

    static func members(of contents: NFCAContents) -> [(String, String)] {
        answers(contents.atqa, contents.sak)
    }

    private static func nfcAIdentifier(_ fields: JSONFields) throws(TagImageError) -> [UInt8] {
        let uid = try fields.octets("uid", count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 octets, not \(uid.count).", line: fields.line("uid"))
        }
        return uid
    }

    private static func answers(_ fields: JSONFields) throws(TagImageError) -> (atqa: UInt16, sak: UInt8) {
        let atqa = try fields.octets("atqa", count: 2)
        return (UInt16(atqa[0]) << 8 | UInt16(atqa[1]), try fields.octets("sak", count: 1)[0])
    }

    private static func answers(_ atqa: UInt16, _ sak: UInt8) -> [(String, String)] {
        [("atqa", quoted([UInt8(atqa >> 8), UInt8(atqa & 0xFF)])), ("sak", quoted([sak]))]
    }
}
