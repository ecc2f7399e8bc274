// SPDX-License-Identifier: Apache-2.0

/// The findings that comments in a file take back.
///
///     session.begin()  // nfclint:disable TXT010
///     // nfclint:disable SRC012
///     func read() { … }
///     // nfclint:disable:file TXT001
///
/// After code, the comment is for its line. Alone on a line, it is for the next one: that line, or the block
/// whose brace it opens; up to `nfclint:enable` where that follows. With `:file`, or before the first line of code, it is for
/// the whole file. Without ids it is for all rules.
struct Suppressions {
    private struct Span {
        var ids: Set<String>
        var lines: ClosedRange<Int>
    }

    private var spans: [Span] = []

    init(_ bytes: [UInt8]) {
        guard Self.contains(bytes, "nfclint:disable") else { return }
        let lines = TextLines.read(bytes)
        var isInText = false
        for (index, line) in lines.enumerated() {
            let comment = Self.comment(line, &isInText)
            guard let comment, let mark = line[comment...].firstRange(of: "nfclint:disable") else { continue }
            let rest = line[mark.upperBound...]
            let ids = Set(Self.ids(rest))
            let number = index + 1
            let before = line[..<mark.lowerBound].trimmed
            let isAlone = ["//", "#", "<!--", "/*"].contains { before.hasPrefix($0) }
            if rest.hasPrefix(":file") || isAlone && Self.isBeforeCode(lines[..<index]) {
                spans.append(Span(ids: ids, lines: 1...max(lines.count, 1)))
            } else if isAlone {
                spans.append(Span(ids: ids, lines: number...max(number, Self.end(lines, from: index + 1, ids))))
            } else {
                spans.append(Span(ids: ids, lines: number...number))
            }
        }
    }

    func covers(_ finding: Finding) -> Bool {
        spans.contains {
            $0.lines.contains(finding.place.position.line) && ($0.ids.isEmpty || $0.ids.contains(finding.id))
        }
    }

    /// The start of a line's comment, outside of string literals; nil when there is none.
    ///
    /// - Parameter isInText: whether the line begins inside a multi-line literal; on return, whether the next one does.
    private static func comment(_ line: String, _ isInText: inout Bool) -> String.Index? {
        var rest = line[...]
        var isBehindBlank = true
        while let character = rest.first {
            if rest.hasPrefix("\"\"\"") {
                isInText.toggle()
                rest = rest.dropFirst(3)
                continue
            }
            if !isInText {
                let isComment = ["//", "/*", "<!--"].contains { rest.hasPrefix($0) }
                let isMark = isBehindBlank && ["# ", "#nfclint"].contains { rest.hasPrefix($0) }
                if isComment || isMark { return rest.startIndex }
                if character == "\"", let end = Self.end(of: rest) {
                    rest = rest[end...]
                    isBehindBlank = false
                    continue
                }
            }
            isBehindBlank = character.isWhitespace
            rest = rest.dropFirst()
        }
        return nil
    }

    /// The index after a string literal; nil when it has no end.
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

    private static func ids(_ text: Substring) -> [String] {
        text.split { !($0.isLetter || $0.isNumber) }.map(String.init).filter { word in
            word.count == 6 || word.count == 7 ? word.last?.isNumber == true && word.first?.isUppercase == true : false
        }
    }

    /// Whether lines contain only comments, blanks and a file header.
    private static func isBeforeCode(_ lines: ArraySlice<String>) -> Bool {
        lines.allSatisfy { line in
            let text = line.trimmed
            return text.isEmpty
                || ["//", "/*", "*", "#!", "<?xml", "<!DOCTYPE", "<!--"].contains { text.hasPrefix($0) }
        }
    }

    /// The last line of the code that begins at a line.
    private static func end(_ lines: [String], from start: Int, _ ids: Set<String>) -> Int {
        guard start < lines.count else { return start }
        if let enable = lines[start...].firstIndex(where: { line in
            guard let mark = line.firstRange(of: "nfclint:enable") else { return false }
            let named = Set(Self.ids(line[mark.upperBound...]))
            return named.isEmpty || !named.isDisjoint(with: ids)
        }) {
            return enable + 1
        }
        var depth = 0
        for index in start..<lines.count {
            depth += lines[index].count { $0 == "{" } - lines[index].count { $0 == "}" }
            if depth <= 0 { return index + 1 }
        }
        return min(start + 1, max(lines.count, 1))
    }
}
