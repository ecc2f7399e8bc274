// SPDX-License-Identifier: Apache-2.0

/// What is used of a TagInfo report: the UID, the memory, and texts by the titles of their sections.
struct TagInfoScan {
    /// A block of memory.
    struct Block {
        var address = -1
        /// What the report says of access: `*` and `x` are locked.
        var access = ""
        /// The octets; none, or fewer than the block has, where they can't be read.
        var data: [UInt8] = []
        var keyA: [UInt8] = []
        var keyB: [UInt8] = []
        var line: Int
    }

    private static let maximumBlocks = 2048

    private(set) var uid: [UInt8] = []
    /// The blocks by their type in lower case, such as `ultralight`.
    private(set) var blocks: [String: [Block]] = [:]
    private var texts: [String: String] = [:]

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        var reader = XMLReader(bytes)
        var path: [String] = []
        var title = ""
        var type = ""
        var block: Block?
        var text = ""
        while let event = try reader.next() {
            switch event {
            case .start(let name, let attributes):
                if path.isEmpty, name != "scan" {
                    throw TagImageError(.unknownFormat, "The file is XML, and no TagInfo report.", line: reader.line)
                }
                path.append(name)
                // What is in hexadecimal belongs to the text around it.
                if name != "hexoutput" { text = "" }
                if name == "subsection" { title = attributes["title"] ?? "" }
                if name == "block" {
                    type = (attributes["type"] ?? "").lowercased()
                    block = Block(line: reader.line)
                }
                if name == "data" { block?.access = attributes["access"] ?? "" }
            case .text(let more):
                text += more
            case .end(let name):
                path.removeLast()
                try end(of: name, text, title, type, &block, line: reader.line)
            }
        }
        guard [4, 7, 8, 10].contains(uid.count) else {
            throw TagImageError(.missingField, "\"uid\" is missing, or no UID.")
        }
        let isType5 = blocks["icode"] != nil
        guard isType5 == (uid.count == 8) else {
            throw TagImageError(.inconsistent, "The UID is not one of the kind of tag that the memory is of.")
        }
    }

    private mutating func end(
        of name: String,
        _ text: String,
        _ title: String,
        _ type: String,
        _ block: inout Block?,
        line: Int
    ) throws(TagImageError) {
        switch name {
        case "uid": uid = try Self.octets(text, line: line)
        case "content": texts[title, default: ""] += text
        case "address": block?.address = Int(text.filter { !$0.isWhitespace }) ?? -1
        case "data": block?.data = try Self.octets(text, line: line)
        case "keyA": block?.keyA = try Self.octets(text, line: line)
        case "keyB": block?.keyB = try Self.octets(text, line: line)
        case "block":
            guard let block, block.address >= 0 else { return }
            guard blocks[type, default: []].count < Self.maximumBlocks else {
                throw TagImageError(.malformed, "There are more than \(Self.maximumBlocks) blocks.", line: line)
            }
            blocks[type, default: []].append(block)
        default: break
        }
    }

    /// Octets with spaces or colons between them.
    private static func octets(_ text: String, line: Int) throws(TagImageError) -> [UInt8] {
        let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains($0) }
        guard digits.count <= 512, let octets = [UInt8](hexadecimal: digits) else {
            throw TagImageError(.malformed, "Octets in hexadecimal are expected here.", line: line)
        }
        return octets
    }

    /// The text of a section, or nil.
    func text(_ title: String) -> String? { texts[title] }

    /// The octets of a line such as `ATQA: 0x4400` of the protocol's section, in the order in which they are written.
    func protocolOctets(_ key: String, count: Int) -> [UInt8]? {
        let lines = (text("Detailed protocol information") ?? "").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("\(key): 0x") }) else { return nil }
        let octets = [UInt8](hexadecimal: line.dropFirst(key.utf8.count + 4).utf8.prefix(count * 2))
        return octets?.count == count ? octets : nil
    }

    /// The signature of the originality check: r and s, 16 octets each.
    var signature: [UInt8]? {
        let text = texts.first { $0.key.hasPrefix("Originality") }?.value ?? ""
        var octets: [UInt8] = []
        for name in ["r: 0x", "s: 0x"] {
            guard let line = text.split(separator: "\n").first(where: { $0.contains(name) }) else { return nil }
            let digits = line.utf8.suffix(32)
            guard let part = [UInt8](hexadecimal: digits), part.count == 16 else { return nil }
            octets += part
        }
        return octets
    }
}
