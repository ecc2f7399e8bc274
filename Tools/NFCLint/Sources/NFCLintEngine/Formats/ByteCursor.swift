// SPDX-License-Identifier: Apache-2.0

/// A cursor over the bytes of a text that also counts lines.
struct ByteCursor {
    /// The maximum nesting depth of values. Deeper values are an error.
    static let deepest = 128

    let bytes: [UInt8]
    private(set) var offset = 0
    private var line = 1
    private var lineStart = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    var position: Position { Position(line: line, column: offset - lineStart + 1) }
    var isAtEnd: Bool { offset >= bytes.count }
    var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    func peek(_ ahead: Int) -> UInt8? { offset + ahead < bytes.count ? bytes[offset + ahead] : nil }

    func starts(with text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard offset + count <= bytes.count else { return false }
        var index = offset
        for unit in "\(text)".utf8 {
            if bytes[index] != unit { return false }
            index += 1
        }
        return true
    }

    mutating func advance() {
        guard let byte else { return }
        offset += 1
        if byte == 0x0A {
            line += 1
            lineStart = offset
        }
    }

    mutating func advance(_ count: Int) { for _ in 0..<count { advance() } }

    /// Moves past the next occurrence of a text. Returns false if there is none.
    mutating func skip(past text: StaticString) -> Bool {
        while !isAtEnd {
            if starts(with: text) {
                advance(text.utf8CodeUnitCount)
                return true
            }
            advance()
        }
        return false
    }

    mutating func skipBlanks() {
        while let byte, byte == 0x20 || (0x09...0x0D).contains(byte) { advance() }
    }

    func text(from start: Int) -> String { String(decoding: bytes[start..<offset], as: UTF8.self) }

    func error(_ reason: String) -> FormatError { FormatError(reason, position) }
}
