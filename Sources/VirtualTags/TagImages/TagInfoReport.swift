// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A report of NXP's TagInfo: XML of `scan` with `uid`, and `block`s of memory in its sections; or text.
///
/// Reports can be read but not written. They lack passwords, counters and keys, because phones can't read those.
struct TagInfoReport: ImageSource {
    let bytes: [UInt8]
    let contents: TagContents

    var format: TagImage.Format { .tagInfo }

    func encoded(_ now: TagContents) -> [UInt8]? { now == contents ? bytes : nil }

    static func beginsAsText(_ start: some Sequence<UInt8>) -> Bool { start.starts(with: "** TagInfo scan".utf8) }

    init(parsing bytes: [UInt8]) throws(TagImageError) { try self.init(bytes, TagInfoScan(parsing: bytes)) }

    init(parsingText bytes: [UInt8]) throws(TagImageError) { try self.init(bytes, TagInfoScan(parsingText: bytes)) }

    private init(_ bytes: [UInt8], _ scan: TagInfoScan) throws(TagImageError) {
        self.bytes = bytes
        switch scan.blocks.keys.sorted().first {
        case "ultralight": contents = .type2(try Self.type2(scan))
        case "icode": contents = .type5(try Self.type5(scan))
        case "mifaredata", "mifaretrailer": contents = .classic(try Self.classic(scan))
        case let type?:
            throw TagImageError(.unsupported, "A report with memory of type \(type) is not supported yet.")
        case nil: throw TagImageError(.missingField, "The report has no memory: make a full scan.")
        }
    }

    private static func type2(_ scan: TagInfoScan) throws(TagImageError) -> Type2Contents {
        let blocks = scan.blocks["ultralight"] ?? []
        var memory: [UInt8] = []
        for (address, block) in blocks.enumerated() {
            guard block.address == address, block.data.count <= 4 else {
                throw TagImageError(.malformed, "A page is missing, or does not have four bytes.", line: block.line)
            }
            memory += block.data + Array(repeating: 0, count: 4 - block.data.count)
        }
        let name = scan.texts["IC type"] ?? ""
        // A part number in parentheses may follow the name. "MF0UL11" only appears there.
        let product =
            Type2Product.all.first { $0.pageCount == blocks.count && isNamed($0, in: name) }
            ?? Type2Product.all.first { isNamed($0, in: name) }
        guard let product else { throw TagImageError(.unsupported, "A tag of type \(name) is not supported yet.") }
        guard memory.count >= 16, memory.count <= product.pageCount * 4 else {
            let reason =
                "The report has \(memory.count / 4) pages instead of the \(product.pageCount) of the \(product)."
            throw TagImageError(.inconsistent, reason)
        }
        var contents = Type2Contents(blank: product, uid: scan.uid)
        let factory = contents.memory
        contents.memory = memory
        // Data that phones can't read, such as the password and the key, get the values of a new tag.
        for block in blocks where block.data.count < 4 {
            let missing = (block.address * 4 + block.data.count)..<(block.address * 4 + 4)
            contents.memory.replaceSubrange(missing, with: factory[missing])
        }
        contents.signature = scan.signature ?? contents.signature
        contents.atqa = scan.atqa ?? contents.atqa
        contents.sak = scan.sak ?? contents.sak
        return contents
    }

    /// Returns whether a text contains a product's name as whole words, so that an NTAG210µ is not an NTAG210. An F may
    /// follow, for a product variant with a field detection pin.
    private static func isNamed(_ product: Type2Product, in text: String) -> Bool {
        text.ranges(of: shortName(product)).contains { range in
            let rest = text[range.upperBound...]
            return (rest.first == "F" ? rest.dropFirst() : rest).first.map { !$0.isLetter && !$0.isNumber } ?? true
        }
    }

