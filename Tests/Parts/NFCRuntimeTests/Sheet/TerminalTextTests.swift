// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing

@Suite struct `Text for a terminal` {
    @Test(arguments: [("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🎈", 2), ("👩‍👩‍👧", 2), ("✓", 1), ("", 0)])
    func `Width is counted in columns`(text: String, columns: Int) {
        #expect(TerminalText.width(text) == columns)
    }

    @Test func `Lines break at spaces and inside of long words`() {
        #expect(TerminalText.wrap("the quick brown fox", columns: 9) == ["the quick", "brown fox"])
        #expect(TerminalText.wrap("abcdefghij k", columns: 4) == ["abcd", "efgh", "ij k"])
        #expect(TerminalText.wrap("日本語", columns: 5) == ["日本", "語"])
        #expect(TerminalText.wrap("a\n\nb", columns: 5) == ["a", "", "b"])
        #expect(TerminalText.wrap("", columns: 5) == [])
    }

    @Test func `Empty lines count inside of a text, and not at its end`() {
        #expect(TerminalText.wrap("a\n", columns: 5) == ["a"])
        #expect(TerminalText.wrap("a\n\n\n", columns: 5) == ["a"])
        #expect(TerminalText.wrap("a\n\nb\n \n", columns: 5) == ["a", "", "b"])
        #expect(TerminalText.wrap("\n\na", columns: 5) == ["", "", "a"])
        #expect(TerminalText.wrap("\n \n", columns: 5) == [])
    }

    @Test func `Spaces separate words, however many they are`() {
        #expect(TerminalText.wrap("  a   b  ", columns: 5) == ["a b"])
        #expect(
            TerminalText.wrap("ab cd", columns: 5) == ["ab cd"]
                && TerminalText.wrap("ab cd", columns: 4) == ["ab", "cd"]
        )
        #expect(TerminalText.wrap("abcd ef", columns: 4) == ["abcd", "ef"])
        #expect(TerminalText.wrap("a 日本語", columns: 6) == ["a", "日本語"])
        #expect(TerminalText.wrap("日本 語", columns: 1) == ["日", "本", "語"])
    }

    @Test func `A line that is cut ends with an ellipsis`() {
        #expect(TerminalText.cut("abcdef", columns: 4) == "abc…")
        #expect(TerminalText.cut("abcd", columns: 4) == "abcd")
    }
}

@Suite struct `Text in the columns of a terminal` {
    /// Characters of every width, from all ends of the ranges that are wide.
    private static let wide: [UInt32] = [
        0x1100, 0x115F, 0x2E80, 0x303E, 0x3041, 0xA4CF, 0xAC00, 0xD7A3, 0xF900, 0xFAFF, 0xFE30, 0xFE4F, 0xFF01, 0xFF60,
        0xFFE0, 0xFFE6, 0x1F300, 0x1F64F, 0x1F680, 0x1F6FF, 0x1F900, 0x1FAFF, 0x20000, 0x3FFFD,
    ]
    private static let narrow: [UInt32] = [
        0x20, 0x7E, 0xA1, 0xE9, 0x10FF, 0x2E7F, 0x3040, 0xA4D0, 0xABFF, 0xD7A4, 0xF8FF, 0xFB00, 0xFE2F + 0x21, 0xFF61,
        0xFFDF,
        0xFFE8, 0x1F2FF, 0x1F650, 0x1F67F, 0x1F700, 0x1F8FF, 0x1FB00, 0x1FFFD, 0x2713,
    ]

    @Test func `Wide characters take two columns, others one, and marks by themselves none`() {
        for value in Self.wide {
            #expect(Unicode.Scalar(value).map { TerminalText.width(Character($0)) } == 2, "\(value)")
        }
        for value in Self.narrow {
            #expect(Unicode.Scalar(value).map { TerminalText.width(Character($0)) } == 1, "\(value)")
        }
        for value: UInt32 in [0x301, 0x20DD, 0x200D] {
            #expect(Unicode.Scalar(value).map { TerminalText.width(Character($0)) } == 0, "\(value)")
        }
        // The emoji form of a character that is otherwise narrow.
        #expect(TerminalText.width("✔\u{FE0F}") == 2 && TerminalText.width("✔") == 1)
        #expect(TerminalText.width("a日é") == 4)
    }

    @Test(arguments: 2...12) func `Wrapped text has all words, in lines that fit and could not be joined`(columns: Int)
    {
        let text = "a bb ccc dddd 日本 é 🎈🎈 z yy xxx"
        let lines = TerminalText.wrap(text, columns: columns)
        #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
        for (line, next) in zip(lines, lines.dropFirst()) {
            #expect(TerminalText.width(line) <= columns && !line.hasPrefix(" ") && !line.hasSuffix(" "))
            let word = next.split(separator: " ").first ?? ""
            let rest = text.split(separator: " ").contains(word) ? 1 + TerminalText.width(word) : 1 + 1
            if text.split(separator: " ").contains(word) {
                #expect(TerminalText.width(line) + rest > columns, "\(line)|\(next)")
            }
        }
        #expect(TerminalText.wrap("abc", columns: 0) == ["ab", "c"])
    }

    @Test func `Text in the middle has the odd column at its right`() {
        #expect(TerminalText.centred("ab", columns: 5) == " ab  ")
        #expect(TerminalText.centred("ab", columns: 4) == " ab ")
        #expect(TerminalText.centred("日", columns: 5) == " 日  ")
        #expect(TerminalText.centred("abcdef", columns: 4) == "abc…")
        #expect(TerminalText.centred("", columns: 2) == "  ")
        #expect(TerminalText.centred("ab", columns: 2) == "ab")
    }

    @Test func `A text that is cut has as much as fits before the ellipsis`() {
        #expect(TerminalText.cut("日本語", columns: 5) == "日本…")
        #expect(TerminalText.cut("日本語", columns: 4) == "日…")
        #expect(TerminalText.cut("ab", columns: 1) == "…")
        #expect(TerminalText.cut("ab", columns: 0) == "")
        #expect(TerminalText.cut("", columns: 0) == "")
    }
}
