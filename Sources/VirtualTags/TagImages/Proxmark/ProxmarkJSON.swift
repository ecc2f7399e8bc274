// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A JSON file of the Proxmark3 client. Only changed values are written again.
///
/// `FileType` is the kind of tag: `mfu` MIFARE Ultralight and NTAG; `mfc v2`, `mfc v3` and the older `mfcard` MIFARE
/// Classic; `15693` in versions 1 to 5; `topaz` Topaz 96. All other parts stay and are not interpreted.
struct ProxmarkJSON: ImageSource {
    /// The supported kinds of files, by `FileType`.
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
            throw TagImageError(.unsupported, Self.refusal(of: type), line: fields.line("FileType"))
        }
        self.bytes = bytes
        self.kind = kind
        self.fields = fields
        switch kind {
        case .mfu: contents = .type2(try Self.type2(fields))
        case .mfcard, .mfc2, .mfc3: contents = .classic(try Self.classic(fields))
        case .iso15, .iso15v2, .iso15v3, .iso15v4, .iso15v5: contents = .type5(try Self.type5(fields, kind))
        case .topaz: contents = .type1(try Self.type1(fields))
        }
        remarks = Self.remarks(fields, contents)
    }

    /// Compares the header's UID with the blocks. The client uses the header.
    private static func remarks(_ fields: JSONFields, _ contents: TagContents) -> [TagImageRemark] {
        let card = fields.object("Card")
        guard card.hasValue("UID"), let uid = try? card.bytes("UID", count: nil), uid != contents.uid else {
            return []
        }
        let (header, blocks) = (uid.hexText(), contents.uid.hexText())
        let text = "\"UID\" is \(header), and the blocks begin with \(blocks). The tag answers with that of the blocks."
        return [TagImageRemark(.contradiction, text)]
    }

    /// The values that a new file of the same contents would have differently, or not at all.
    var leftOut: [String] {
        var held: [String: [UInt8]] = [:]
        for value in Self.values(of: contents, kind) ?? [] { held["\(value.object).\(value.key)"] = value.bytes }
        return ["Card", "blocks"].flatMap { name in
            let object = fields.object(name)
            return object.keys.map { "\(name).\($0)" }.filter { place in
                guard let new = held[place] else { return true }
                let old = try? object.bytes(String(place.dropFirst(name.count + 1)), count: nil)
                return old != new
            }
        }
    }

    /// Returns the file with the tag's current contents. Changed values are replaced at their places.
    func encoded(_ now: TagContents) -> [UInt8]? {
        guard let new = Self.values(of: now, kind), let old = Self.values(of: contents, kind) else { return nil }
        var before: [String: [UInt8]] = [:]
        for value in old { before["\(value.object).\(value.key)"] = value.bytes }
        var result = bytes
        let changes = new.filter { before["\($0.object).\($0.key)"] != $0.bytes }
        let places = changes.compactMap { value in
            (value.object.isEmpty ? fields : fields.object(value.object)).range(value.key).map { ($0, value.bytes) }
        }
        for (range, value) in places.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
            result.replaceSubrange(range, with: Array("\"\(value.hexText().uppercased())\"".utf8))
        }
        return result
    }

    /// Returns a new file, laid out in lines as the client does; nil when there is no type for the tag.
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

    /// Returns the values of a file in order; nil when the tag is not of this kind.
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

    /// Returns the blocks in `blocks` from 0 on, up to the first gap.
    ///
    /// - Parameters:
    ///   - fields: the file.
    ///   - size: the number of bytes in a block.
    ///   - limit: the maximum number of blocks.
    static func blocks(_ fields: JSONFields, size: Int, limit: Int) throws(TagImageError) -> [UInt8] {
        let blocks = fields.object("blocks")
        guard blocks.keys.count <= limit else {
            throw TagImageError(.inconsistent, "There are more than \(limit) blocks.", line: fields.line("blocks"))
        }
        var memory: [UInt8] = []
        for index in 0..<blocks.keys.count { memory += try blocks.bytes(String(index), count: size) }
        guard !memory.isEmpty else { throw TagImageError(.missingField, "\"blocks\" is missing or empty.") }
        return memory
    }

    /// Returns a memory as blocks, starting at 0.
    static func blocks(_ memory: [UInt8], size: Int) -> [Value] {
        stride(from: 0, to: memory.count, by: size).enumerated().map { index, start in
            Value("blocks", String(index), Array(memory[start..<min(start + size, memory.count)]))
        }
    }
}
