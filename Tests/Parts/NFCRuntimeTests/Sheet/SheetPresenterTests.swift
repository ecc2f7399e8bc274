// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing

@Suite struct `Presenters without a terminal` {
    private let waiting = SheetContent(
        state: .ready,
        title: "Ready to Scan",
        message: "Say \"cheese\"\n\u{1B}.",
        showsErrorSymbol: false
    )

    @Test func `A JSON sheet prints one object a line`() {
        #expect(
            JSONLinesSheet.line(for: waiting)
                == #"{"state":"ready","title":"Ready to Scan","message":"Say \"cheese\"\u000a\u001b.","#
                + #""shows_error_symbol":false}"#
        )
    }

    @Test func `A plain sheet prints one line a change`() {
        var content = waiting
        #expect(PlainTextSheet.line(for: content) == "[Ready to Scan] Say \"cheese\"\\n\\u{1b}.")
        content.state = .success
        content.message = "Saved."
        #expect(PlainTextSheet.line(for: content) == "[Done] Saved.")
        content.state = .dismissed
        #expect(PlainTextSheet.line(for: content) == nil)
    }

    @Test(arguments: [
        ("terminal", SheetChoice.terminal), ("json", .json(fileDescriptor: 2)), ("json:7", .json(fileDescriptor: 7)),
        ("text", .text), ("none", .none),
    ])
    func `NFC_SHEET names a presenter`(name: String, choice: SheetChoice) {
        #expect(SheetChoice(name: name) == choice)
    }

    @Test(arguments: ["", "Terminal", "json:", "json:-1", "json:x", "web"])
    func `Anything else names none`(name: String) {
        #expect(SheetChoice(name: name) == nil)
    }
}

@Suite struct `Keys of the sheet` {
    private func cancels(_ bytes: [UInt8]) -> Bool {
        var decoder = SheetKeyDecoder()
        var result = false
        for byte in bytes where decoder.cancels(byte) { result = true }
        return result || decoder.timeOut()
    }

    @Test(
        arguments: [
            [0x1B], [0x1B, 0x1B], [0x03], Array("q".utf8), Array("Q".utf8), Array("\u{1B}[Aq".utf8),
            // Ctrl-C counts in the middle of another key too.
            [0x1B, 0x03], [0x1B, 0x5B, 0x03], [0x1B, 0x5B, 0x31, 0x3B, 0x03], [0x1B, 0x4F, 0x03],
        ] as [[UInt8]]
    )
    func `Esc, q and Ctrl-C cancel`(bytes: [UInt8]) {
        #expect(cancels(bytes))
    }

    @Test(
        arguments: [
            "\u{1B}[A", "\u{1B}[1;5C", "\u{1B}OP", "hello", "\u{1B}[3~", "\u{1B}x", "\u{1B}Oq", "\u{1B}[1q", "\u{1B}q",
            // The first and the last byte that a sequence may have before its end.
            "\u{1B}[ q", "\u{1B}[?q",
        ]
    )
    func `Arrow keys and others do not`(keys: String) {
        #expect(!cancels(Array(keys.utf8)))
    }
}
