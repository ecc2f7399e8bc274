// SPDX-License-Identifier: Apache-2.0
import TestThreads
import Testing

@Suite(.ownThreads) struct `Programs in a terminal` {
    private let images: Images
    private let environment: [String: String]

    init() throws {
        images = try Images()
        environment = [
            "TAGREADER_STORE": images.folder.path("messages.json"), "TERM": "xterm", "NO_COLOR": "1",
            "NFC_READER": "virtual", "NFC_TAGS": try images.poster(),
        ]
    }

    @Test func `TagReader scans by key, shows the check mark, and opens the message`() throws {
        let outcome = try Command(name: "TagReader", environment: environment).runInTerminal([
            ("Press s to scan.", "s"),
            ("1 message was added.", "\r"),
            ("Opening hours 9 to 17", "q"),
            ("s scan  m scan many", "q"),
        ])
        #expect(outcome.output.contains("Ready to Scan"))
        #expect(outcome.output.contains("The message is in your list."))
        #expect(outcome.output.contains("✓"))
        #expect(outcome.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
        #expect(outcome.status == 0)
    }

    @Test func `Esc cancels the sheet and leaves the app running`() throws {
        let outcome = try Command(name: "TagReader", environment: environment).runInTerminal([
            ("Press s to scan.", "m"),
            ("That one is saved.", "\u{1B}"),
            ("1 message was added.", "q"),
        ])
        #expect(outcome.status == 0)
    }

    @Test func `Ctrl-C on the sheet of nfc scan ends it with 130`() throws {
        let nfc = Command(name: "nfc", environment: environment)
        let outcome = try nfc.runInTerminal([("Hold the next tag near the reader.", "\u{3}")], "scan", "--many")
        #expect(outcome.output.contains("https://example.com/poster/12"))
        #expect(outcome.output.contains("Cancelled."))
        #expect(outcome.status == 130)
    }
}
