// SPDX-License-Identifier: Apache-2.0

/// The findings that comments in a file suppress.
///
///     session.begin()  // nfclint:disable TXT010
///     // nfclint:disable SRC012
///     func read() { … }
///     // nfclint:disable:file TXT001
///
/// After code, a comment applies to its line. On its own line, it applies to the next line or to the block that opens
/// there, or up to `nfclint:enable`. With `:file`, or before the first line of code, it applies to the whole file. A
/// comment without ids applies to all rules.
struct Suppressions {
    /// The suppressed lines by rule id, in order and disjoint. The empty id means all rules.
    private var covered: [String: [ClosedRange<Int>]] = [:]

    init(_ bytes: [UInt8]) {
        guard Self.contains(bytes, "nfclint:disable") else { return }
        let lines = TextLines.read(bytes)
        let blocks = SuppressedBlocks(lines)
        var isInText = false
        var isBeforeCode = true
        for (index, line) in lines.enumerated() {
            let hasNoCode = isBeforeCode
            isBeforeCode = isBeforeCode && Self.containsNoCode(line)
            let comment = Self.comment(line, &isInText)
            guard let comment, let mark = line[comment...].firstRange(of: "nfclint:disable") else { continue }
            let rest = line[mark.upperBound...]
            let ids = Set(Self.ids(rest))
            let number = index + 1
            let before = line[..<mark.lowerBound].trimmed
            let isAlone = ["//", "#", "<!--", "/*"].contains { before.hasPrefix($0) }
            if rest.hasPrefix(":file") || isAlone && hasNoCode {
                cover(1...max(lines.count, 1), ids)
            } else if isAlone {
                cover(number...max(number, blocks.end(from: index + 1, ids)), ids)
            } else {
                cover(number...number, ids)
            }
        }
    }

    /// Suppresses lines: all lines, or a range that begins no earlier than the ranges of previous calls.
    private mutating func cover(_ range: ClosedRange<Int>, _ ids: Set<String>) {
        for id in ids.isEmpty ? [""] : ids {
            var range = range
            while let last = covered[id]?.last, last.upperBound >= range.lowerBound {
                range = min(last.lowerBound, range.lowerBound)...max(last.upperBound, range.upperBound)
                covered[id]?.removeLast()
            }
            covered[id, default: []].append(range)
        }
    }

    func covers(_ finding: Finding) -> Bool {
        let line = finding.place.position.line
        return ["", finding.id].contains { id in
            covered[id]?.firstInOrder { $0.upperBound >= line }?.contains(line) == true
        }
    }

    /// The start of a line's comment, outside string literals; nil if the line has no comment.
    ///
    /// - Parameter isInText: whether the line begins inside a multi-line literal. Updated for the next line.
    private static func comment(_ line: String, _ isInText: inout Bool) -> String.Index? {
        var rest = line[...]
        var followsBlank = true
        // If one quote is not closed, later quotes aren't either, because all quotes after the first are escaped.
        var hasEnds = true
        while let character = rest.first {
            if rest.hasPrefix("\"\"\"") {
                isInText.toggle()
                rest = rest.dropFirst(3)
                continue
            }
            if !isInText {
                let isComment = ["//", "/*", "<!--"].contains { rest.hasPrefix($0) }
                let isMark = followsBlank && ["# ", "#nfclint"].contains { rest.hasPrefix($0) }
                if isComment || isMark { return rest.startIndex }
                if character == "\"", hasEnds {
                    if let end = Self.end(of: rest) {
                        rest = rest[end...]
                        followsBlank = false
                        continue
                    }
                    hasEnds = false
                }
            }
            followsBlank = character.isWhitespace
            rest = rest.dropFirst()
        }
        return nil
    }

    /// The index after a string literal; nil if the literal is not closed.
    private static func end(of text: Substring) -> String.Index? {
        var isEscaped = false
        for index in text.indices.dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if text[index] == "\\" {
                isEscaped = true
            } else if text[index] == "\"" {
                return text.index(after: index)
            }
        }
        return nil
    }

    private static func contains(_ bytes: [UInt8], _ word: String) -> Bool {
        let word = Array(word.utf8)
        guard bytes.count >= word.count else { return false }
        for start in 0...(bytes.count - word.count) where bytes[start] == word[0] {
            if bytes[start..<(start + word.count)].elementsEqual(word) { return true }
        }
        return false
    }

    /// The rule ids in a text.
    static func ids(_ text: Substring) -> [String] {
        text.split { !($0.isLetter || $0.isNumber) }.map(String.init).filter { word in
            word.count == 6 || word.count == 7 ? word.last?.isNumber == true && word.first?.isUppercase == true : false
        }
    }

    /// Whether a line is blank, a comment, or part of a file header.
    private static func containsNoCode(_ line: String) -> Bool {
        let text = line.trimmed
        return text.isEmpty || ["//", "/*", "*", "#!", "<?xml", "<!DOCTYPE", "<!--"].contains { text.hasPrefix($0) }
    }
}
