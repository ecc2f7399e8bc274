// SPDX-License-Identifier: Apache-2.0
import TagLink

/// An element of an XML document (W3C XML 1.0).
///
/// Document types are refused, so the only entities are the five of XML and numeric characters. The depth and the
/// number of attributes are limited.
///
/// Foundation's `XMLParser` is not used: in Swift 6.3 on Linux an instruction without data, `<?x?>`, crashes it, so that
/// a file could end the program. It would also load the system's libxml2 and ICU into every program that reads images.
struct XMLElement {
    let name: String
    var attributes: [String: String] = [:]
    var children: [XMLElement] = []
    /// The text of the element and of the elements in it, in order.
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
        guard peek == nil else { throw failure("There is something after the root element.") }
        return root
    }

    private mutating func skipMiscellaneous() throws(TagImageError) {
        skipSpace()
        while try skipComment() { skipSpace() }
    }

    /// Skips a comment or an instruction if it follows, and returns whether it did.
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
                throw failure("\"\(key)\" is in this element already.")
            }
            guard peek == quote, element.attributes.count <= Self.maximumAttributes else {
                throw failure("An element has an attribute without an end, or too many of them.")
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
                    throw failure("An element ends that was not the last to begin.")
                }
                return
            } else if take("<!") {
                throw failure("Document types are not read.")
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

    /// Reads a character that is written as `&name;` or `&#number;`.
    private mutating func reference() throws(TagImageError) -> String {
        let start = position
        while let byte = peek, byte != UInt8(ascii: ";"), position - start < 10 { position += 1 }
        let name = try string(bytes[start..<position])
        guard take(";") else { throw failure("A reference has no end.") }
        if let character = Self.entities[name] { return character }
        let isHexadecimal = name.hasPrefix("#x")
        let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
        guard name.hasPrefix("#"), let scalar = number.flatMap(Unicode.Scalar.init) else {
            throw failure("There is no entity of that name.")
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
