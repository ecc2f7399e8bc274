// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A JSON file of the Proxmark3 client. Saving rewrites only changed values.
///
/// `FileType` is the kind of tag: `mfu` for MIFARE Ultralight and NTAG; `mfc v2`, `mfc v3` and the older `mfcard` for
/// MIFARE Classic; `15693` in versions 1 to 5; `topaz` for Topaz 96; `mfdes v1`
/// for MIFARE DESFire, which is only read. All other parts are kept without interpretation.
struct ProxmarkJSON: ImageSource {
    enum Kind: String, CaseIterable {
        case mfu
        case mfcard
        case mfc2 = "mfc v2"
        case mfc3 = "mfc v3"
        case iso15 = "15693"
        case iso15v2 = "15693 v2"
        case iso15v3 = "15693 v3"
        case iso15v4 = "15693 v4"
        case iso15v5 = "15693 v5"
        case topaz
        case desfire = "mfdes v1"
    }

    /// A value of the file: its object (empty for the outermost one), its key, and its bytes.
    struct Value {
        var object: String
        var key: String
        var bytes: [UInt8]

        init(_ object: String, _ key: String, _ bytes: [UInt8]) {
            self.object = object
            self.key = key
            self.bytes = bytes
        }

        var place: String { "\(object).\(key)" }
    }

    let bytes: [UInt8]
    let contents: TagContents
    private let kind: Kind
    private let fields: JSONFields
    let remarks: [TagImageRemark]

    var format: TagImage.Format { .proxmarkJSON }

    init(_ bytes: [UInt8], _ fields: JSONFields) throws(TagImageError) {
        let type = try fields.text("FileType")
        guard let kind = Kind(rawValue: type) else {
            throw fields.error(.unsupported, "FileType", Self.refusal(of: type))
        }
        self.bytes = bytes
        self.kind = kind
        self.fields = fields
        switch kind {
        case .mfu: contents = .type2(try Self.type2(fields))
        case .mfcard, .mfc2, .mfc3: contents = .classic(try Self.classic(fields))
        case .iso15, .iso15v2, .iso15v3, .iso15v4, .iso15v5: contents = .type5(try Self.type5(fields, kind))
        case .topaz: contents = .type1(try Self.type1(fields))
        case .desfire:
            let card = try ProxmarkDESFire(fields)
            contents = .type4(card.contents)
            remarks = card.remarks
            return
        }
        remarks = Self.remarks(fields, contents)
    }

    private static func remarks(_ fields: JSONFields, _ contents: TagContents) -> [TagImageRemark] {
        let card = fields.object("Card")
        guard card.hasValue("UID"), let uid = try? card.bytes("UID"), uid != contents.uid else { return [] }
        let (header, blocks) = (uid.hexText(), contents.uid.hexText())
        let text =
            "\"UID\" is \(header), and the blocks begin with \(blocks). The tag answers with the UID in the blocks."
        return [TagImageRemark(.contradiction, text)]
    }

    /// The values that would be missing or different in a new file with the same contents.
    var leftOut: [String] {
        guard kind != .desfire else { return [] }
        let values = Self.values(of: contents, kind) ?? []
        let newValues = Dictionary(values.map { ($0.place, $0.bytes) }) { $1 }
        return ["Card", "blocks"].flatMap { name in
            let object = fields.object(name)
            return object.keys.map { "\(name).\($0)" }.filter { place in
                guard let new = newValues[place] else { return true }
                let old = try? object.bytes(String(place.dropFirst(name.count + 1)))
                return old != new
            }
        }
    }

