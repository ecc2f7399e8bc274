// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension ProxmarkJSON {
    // MARK: MIFARE Ultralight and NTAG

    static func type2(_ fields: JSONFields) throws(TagImageError) -> Type2Contents {
        let memory = try blocks(fields, size: 4, limit: 256)
        let card = fields.object("Card")
        var header = ProxmarkHeader()
        if card.hasValue("Version") { header.version = try card.bytes("Version", count: 8) }
        if card.hasValue("Signature") { header.signature = try card.bytes("Signature", count: 32) }
        for index in 0..<3 where card.hasValue("Counter\(index)") {
            header.counters[index] = UInt32(try card.bytes("Counter\(index)", count: 3).littleEndian(at: 0, count: 3))
        }
        for index in 0..<3 where card.hasValue("Tearing\(index)") {
            header.tearingFlags[index] = try card.bytes("Tearing\(index)", count: 1)[0]
        }
        return try header.contents(memory: memory)
    }

    static func values(of contents: Type2Contents) -> [Value]? {
        let header = ProxmarkHeader(contents)
        guard contents.memory.count <= 1024, contents.uid.count == 7 else { return nil }
        var values = [
            Value("Card", "UID", contents.uid), Value("Card", "Version", header.version),
            Value("Card", "TBO_0", [0, 0]), Value("Card", "TBO_1", [0]), Value("Card", "Signature", header.signature),
        ]
        for index in 0..<3 {
            let counter = [UInt8](littleEndian: Int(header.counters[index]), count: 3)
            values.append(Value("Card", "Counter\(index)", counter))
            values.append(Value("Card", "Tearing\(index)", [header.tearingFlags[index]]))
        }
        return values + blocks(contents.memory, size: 4)
    }

    // MARK: MIFARE Classic

    static func classic(_ fields: JSONFields) throws(TagImageError) -> ClassicContents {
        let memory = try blocks(fields, size: 16, limit: 256)
        guard let product = ClassicProduct(memorySize: memory.count) else {
            throw TagImageError(
                .inconsistent,
                "No MIFARE Classic has \(memory.count / 16) blocks.",
                line: fields.line("blocks")
            )
        }
        let card = fields.object("Card")
        let uid = card.hasValue("UID") ? try card.bytes("UID", count: nil) : ClassicContents.uid(inBlock0: memory)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 bytes, not \(uid.count).", line: card.line("UID"))
        }
        var contents = ClassicContents(product, memory: memory, uid: uid)
        // ATQA is as on the air, low byte first.
        if card.hasValue("ATQA") {
            contents.atqa = UInt16(try card.bytes("ATQA", count: 2).littleEndian(at: 0, count: 2))
        }
        if card.hasValue("SAK") { contents.sak = try card.bytes("SAK", count: 1)[0] }
        if card.hasValue("SIGNATURE") { contents.signature = try card.bytes("SIGNATURE", count: nil) }
        return contents
    }

    static func values(of contents: ClassicContents, _ kind: Kind) -> [Value] {
        var values = [
            Value("Card", "UID", contents.uid),
            Value("Card", "ATQA", contents.atqa.littleEndianBytes),
            Value("Card", "SAK", [contents.sak]),
        ]
        if kind == .mfc3 { values.append(Value("Card", "SIGNATURE", contents.signature)) }
        return values + blocks(contents.memory, size: 16)
    }

    // MARK: ISO 15693

    static func type5(_ fields: JSONFields, _ kind: Kind) throws(TagImageError) -> Type5Contents {
        var tag = ProxmarkTag15()
        switch kind {
        case .iso15:
            tag.data = try fields.bytes("raw", count: nil)
        case .iso15v2, .iso15v3:
            tag.blockSize = kind == .iso15v2 ? 4 : 8
            tag.data = try blocks(fields, size: tag.blockSize, limit: 256)
        default:
            let card = fields.object("Card")
            tag.uid = try card.bytes("uid", count: 8).reversed()
            tag.blockSize = Int(try card.bytes("bytesperpage", count: 1)[0])
            let count = try card.bytes("pagescount", count: nil)
            guard (1...2).contains(count.count), (1...32).contains(tag.blockSize) else {
                throw TagImageError(
                    .malformed,
                    "\"pagescount\" or \"bytesperpage\" is not the size of a memory.",
                    line: card.line("pagescount")
                )
            }
            tag.blockCount = count.littleEndian(at: 0, count: count.count)
            if card.hasValue("dsfid") { tag.dsfid = try card.bytes("dsfid", count: 1)[0] }
            if card.hasValue("dsfidlock") { tag.isDSFIDLocked = try card.bytes("dsfidlock", count: 1) != [0] }
            if card.hasValue("afi") { tag.afi = try card.bytes("afi", count: 1)[0] }
            if card.hasValue("afilock") { tag.isAFILocked = try card.bytes("afilock", count: 1) != [0] }
            if card.hasValue("ic") { tag.icReference = try card.bytes("ic", count: 1)[0] }
            if card.hasValue("locks") { tag.locks = try card.bytes("locks", count: tag.blockCount) }
            if card.hasValue("privacypasswd") { tag.privacyPassword = try card.bytes("privacypasswd", count: 4) }
            tag.data = try blocks(fields, size: tag.blockSize, limit: 256)
        }
        return try tag.contents()
    }

    /// The state that the client writes for a tag that is not near a reader.
    private static let idle: [UInt8] = [0x00]

    static func values(of contents: Type5Contents, _ kind: Kind) -> [Value]? {
        guard let tag = ProxmarkTag15(contents) else { return nil }
        switch kind {
        case .iso15: return [Value("", "raw", tag.data)]
        case .iso15v2, .iso15v3: return blocks(tag.data, size: tag.blockSize)
        case .iso15v4, .iso15v5:
            let count = [UInt8](littleEndian: tag.blockCount, count: kind == .iso15v4 ? 1 : 2)
            return [
                Value("Card", "uid", tag.uid.reversed()), Value("Card", "dsfid", [tag.dsfid]),
                Value("Card", "dsfidlock", [tag.isDSFIDLocked ? 1 : 0]), Value("Card", "afi", [tag.afi]),
                Value("Card", "afilock", [tag.isAFILocked ? 1 : 0]),
                Value("Card", "bytesperpage", [UInt8(tag.blockSize)]), Value("Card", "pagescount", count),
                Value("Card", "ic", [tag.icReference]), Value("Card", "locks", tag.locks),
                Value("Card", "random", [0, 0]), Value("Card", "privacypasswd", tag.privacyPassword),
                Value("Card", "state", idle),
            ] + blocks(tag.data, size: tag.blockSize)
        default: return nil
        }
    }

    // MARK: Topaz

    static func type1(_ fields: JSONFields) throws(TagImageError) -> Type1Contents {
        let memory = try blocks(fields, size: 8, limit: 64)
        let card = fields.object("Card")
        // The client writes one name and reads the other.
        let key = card.hasValue("H0R1") ? "H0R1" : "HR01"
        let header = try card.bytes(key, count: 2)
        guard header[0] == Type1Product.topaz96.header[0], memory.count == Type1Product.topaz96.memorySize else {
            throw TagImageError(
                .unsupported,
                "Of Topaz tags only those with static memory are in such a file whole.",
                line: card.line(key)
            )
        }
        return Type1Contents(.topaz96, memory: memory, header: header)
    }

    static func values(of contents: Type1Contents) -> [Value]? {
        guard contents.product == .topaz96 else { return nil }
        return [
            Value("Card", "UID", contents.uid), Value("Card", "H0R1", contents.header),
            Value("Card", "Size", [0x78, 0x00]),
        ] + blocks(contents.memory, size: 8)
    }
}
