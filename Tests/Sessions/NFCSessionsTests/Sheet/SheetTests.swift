// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import Testing

/// The scanning sheet as a value: what it shows after each event, and how that is drawn in columns of text.
struct SheetTests {
    static func content(_ state: SheetState, _ message: String, symbol: Bool = false) -> SheetContent {
        let title = state == .ready || state == .scanning ? "Ready to Scan" : ""
        return SheetContent(state: state, title: title, message: message, showsErrorSymbol: symbol)
    }

    // MARK: States

    private static let events: [(name: String, event: SheetStateMachine.Event)] = [
        ("present", .present(message: "Again.")), ("message", .messageChanged("Other.")), ("found", .tagFound),
        ("same", .messageChanged("Near.")), ("restarted", .pollingRestarted), ("succeeded", .succeeded),
        ("failed", .failed(message: "No.", showsErrorSymbol: true)),
        ("quiet", .failed(message: "No.", showsErrorSymbol: false)), ("leave", .leave), ("over", .resultShown),
    ]
    private static let near = SheetStateMachine.Event.present(message: "Near.")
    private static let results = [
        "succeeded": "success, , Near.", "failed": "failure, , No. ✗", "quiet": "failure, , No.",
        "leave": "dismissed, Ready to Scan, Near.",
    ]
    private static let rows: [(before: [SheetStateMachine.Event], isVisible: Bool, drawn: [String: String])] = [
        ([], false, ["present": "ready, Ready to Scan, Again."]),
        (
            [near], true,
            results.merging([
                "message": "ready, Ready to Scan, Other.", "found": "scanning, Ready to Scan, Near.",
            ]) { $1 }
        ),
        (
            [near, .tagFound], true,
            results.merging([
                "message": "scanning, Ready to Scan, Other.", "restarted": "ready, Ready to Scan, Near.",
            ]) { $1 }
        ),
        ([near, .succeeded], true, ["over": "dismissed, , Near."]),
        ([near, .failed(message: "No.", showsErrorSymbol: true)], true, ["over": "dismissed, , No. ✗"]),
        ([near, .leave], false, [:]), ([near, .succeeded, .resultShown], false, [:]),
    ]

