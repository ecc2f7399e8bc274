// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing

@Suite struct `The card of the scanning sheet` {
    private func content(
        _ state: SheetState,
        _ message: String,
        symbol: Bool = false
    ) -> SheetContent {
        let title = state == .ready || state == .scanning ? "Ready to Scan" : ""
        return SheetContent(state: state, title: title, message: message, showsErrorSymbol: symbol)
    }

    @Test func `A sheet that waits has title, picture, message and the way out`() {
        let lines = SheetCard.render(content(.ready, "Hold the poster near the reader."), width: 40)
        #expect(
            lines == [
                "╭──────────────────────────────────────╮",
                "│            Ready to Scan             │",
                "│                                      │",
                "│              ( ( · ) )               │",
                "│                                      │",
                "│   Hold the poster near the reader.   │",
                "│                                      │",
                "│            Esc to cancel             │",
                "╰──────────────────────────────────────╯",
            ]
        )
    }

    @Test func `Success is a check mark with the last message, and nothing to cancel`() {
        #expect(
            SheetCard.render(content(.success, "Saved."), width: 22) == [
                "╭────────────────────╮",
                "│         ✓          │",
                "│                    │",
                "│       Saved.       │",
                "╰────────────────────╯",
            ]
        )
    }

    @Test func `Failure has the error symbol only when the session says so`() {
        #expect(SheetCard.render(content(.failure, "No.", symbol: true), width: 22).contains { $0.contains("✗") })
        #expect(!SheetCard.render(content(.failure, "No."), width: 22).contains { $0.contains("✗") })
    }

    @Test func `One empty line separates a title from the message of a sheet without a picture`() {
        let content = SheetContent(state: .failure, title: "Ready to Scan", message: "No.", showsErrorSymbol: false)
        #expect(
            SheetCard.render(content, width: 22) == [
                "╭────────────────────╮",
                "│   Ready to Scan    │",
                "│                    │",
                "│        No.         │",
                "╰────────────────────╯",
            ]
        )
    }

    @Test func `A sheet that is gone has no lines`() {
        #expect(SheetCard.render(content(.dismissed, "x"), width: 40) == [])
    }

    @Test func `A narrow terminal has no frame`() {
        #expect(SheetCard.render(content(.success, "Saved."), width: 10) == ["    ✓     ", "          ", "  Saved.  "])
    }

    @Test(arguments: 1...60)
    func `No line is longer than the terminal`(width: Int) {
        let message = "A long text with averylongwordthatdoesnotfitanywhereatall and 日本語のテキスト, once more."
        for state in [SheetState.ready, .scanning, .success, .failure] {
            for line in SheetCard.render(content(state, message), width: width) where width >= 2 {
                #expect(TerminalText.width(line) <= width)
            }
        }
    }

    @Test func `A message that does not fit the screen is cut, with an ellipsis`() {
        let message = Array(repeating: "word", count: 500).joined(separator: " ")
        let lines = SheetCard.render(content(.ready, message), width: 50, height: 24)
        #expect(lines.count <= 23)
        #expect(lines.contains { $0.contains("…") })
    }

    @Test(arguments: [(50, 15), (15, 17)]) func `A message that just fits the screen is shown whole`(
        width: Int,
        room: Int
    ) {
        let message = { (count: Int) in Array(repeating: "o", count: count).joined(separator: "\n") }
        // A line is left for the prompt below the card.
        for (count, isCut) in [(room - 1, false), (room, false), (room + 1, true)] {
            let lines = SheetCard.render(content(.ready, message(count)), width: width, height: 24)
            #expect(lines.count == min(count, room) + 23 - room)
            #expect(lines.contains { $0.contains("…") } == isCut)
            // A terminal has 24 lines where nothing else is known.
            #expect(SheetCard.render(content(.ready, message(count)), width: width) == lines)
        }
    }

    @Test func `A terminal without any room shows one line of a message, and one of a column has two`() {
        let lines = SheetCard.render(content(.success, "a\nb\nc"), width: 22, height: 1)
        #expect(
            lines == [
                "╭────────────────────╮",
                "│         ✓          │",
                "│                    │",
                "│         a…         │",
                "╰────────────────────╯",
            ]
        )
        #expect(SheetCard.render(content(.success, "abc"), width: 1) == ["✓ ", "  ", "ab", "c "])
    }

    @Test func `A line of a message has two empty columns at each side of the frame`() {
        let row = String(repeating: "a", count: 44)
        #expect(SheetCard.render(content(.success, row), width: 50)[3] == "│  \(row)  │")
        #expect(SheetCard.render(content(.success, row + "a"), width: 50)[3...4].allSatisfy { $0.contains("a") })
    }

    @Test func `A terminal of 20 columns has room for a frame, and a smaller one has not`() {
        let frame = "╭" + String(repeating: "─", count: 18) + "╮"
        #expect(SheetCard.render(content(.success, "Saved."), width: 20).first == frame)
        #expect(SheetCard.render(content(.success, "Saved."), width: 19).first == "         ✓         ")
    }

    @Test func `A failure without the symbol begins with its message`() {
        #expect(
            SheetCard.render(content(.failure, "No."), width: 22) == [
                "╭────────────────────╮",
                "│        No.         │",
                "╰────────────────────╯",
            ]
        )
    }

    @Test func `Control characters in the app's text are shown, not obeyed`() {
        let lines = SheetCard.render(content(.ready, "a\u{1B}[2Jb\u{7}"), width: 50, usesColor: true)
        #expect(lines.contains { $0.contains("a\\u{1b}[2Jb\\u{7}") })
        #expect(!lines.contains { $0.contains("\u{1B}[2J") })
    }

    @Test func `Colour is only there when it is asked for`() {
        #expect(SheetCard.render(content(.success, "Saved."), width: 40, usesColor: true)[1].contains("\u{1B}[32m"))
        #expect(!SheetCard.render(content(.success, "Saved."), width: 40).joined().contains("\u{1B}"))
    }

    @Test(
        arguments: [
            (.ready, "34", "( ( · ) )"), (.scanning, "34", "( ( ● ) )"), (.success, "32", "✓"), (.failure, "31", "✗"),
        ] as [(SheetState, String, String)]
    ) func `Each state has a symbol of its own in its colour, and the title and the way out have a style`(
        state: SheetState,
        colour: String,
        symbol: String
    ) {
        func row(_ text: String, _ style: String) -> String {
            "│\u{1B}[\(style)m" + TerminalText.centred(text, columns: 22) + "\u{1B}[0m│"
        }
        let sheet = content(state, "Text.", symbol: state == .failure)
        let lines = SheetCard.render(sheet, width: 24, usesColor: true)
        #expect(lines.contains(row(symbol, colour)))
        #expect(lines.contains(row("Ready to Scan", "1")) == sheet.canCancel)
        #expect(lines.contains(row("Esc to cancel", "2")) == sheet.canCancel)
        #expect(lines.contains("│" + TerminalText.centred("Text.", columns: 22) + "│"))
    }
}
