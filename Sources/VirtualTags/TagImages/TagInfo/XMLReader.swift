// SPDX-License-Identifier: Apache-2.0

/// Parses XML in pieces (W3C XML 1.0): elements, attributes and text.
///
/// Document types are refused, so the only entities are the five of XML and numeric characters. The depth and the
/// number of attributes are limited.
///
/// FoundationXML is not used, because it would load libxml2, which expands entities, into every program and test that reads
/// images of tags.
struct XMLReader {
    /// A piece of the document.
    enum Event {
        case start(name: String, attributes: [String: String])
        case end(name: String)
        case text(String)
    }

    private static let maximumDepth = 32
    private static let maximumAttributes = 32

    private let bytes: [UInt8]
    private var position = 0
    private(set) var line = 1
    /// The names of the open elements.
    private var open: [String] = []
    /// The end of an element that was written as `<name/>`.
    private var pendingEnd: String?
    private var hasRoot = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Returns the next piece; nil at the end of the document.
    mutating func next() throws(TagImageError) -> Event? {
        if let name = pendingEnd {
            pendingEnd = nil
            open.removeLast()
            return .end(name: name)
        }
        while position < bytes.count {
            if bytes[position] != UInt8(ascii: "<") {
                let text = try text(upTo: UInt8(ascii: "<"))
                guard !open.isEmpty else {
                    guard text.allSatisfy(\.isWhitespace) else {
                        throw failure("There is text outside of the root element.")
                    }
                    continue
                }
                return .text(text)
            }
            if take("<!--") {
                try skip(through: "-->")
            } else if take("<?") {
                try skip(through: "?>")
            } else if take("<![CDATA[") {
                let start = position
                try skip(through: "]]>")
                guard !open.isEmpty else { throw failure("There is text outside of the root element.") }
                return .text(try string(start..<(position - 3)))
            } else if take("<!") {
                throw failure("Document types are not read.")
            } else if take("</") {
                return try endTag()
            } else {
                position += 1
                return try startTag()
            }
        }
        guard open.isEmpty, hasRoot else { throw failure("The file ends in the middle of the document.") }
        return nil
    }

    // MARK: Tags

    private mutating func startTag() throws(TagImageError) -> Event {
        guard !open.isEmpty || !hasRoot else { throw failure("There is a second root element.") }
        guard open.count < Self.maximumDepth else { throw failure("Elements are nested too deep.") }
        let name = try name()
        var attributes: [String: String] = [:]
        while true {
            skipSpace()
            if take(">") { break }
            if take("/>") {
                pendingEnd = name
                break
            }
            let key = try self.name()
            skipSpace()
            guard take("=") else { throw failure("An attribute has no value.") }
            skipSpace()
            guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw failure("The value of an attribute is not quoted.")
            }
            position += 1
            let value = try text(upTo: quote)
            guard attributes.updateValue(value, forKey: key) == nil else {
                throw failure("\"\(key)\" is in this element already.")
            }
            guard peek == quote, attributes.count <= Self.maximumAttributes else {
                throw failure("An element has an attribute without an end, or too many of them.")
            }
            position += 1
        }
        hasRoot = true
        open.append(name)
        return .start(name: name, attributes: attributes)
    }

    private mutating func endTag() throws(TagImageError) -> Event {
        let name = try name()
        skipSpace()
        guard take(">"), open.last == name else { throw failure("An element ends that was not the last to begin.") }
        open.removeLast()
        return .end(name: name)
    }

    private mutating func name() throws(TagImageError) -> String {
        let start = position
        while let byte = peek, Self.isName(byte) { position += 1 }
        guard position > start else { throw failure("A name is expected here.") }
        return try string(start..<position)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }

    // MARK: Text

    /// Returns the text up to a character or the end, with resolved references.
    private mutating func text(upTo end: UInt8) throws(TagImageError) -> String {
        var text: [UInt8] = []
        while let byte = peek, byte != end {
            position += 1
            if byte == UInt8(ascii: "&") {
                text += try reference()
            } else {
                if byte == 0x0A { line += 1 }
                text.append(byte)
            }
        }
        guard let string = String(validating: text, as: UTF8.self) else { throw failure("The text is not UTF-8.") }
        return string
    }

    /// Reads a character that is written as `&name;` or `&#number;`.
    private mutating func reference() throws(TagImageError) -> [UInt8] {
        let start = position
        while let byte = peek, byte != UInt8(ascii: ";"), position - start < 10 { position += 1 }
        let name = try string(start..<position)
        guard take(";") else { throw failure("A reference has no end.") }
        switch name {
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "amp": return [UInt8(ascii: "&")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            let number =
                name.hasPrefix("#x")
                ? UInt32(name.dropFirst(2), radix: 16)
                : name.hasPrefix("#") ? UInt32(name.dropFirst(), radix: 10) : nil
            guard let number, let scalar = Unicode.Scalar(number) else {
                throw failure("There is no entity of that name.")
            }
            return Array(String(Character(scalar)).utf8)
        }
    }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ reason: String) -> TagImageError {
        TagImageError(.malformed, reason, line: line)
    }

    private func string(_ range: Range<Int>) throws(TagImageError) -> String {
        guard let string = String(validating: bytes[range], as: UTF8.self) else {
            throw failure("The text is not UTF-8.")
        }
        return string
    }

    /// Skips a text if it follows, and returns whether it did.
    private mutating func take(_ text: StaticString) -> Bool {
        let expected = Array(text.description.utf8)
        guard bytes[position...].starts(with: expected) else { return false }
        position += expected.count
        return true
    }

    private mutating func skip(through end: StaticString) throws(TagImageError) {
        while position < bytes.count {
            if take(end) { return }
            if bytes[position] == 0x0A { line += 1 }
            position += 1
        }
        throw failure("The file ends in the middle of the document.")
    }

    private mutating func skipSpace() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
            if byte == 0x0A { line += 1 }
            position += 1
        }
    }
}