    private static func shortName(_ product: Type2Product) -> String {
        switch product {
        case .ultralight: "MF0ICU1"
        case .ultralightC: "MF0ICU2"
        case .ultralightEV1UL11: "MF0UL11"
        case .ultralightEV1UL21: "MF0UL21"
        default: product.name
        }
    }

    private static func type5(_ scan: TagInfoScan) throws(TagImageError) -> Type5Contents {
        let blocks = scan.blocks["icode"] ?? []
        var tag = ProxmarkTag15()
        tag.uid = scan.uid
        tag.blockSize = blocks.map(\.data.count).max() ?? 4
        for (address, block) in blocks.enumerated() {
            guard block.address == address, block.data.isEmpty || block.data.count == tag.blockSize else {
                let reason = "A block is missing, or differs in size from the others."
                throw TagImageError(.malformed, reason, line: block.line)
            }
            tag.data += block.data + Array(repeating: 0, count: tag.blockSize - block.data.count)
            // According to the report's legend, * and x mean locked.
            tag.locks.append(block.access.hasPrefix("*") || block.access.hasPrefix("x") ? 1 : 0)
        }
        tag.afi = scan.protocolBytes("AFI", count: 1)?[0] ?? 0
        tag.dsfid = scan.protocolBytes("DSFID", count: 1)?[0] ?? 0
        var contents = try tag.contents()
        contents.signature = scan.signature ?? contents.signature
        return contents
    }

    private static func classic(_ scan: TagInfoScan) throws(TagImageError) -> ClassicContents {
        let blocks = ((scan.blocks["mifaredata"] ?? []) + (scan.blocks["mifaretrailer"] ?? []))
            .sorted { $0.address < $1.address }
        guard let product = ClassicProduct(memorySize: blocks.count * 16) else {
            throw TagImageError(.inconsistent, "The report has \(blocks.count) blocks, which match no MIFARE Classic.")
        }
        var contents = ClassicContents(product, memory: [], uid: scan.uid)
        for (address, block) in blocks.enumerated() {
            guard block.address == address, block.data.isEmpty || block.data.count == 16 else {
                throw TagImageError(.malformed, "A block is missing, or does not have 16 bytes.", line: block.line)
            }
            var bytes: [UInt8?] = block.data.isEmpty ? Array(repeating: nil, count: 16) : block.data.map { $0 }
            if ClassicProduct.sector(ofTrailer: address) != nil {
                // Keys read as zero. If the report has them, they are listed beside the block.
                for index in 0..<6 {
                    bytes[index] = block.keyA.count == 6 ? block.keyA[index] : nil
                    bytes[10 + index] = block.keyB.count == 6 ? block.keyB[index] : nil
                }
            }
            for (index, byte) in bytes.enumerated() {
                contents.memory[address * 16 + index] = byte ?? 0
                if byte == nil { contents.unknownBytes.insert(address * 16 + index) }
            }
        }
        contents.atqa = scan.atqa ?? contents.atqa
        contents.sak = scan.sak ?? contents.sak
        return contents
    }
}

/// The relevant parts of a TagInfo report: the UID, the memory, and texts by section title.
struct TagInfoScan {
    struct Block {
        var address: Int
        /// The access as the report shows it: `*` and `x` mean locked.
        var access: String
        /// The bytes that could be read; possibly fewer than the block has, or none.
        var data: [UInt8]
        var keyA: [UInt8]
        var keyB: [UInt8]
        var line: Int
    }

    private static let maximumBlocks = 2048