    @Test(arguments: rows.indices)
    func `sheet state machine: every event in every state draws the content of the table, or nothing`(index: Int) {
        let row = Self.rows[index]
        for (name, event) in Self.events {
            var sheet = SheetStateMachine()
            for event in row.before { _ = sheet.handle(event) }
            #expect(sheet.isVisible == row.isVisible)
            let last = sheet.content
            let content = sheet.handle(event)
            let text = content.map { "\($0.state), \($0.title), \($0.message)\($0.showsErrorSymbol ? " ✗" : "")" }
            #expect(text == row.drawn[name], "\(name)")
            #expect(sheet.content == content ?? last, "\(name)")
            if let content { #expect(content.canCancel == (content.state == .ready || content.state == .scanning)) }
        }
    }

    // MARK: The card

    @Test func `card of a waiting sheet: has title, picture, message and the line Esc to cancel`() {
        let card = """
            ╭──────────────────────────────────────╮
            │            Ready to Scan             │
            │                                      │
            │              ( ( · ) )               │
            │                                      │
            │   Hold the poster near the reader.   │
            │                                      │
            │            Esc to cancel             │
            ╰──────────────────────────────────────╯
            """
        let lines = SheetCard.render(Self.content(.ready, "Hold the poster near the reader."), width: 40)
        #expect(lines.joined(separator: "\n") == card)
    }

    @Test func `card of a result: symbol and message, framed from 20 columns on`() {
        func card(_ content: SheetContent, width: Int = 22, height: Int = 24) -> [String] {
            let lines = SheetCard.render(content, width: width, height: height)
            guard lines.first?.hasPrefix("╭") == true else { return lines }
            #expect(lines.first == "╭" + String(repeating: "─", count: width - 2) + "╮")
            return lines.dropFirst().dropLast().map { $0.dropFirst().dropLast().trimmingSpaces }
        }
        #expect(card(Self.content(.success, "Saved.")) == ["✓", "", "Saved."])
        #expect(card(Self.content(.failure, "No.", symbol: true)) == ["✗", "", "No."])
        #expect(card(Self.content(.failure, "No.")) == ["No."])
        #expect(card(Self.content(.dismissed, "x")) == [])
        #expect(card(Self.content(.success, "Saved."), width: 20).count == 3)
        #expect(card(Self.content(.success, "Saved."), width: 19).first == "         ✓         ")
        // Two empty columns at each side of the frame.
        let row = String(repeating: "a", count: 44)
        #expect(SheetCard.render(Self.content(.success, row), width: 50)[3] == "│  \(row)  │")
        #expect(card(Self.content(.success, row + "a"), width: 50).suffix(2) == [row, "a"])
    }

    @Test(arguments: 2...60) func `card on a terminal of any width: no line is longer`(width: Int) {
        let message = "A long text with averylongwordthatdoesnotfitanywhereatall and 日本語のテキスト, once more."
        for state in [SheetState.ready, .scanning, .success, .failure] {
            for line in SheetCard.render(Self.content(state, message), width: width) {
                #expect(TerminalText.width(line) <= width)
            }
        }
    }

    @Test func `card with a message longer than the screen: cut with an ellipsis`() {
        // 24 lines have room for 15 of the message, and a line is left for the prompt below the card.
        for (count, isCut) in [(14, false), (15, false), (16, true), (500, true)] {
            let message = Array(repeating: "o", count: count).joined(separator: "\n")
            let lines = SheetCard.render(Self.content(.ready, message), width: 50, height: 24)
            #expect(lines.count == min(count, 15) + 8)
            #expect(lines.contains { $0.contains("…") } == isCut)
        }
    }

    @Test(
        arguments: [
            (.ready, "38;5;63", "( ( · ) )"), (.scanning, "38;5;63", "( ( ● ) )"), (.success, "38;5;28", "✓"),
            (.failure, "38;5;196", "✗"),
        ] as [(SheetState, String, String)]
    )
    func `card in colour: each state's own symbol; escapes in the app's text are not sent`(
        state: SheetState,
        colour: String,
        symbol: String
    ) {
        func row(_ text: String, _ style: String) -> String {
            "│\u{1B}[\(style)m" + TerminalText.centred(text, columns: 30) + "\u{1B}[0m│"
        }
        let sheet = Self.content(state, "a\u{1B}[2Jb\u{7}", symbol: state == .failure)
        let lines = SheetCard.render(sheet, width: 32, usesColor: true)
        #expect(lines.contains(row(symbol, colour)))
        #expect(lines.contains(row("Ready to Scan", "1")) == sheet.canCancel)
        #expect(lines.contains(row("Esc to cancel", "2")) == sheet.canCancel)
        #expect(lines.contains("│" + TerminalText.centred("a\\u{1b}[2Jb\\u{7}", columns: 30) + "│"))
        #expect(!SheetCard.render(sheet, width: 32).joined().contains("\u{1B}"))
    }

    // MARK: Text in columns

    @Test func `width of a text: wide characters take two columns, marks none, others one`() {
        let texts: [(String, Int)] = [
            ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🎈", 2), ("👩‍👩‍👧", 2), ("✓", 1), ("", 0), ("a日é", 4),
            ("✔\u{FE0F}", 2), ("✔", 1), ("\u{301}", 0), ("\u{20DD}", 0), ("\u{200D}", 0),
        ]
        for (text, columns) in texts { #expect(TerminalText.width(text) == columns, "\(text)") }
        // Both ends of each range that is wide, and their neighbours.
        let wide: [UInt32] = [
            0x1100, 0x115F, 0x2E80, 0x303E, 0x3041, 0xA4CF, 0xAC00, 0xD7A3, 0xF900, 0xFAFF, 0xFE30, 0xFE4F, 0xFF01,
            0xFF60, 0xFFE0, 0xFFE6, 0x1F300, 0x1F64F, 0x1F680, 0x1F6FF, 0x1F900, 0x1FAFF, 0x20000, 0x3FFFD,
        ]
        let narrow: [UInt32] = [
            0x20, 0x7E, 0xA1, 0xE9, 0x10FF, 0x2E7F, 0x3040, 0xA4D0, 0xABFF, 0xD7A4, 0xF8FF, 0xFB00, 0xFE50, 0xFF61,
            0xFFDF, 0xFFE8, 0x1F2FF, 0x1F650, 0x1F67F, 0x1F700, 0x1F8FF, 0x1FB00, 0x1FFFD, 0x2713,
        ]
        for (values, columns) in [(wide, 2), (narrow, 1)] {
            for value in values {
                #expect(Unicode.Scalar(value).map { TerminalText.width(Character($0)) } == columns, "\(value)")
            }
        }
    }

    @Test func `wrapped text: lines break at spaces, and inside words that are too long`() {
        let rows: [(String, Int, [String])] = [
            ("the quick brown fox", 9, ["the quick", "brown fox"]), ("abcdefghij k", 4, ["abcd", "efgh", "ij k"]),
            ("日本語", 5, ["日本", "語"]), ("a 日本語", 6, ["a", "日本語"]), ("日本 語", 1, ["日", "本", "語"]),
            ("  a   b  ", 5, ["a b"]), ("ab cd", 5, ["ab cd"]), ("ab cd", 4, ["ab", "cd"]),
            ("abcd ef", 4, ["abcd", "ef"]),
            ("abc", 0, ["ab", "c"]), ("", 5, []),
            // Empty lines count inside of a text, and not at its end.
            ("a\n\nb\n \n", 5, ["a", "", "b"]), ("a\n\n\n", 5, ["a"]), ("\n\na", 5, ["", "", "a"]), ("\n \n", 5, []),
        ]
        for (text, columns, lines) in rows { #expect(TerminalText.wrap(text, columns: columns) == lines, "\(text)") }
    }

    @Test func `text cut or centred: fits its columns; a cut ends in an ellipsis, an odd space is at the right`() {
        let cuts: [(String, Int, String)] = [
            ("abcdef", 4, "abc…"), ("abcd", 4, "abcd"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 1, "…"),
            ("ab", 0, ""), ("", 0, ""),
        ]
        for (text, columns, cut) in cuts { #expect(TerminalText.cut(text, columns: columns) == cut, "\(text)") }
        let centred: [(String, Int, String)] = [
            ("ab", 5, " ab  "), ("ab", 4, " ab "), ("日", 5, " 日  "), ("abcdef", 4, "abc…"), ("", 2, "  "),
            ("ab", 2, "ab"),
        ]
        for (text, columns, line) in centred {
            #expect(TerminalText.centred(text, columns: columns) == line, "\(text)")
        }
    }

    // MARK: Keys

    @Test func `keys: Esc, q and Ctrl-C cancel, and other keys' sequences do not`() {
        func cancels(_ keys: String) -> Bool {
            var decoder = SheetKeyDecoder()
            var result = false
            for byte in keys.utf8 where decoder.cancels(byte) { result = true }
            return result || decoder.timeOut()
        }
        // Ctrl-C counts in the middle of another key too.
        let cancelling = [
            "\u{1B}", "\u{1B}\u{1B}", "\u{3}", "q", "Q", "\u{1B}[Aq", "\u{1B}\u{3}", "\u{1B}[\u{3}", "\u{1B}[1;\u{3}",
            "\u{1B}O\u{3}",
        ]
        // With the first and the last byte that a sequence may have before its end.
        let others = [
            "\u{1B}[A", "\u{1B}[1;5C", "\u{1B}OP", "hello", "\u{1B}[3~", "\u{1B}x", "\u{1B}Oq", "\u{1B}[1q", "\u{1B}q",
            "\u{1B}[ q", "\u{1B}[?q",
        ]
        for keys in cancelling { #expect(cancels(keys), "\(keys.debugDescription)") }
        for keys in others { #expect(!cancels(keys), "\(keys.debugDescription)") }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