    func encoded(_ now: TagContents) -> [UInt8]? {
        guard now != contents else { return bytes }
        guard let new = Self.values(of: now, kind), let old = Self.values(of: contents, kind) else { return nil }
        let before = Dictionary(old.map { ($0.place, $0.bytes) }) { $1 }
        var result = bytes
        let changes = new.filter { before[$0.place] != $0.bytes }
        let places = changes.compactMap { value in
            (value.object.isEmpty ? fields : fields.object(value.object)).range(value.key).map { ($0, value.bytes) }
        }
        for (range, value) in places.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
            result.replaceSubrange(range, with: Array("\"\(value.hexText().uppercased())\"".utf8))
        }
        return result
    }

    /// Returns a new file, with the client's line layout; nil when no `FileType` fits the tag.
    static func encoded(new contents: TagContents) -> [UInt8]? {
        guard let kind = kind(for: contents), let values = values(of: contents, kind) else { return nil }
        var lines = ["{", "  \"Created\": \"proxmark3\",", "  \"FileType\": \"\(kind.rawValue)\","]
        for (position, object) in ["Card", "blocks"].enumerated() {
            lines.append("  \"\(object)\": {")
            let members = values.filter { $0.object == object }
            for (index, value) in members.enumerated() {
                let comma = index + 1 < members.count ? "," : ""
                lines.append("    \"\(value.key)\": \"\(value.bytes.hexText().uppercased())\"\(comma)")
            }
            lines.append(position == 0 ? "  }," : "  }")
        }
        return Array((lines + ["}"]).joined(separator: "\n").utf8)
    }

    private static func kind(for contents: TagContents) -> Kind? {
        switch contents {
        case .type1(let contents): contents.product == .topaz96 ? .topaz : nil
        case .type2: .mfu
        case .type5(let contents): contents.product.blockCount <= ProxmarkTag15.version4Pages ? .iso15v4 : .iso15v5
        case .classic(let contents): contents.signature.isEmpty ? .mfc2 : .mfc3
        case .type3, .type4, .nfcA: nil
        }
    }

    private static func values(of contents: TagContents, _ kind: Kind) -> [Value]? {
        switch (contents, kind) {
        case (.type1(let contents), .topaz): values(of: contents)
        case (.type2(let contents), .mfu): values(of: contents)
        case (.classic(let contents), .mfcard), (.classic(let contents), .mfc2), (.classic(let contents), .mfc3):
            values(of: contents, kind)
        case (.type5(let contents), _): values(of: contents, kind)
        default: nil
        }
    }

    private static func blocks(_ fields: JSONFields, size: Int, limit: Int) throws(TagImageError) -> [UInt8] {
        let blocks = fields.object("blocks")
        guard blocks.keys.count <= limit else {
            throw fields.error(.inconsistent, "blocks", "The file has more than \(limit) blocks.")
        }
        var memory: [UInt8] = []
        for index in 0..<blocks.keys.count { memory += try blocks.bytes(String(index), count: size) }
        guard !memory.isEmpty else { throw TagImageError(.missingField, "\"blocks\" is missing or empty.") }
        return memory
    }

    private static func blocks(_ memory: [UInt8], size: Int) -> [Value] {
        stride(from: 0, to: memory.count, by: size).enumerated().map { index, start in
            Value("blocks", String(index), Array(memory[start..<min(start + size, memory.count)]))
        }
    }

    // MARK: MIFARE Ultralight and NTAG

    private static func type2(_ fields: JSONFields) throws(TagImageError) -> Type2Contents {
        let memory = try blocks(fields, size: 4, limit: 256)
        let card = fields.object("Card")
        var header = ProxmarkHeader()
        if card.hasValue("Version") { header.version = try card.bytes("Version", count: 8) }
        if card.hasValue("Signature") { header.signature = try card.bytes("Signature", count: 32) }
        for index in 0..<3 where card.hasValue("Counter\(index)") {
            header.counters[index] = UInt32(try card.bytes("Counter\(index)", count: 3).littleEndian(at: 0, count: 3))
        }
        for index in 0..<3 where card.hasValue("Tearing\(index)") {
            header.tearingFlags[index] = try card.byte("Tearing\(index)")
        }
        return try header.contents(memory: memory)
    }

    private static func values(of contents: Type2Contents) -> [Value]? {
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

    private static func classic(_ fields: JSONFields) throws(TagImageError) -> ClassicContents {
        let memory = try blocks(fields, size: 16, limit: 256)
        guard let product = ClassicProduct(memorySize: memory.count) else {
            let reason = "The file has \(memory.count / 16) blocks, which match no MIFARE Classic."
            throw fields.error(.inconsistent, "blocks", reason)
        }
        let card = fields.object("Card")
        let uid = card.hasValue("UID") ? try card.nfcAIdentifier("UID") : ClassicContents.uid(inBlock0: memory)
        var contents = ClassicContents(product, memory: memory, uid: uid)
        // The file has ATQA in transmission order, low byte first.
        if card.hasValue("ATQA") { contents.atqa = try card.word("ATQA").byteSwapped }
        contents.sak = try card.byte("SAK", default: contents.sak)
        if card.hasValue("SIGNATURE") { contents.signature = try card.bytes("SIGNATURE") }
        return contents
    }

    private static func values(of contents: ClassicContents, _ kind: Kind) -> [Value] {
        var values = [
            Value("Card", "UID", contents.uid), Value("Card", "ATQA", contents.atqa.littleEndianBytes),
            Value("Card", "SAK", [contents.sak]),
        ]
        if kind == .mfc3 { values.append(Value("Card", "SIGNATURE", contents.signature)) }
        return values + blocks(contents.memory, size: 16)
    }

    // MARK: ISO 15693

    /// The values of versions 4 and 5.
    private static func cardFields(_ kind: Kind) -> [ImageField<JSONFields, ProxmarkTag15>] {
        func lock(
            _ key: String,
            _ path: WritableKeyPath<ProxmarkTag15, Bool>
        ) -> ImageField<JSONFields, ProxmarkTag15> {
            ImageField(key) { (card, tag) throws(TagImageError) in
                tag[keyPath: path] = try card.byte(key) != 0
            } write: {
                .bytes([$0[keyPath: path] ? 1 : 0])
            }
        }
        return [
            ImageField("uid") { (card, tag) throws(TagImageError) in
                tag.uid = try card.bytes("uid", count: 8).reversed()
            } write: {
                .bytes($0.uid.reversed())
            }.required,
            .byte("dsfid", \.dsfid), lock("dsfidlock", \.isDSFIDLocked), .byte("afi", \.afi),
            lock("afilock", \.isAFILocked), .written("bytesperpage") { .bytes([UInt8($0.blockSize)]) },
            .written("pagescount") { .bytes([UInt8](littleEndian: $0.blockCount, count: kind == .iso15v4 ? 1 : 2)) },
            .byte("ic", \.icReference),
            ImageField("locks") { (card, tag) throws(TagImageError) in
                tag.locks = try card.bytes("locks", count: tag.blockCount)
            } write: {
                .bytes($0.locks)
            },
            .written("random") { _ in .bytes([0, 0]) }, .bytes("privacypasswd", \.privacyPassword, count: 4),
            // The state that the client writes for a tag that is not near a reader.
            .written("state") { _ in .bytes([0]) },
        ]
    }

    private static func type5(_ fields: JSONFields, _ kind: Kind) throws(TagImageError) -> Type5Contents {
        var tag = ProxmarkTag15()
        switch kind {
        case .iso15: tag.data = try fields.bytes("raw")
        case .iso15v2, .iso15v3:
            tag.blockSize = kind == .iso15v2 ? 4 : 8
            tag.data = try blocks(fields, size: tag.blockSize, limit: 256)
        default:
            let card = fields.object("Card")
            tag.blockSize = Int(try card.byte("bytesperpage"))
            let count = try card.bytes("pagescount")
            guard (1...2).contains(count.count), (1...32).contains(tag.blockSize) else {
                let reason = "\"pagescount\" or \"bytesperpage\" is not a valid memory size."
                throw card.error(.malformed, "pagescount", reason)
            }
            tag.blockCount = count.littleEndian(at: 0, count: count.count)
            try card.read(cardFields(kind), into: &tag)
            tag.data = try blocks(fields, size: tag.blockSize, limit: 256)
        }
        return try tag.contents()
    }

    private static func values(of contents: Type5Contents, _ kind: Kind) -> [Value]? {
        guard let tag = ProxmarkTag15(contents) else { return nil }
        switch kind {
        case .iso15: return [Value("", "raw", tag.data)]
        case .iso15v2, .iso15v3: return blocks(tag.data, size: tag.blockSize)
        case .iso15v4, .iso15v5:
            let card = cardFields(kind).compactMap { field -> Value? in
                guard case .bytes(let bytes) = field.write(tag) else { return nil }
                return Value("Card", field.key, bytes)
            }
            return card + blocks(tag.data, size: tag.blockSize)
        default: return nil
        }
    }

    // MARK: Topaz

    private static func type1(_ fields: JSONFields) throws(TagImageError) -> Type1Contents {
        let memory = try blocks(fields, size: 8, limit: 64)
        let card = fields.object("Card")
        // The client writes one of these names and reads the other.
        let key = card.hasValue("H0R1") ? "H0R1" : "HR01"
        let header = try card.bytes(key, count: 2)
        guard header[0] == Type1Product.topaz96.header[0], memory.count == Type1Product.topaz96.memorySize else {
            let reason = "A file of this type is complete only for Topaz tags with static memory."
            throw card.error(.unsupported, key, reason)
        }
        return Type1Contents(.topaz96, memory: memory, header: header)
    }

    private static func values(of contents: Type1Contents) -> [Value]? {
        guard contents.product == .topaz96 else { return nil }
        return [
            Value("Card", "UID", contents.uid), Value("Card", "H0R1", contents.header),
            Value("Card", "Size", [0x78, 0x00]),
        ] + blocks(contents.memory, size: 8)
    }

    // MARK: Other files

    /// Returns a sentence that explains why files of a type can't become a virtual tag.
    static func refusal(of type: String) -> String {
        switch type {
        case "14b", "14b v2":
            "The file has the blocks of a Type B memory, but neither its UID nor its chip, so it can't become a virtual tag. "
                + "The UID is in the name that the Proxmark3 gives the file; a Flipper file of the tag has all three."
        case "mfpkeys", "mfdes", "mfdes v2": "The file has only the keys of a card, not its memory."
        case "ndef": "The file has a message but no tag: write it to a tag with nfc tag write --message."
        case "hitag", "t55x7", "t5555", "EM4205/EM4305", "EM4469/EM4569", "EM4X50":
            "The file is for a 125 kHz tag (\(type)); NFC tags work at 13.56 MHz."
        case "iclass":
            "A PicoPass or iCLASS uses its own commands and its own cipher: phones can't detect it, "
                + "and it can't become a virtual tag."
        default: "A Proxmark3 file of type \(type) can't become a virtual tag."
        }
    }
}