    private(set) var uid: [UInt8] = []
    /// The blocks by type in lower case, such as `ultralight`.
    private(set) var blocks: [String: [Block]] = [:]
    private(set) var texts: [String: String] = [:]

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        let root = try XMLElement.root("scan", parsing: bytes)
        var title = ""
        try root.visit { element throws(TagImageError) in
            switch element.name {
            case "uid": uid = try Self.bytes(element)
            case "subsection": title = element.attributes["title"] ?? ""
            case "content": texts[title, default: ""] += element.text
            case "block": try add(element)
            default: break
            }
        }
        try check()
    }

    /// Reads a text report. A line such as `[0A] rwi  00 01 02` has the block's number in hexadecimal, its access, and
    /// its bytes. Hyphens, or an X for a key, stand for unknown digits. Characters or a name in parentheses follow.
    init(parsingText bytes: [UInt8]) throws(TagImageError) {
        var title = ""
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            if text.hasPrefix("# ") {
                title = String(text.dropFirst(2))
                if title.last == ":" { title.removeLast() }
            } else if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
                let address = [UInt8](hexadecimal: text[text.index(after: text.startIndex)..<end].utf8)
                guard let address, (1...2).contains(address.count) else { continue }
                try add(text[text.index(after: end)...], at: Int(UInt32(bytes: address)), line: index + 1)
            } else if text.hasPrefix("ID: ") {
                uid =
                    [UInt8](hexadecimal: text.dropFirst(4).utf8.filter { $0 != UInt8(ascii: ":") && $0 != 0x20 }) ?? []
            } else {
                texts[title, default: ""] += text + "\n"
            }
        }
        try check()
    }

    private mutating func add(_ row: Substring, at address: Int, line: Int) throws(TagImageError) {
        let words = row.prefix { $0 != "|" && $0 != "(" }.split(separator: " ")
        let digits = words.dropFirst().joined().filter { $0 != ":" }
        var data: [UInt8?] = []
        var rest = Substring(digits)
        while !rest.isEmpty {
            let pair = rest.prefix(2)
            let byte = [UInt8](hexadecimal: pair.utf8)?.first
            guard data.count < 32, byte != nil || pair.allSatisfy({ $0 == "-" || $0 == "X" }) else {
                throw TagImageError(.malformed, "Bytes in hexadecimal are expected here.", line: line)
            }
            data.append(byte)
            rest = rest.dropFirst(2)
        }
        func known(_ range: Range<Int>) -> [UInt8] { data[range].contains(nil) ? [] : data[range].compactMap(\.self) }
        let isClassic = data.count == 16
        // The keys are zero in the data, as in XML.
        let isTrailer = isClassic && ClassicProduct.sector(ofTrailer: address) != nil
        let zeros = [UInt8](repeating: 0, count: 6)
        let rights = isTrailer ? known(6..<10) : []
        let block = Block(
            address: address,
            access: words.first.map { String($0) } ?? "",
            data: isTrailer
                ? (rights.isEmpty ? [] : zeros + rights + zeros)
                : isClassic ? known(0..<16) : data.prefix { $0 != nil }.compactMap(\.self),
            keyA: isTrailer ? known(0..<6) : [],
            keyB: isTrailer ? known(10..<16) : [],
            line: line
        )
        let type = isClassic ? "mifaredata" : uid.count == 8 ? "icode" : "ultralight"
        guard blocks[type, default: []].count < Self.maximumBlocks else {
            throw TagImageError(.malformed, "There are more than \(Self.maximumBlocks) blocks.", line: line)
        }
        blocks[type, default: []].append(block)
    }

    private func check() throws(TagImageError) {
        guard [4, 7, 8, 10].contains(uid.count) else {
            throw TagImageError(.missingField, "\"uid\" is missing, or not a UID.")
        }
        let isType5 = blocks["icode"] != nil
        guard isType5 == (uid.count == 8) else {
            throw TagImageError(.inconsistent, "The UID does not match the memory's kind of tag.")
        }
    }

    private mutating func add(_ element: XMLElement) throws(TagImageError) {
        guard let address = element.child("address").flatMap({ Int($0.text.filter { !$0.isWhitespace }) }),
            address >= 0
        else { return }
        let type = (element.attributes["type"] ?? "").lowercased()
        guard blocks[type, default: []].count < Self.maximumBlocks else {
            throw TagImageError(.malformed, "The file has more than \(Self.maximumBlocks) blocks.", line: element.line)
        }
        let data = element.child("data")
        let block = Block(
            address: address,
            access: data?.attributes["access"] ?? "",
            data: try Self.bytes(data),
            keyA: try Self.bytes(element.child("keyA")),
            keyB: try Self.bytes(element.child("keyB")),
            line: element.line
        )
        blocks[type, default: []].append(block)
    }

    /// Returns the bytes of an element, which spaces or colons separate; empty if the element is missing.
    private static func bytes(_ element: XMLElement?) throws(TagImageError) -> [UInt8] {
        guard let element else { return [] }
        let digits = element.text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains($0) }
        guard digits.count <= 512, let bytes = [UInt8](hexadecimal: digits) else {
            throw TagImageError(.malformed, "Bytes in hexadecimal are expected here.", line: element.line)
        }
        return bytes
    }

    var atqa: UInt16? { protocolBytes("ATQA", count: 2).map { UInt16(high: $0[1], low: $0[0]) } }
    var sak: UInt8? { protocolBytes("SAK", count: 1)?[0] }

    /// Returns the bytes of a line such as `ATQA: 0x4400` in the protocol section, in the order written.
    func protocolBytes(_ key: String, count: Int) -> [UInt8]? {
        let lines = (texts["Detailed protocol information"] ?? "").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("\(key): 0x") }) else { return nil }
        let bytes = [UInt8](hexadecimal: line.dropFirst(key.utf8.count + 4).utf8.prefix(count * 2))
        return bytes?.count == count ? bytes : nil
    }

    /// The signature of the originality check: r and s, 16 bytes each.
    var signature: [UInt8]? {
        let text = texts.first { $0.key.hasPrefix("Originality") }?.value ?? ""
        var bytes: [UInt8] = []
        for name in ["r: 0x", "s: 0x"] {
            guard let line = text.split(separator: "\n").first(where: { $0.contains(name) }) else { return nil }
            let digits = line.utf8.suffix(32)
            guard let part = [UInt8](hexadecimal: digits), part.count == 16 else { return nil }
            bytes += part
        }
        return bytes
    }
}

