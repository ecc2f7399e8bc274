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

    @Test func `A line that is cut ends with an ellipsis`() {
        #expect(TerminalText.cut("abcdef", columns: 4) == "abc…")
        #expect(TerminalText.cut("abcd", columns: 4) == "abcd")
    }
}