/// An element of an XML document (W3C XML 1.0).
///
/// Document types are refused, so the only entities are the five of XML and numeric characters. Nesting depth and
/// number of attributes are limited.
///
/// Foundation's `XMLParser` is not used: in Swift 6.3 on Linux, an instruction without data, `<?x?>`, crashes it, so a
/// file could end the program. It would also load the system's libxml2 and ICU into every program that reads images.
struct XMLElement {
    let name: String
    var attributes: [String: String] = [:]
    var children: [XMLElement] = []
    /// The text of this element and its nested elements, in order.
    var text = ""
    /// The line where the content starts, counted from 1.
    var line = 0

    static func root(_ name: String, parsing bytes: [UInt8]) throws(TagImageError) -> XMLElement {
        var parser = XMLDocumentParser(bytes, root: name)
        return try parser.document()
    }

    func visit(_ body: (XMLElement) throws(TagImageError) -> Void) throws(TagImageError) {
        try body(self)
        for child in children { try child.visit(body) }
    }

    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }
}

private struct XMLDocumentParser {
    private static let maximumDepth = 32
    private static let maximumAttributes = 32
    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private let bytes: [UInt8]
    private let root: String
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8], root: String) {
        self.bytes = bytes
        self.root = root
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func document() throws(TagImageError) -> XMLElement {
        try skipMiscellaneous()
        guard take("<") else { throw failure("The document has no root element.") }
        let root = try element(depth: 1)
        try skipMiscellaneous()
        guard peek == nil else { throw failure("Data follow the root element.") }
        return root
    }

    private mutating func skipMiscellaneous() throws(TagImageError) {
        skipSpace()
        while try skipComment() { skipSpace() }
    }

    /// Skips a comment or an instruction at the current position. Returns whether one was found.
    private mutating func skipComment() throws(TagImageError) -> Bool {
        guard let end = take("<!--") ? "-->" : take("<?") ? "?>" : nil else { return false }
        try skip(through: end)
        return true
    }

    private mutating func element(depth: Int) throws(TagImageError) -> XMLElement {
        guard depth <= Self.maximumDepth else { throw failure("Elements are nested too deep.") }
        var element = XMLElement(name: try name())
        guard depth > 1 || element.name == root else {
            throw TagImageError(.unknownFormat, "The root element is not \(root), but \(element.name).", line: line)
        }
        skipSpace()
        while !take(">") {
            if take("/>") { return element }
            let key = try name()
            skipSpace()
            guard take("=") else { throw failure("An attribute has no value.") }
            skipSpace()
            guard let quote = peek, take("\"") || take("'") else {
                throw failure("The value of an attribute is not quoted.")
            }
            guard element.attributes.updateValue(try text(upTo: quote), forKey: key) == nil else {
                throw failure("\"\(key)\" is already in this element.")
            }
            guard peek == quote, element.attributes.count <= Self.maximumAttributes else {
                throw failure("An element has an unterminated attribute, or too many attributes.")
            }
            position += 1
            skipSpace()
        }
        element.line = line
        try readContent(of: &element, depth: depth)
        return element
    }

    private mutating func readContent(of element: inout XMLElement, depth: Int) throws(TagImageError) {
        while let byte = peek {
            if byte != UInt8(ascii: "<") {
                element.text += try text(upTo: UInt8(ascii: "<"))
            } else if take("<![CDATA[") {
                let start = position
                try skip(through: "]]>")
                element.text += try string(bytes[start..<(position - 3)])
            } else if try skipComment() {
                continue
            } else if take("</") {
                let name = try name()
                skipSpace()
                guard take(">"), name == element.name else {
                    throw failure("An end tag does not match the open element.")
                }
                return
            } else if take("<!") {
                throw failure("Document types are not supported.")
            } else {
                position += 1
                let child = try self.element(depth: depth + 1)
                element.text += child.text
                element.children.append(child)
            }
        }
        throw failure("The file ends in the middle of the document.")
    }

    private mutating func name() throws(TagImageError) -> String {
        let start = position
        while let byte = peek, Self.isName(byte) { position += 1 }
        guard position > start else { throw failure("A name is expected here.") }
        return try string(bytes[start..<position])
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }

    // MARK: Text

    private mutating func text(upTo end: UInt8) throws(TagImageError) -> String {
        var text: [UInt8] = []
        while let byte = peek, byte != end {
            advance()
            if byte == UInt8(ascii: "&") {
                text += try reference().utf8
            } else {
                text.append(byte)
            }
        }
        return try string(text[...])
    }

    /// Reads a character written as `&name;` or `&#number;`.
    private mutating func reference() throws(TagImageError) -> String {
        let start = position
        while let byte = peek, byte != UInt8(ascii: ";"), position - start < 10 { position += 1 }
        let name = try string(bytes[start..<position])
        guard take(";") else { throw failure("A reference has no end.") }
        if let character = Self.entities[name] { return character }
        let isHexadecimal = name.hasPrefix("#x")
        let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
        guard name.hasPrefix("#"), let scalar = number.flatMap(Unicode.Scalar.init) else {
            throw failure("The entity is unknown.")
        }
        return String(scalar)
    }

    private func string(_ bytes: ArraySlice<UInt8>) throws(TagImageError) -> String {
        guard let string = String(validating: bytes, as: UTF8.self) else { throw failure("The text is not UTF-8.") }
        return string
    }

    private func failure(_ reason: String) -> TagImageError { TagImageError(.malformed, reason, line: line) }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func advance() {
        if bytes[position] == 0x0A { line += 1 }
        position += 1
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func skip(through end: String) throws(TagImageError) {
        while !take(end) {
            guard position < bytes.count else { throw failure("The file ends in the middle of the document.") }
            advance()
        }
    }

    private mutating func skipSpace() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { advance() }
    }
}
