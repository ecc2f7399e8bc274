// SPDX-License-Identifier: Apache-2.0
import Testing
import TextSafety

@Suite struct `Untrusted text` {
    @Test(arguments: [
        ("plain", "plain"), ("tab\there", "tab\\there"), ("a\r\nb", "a\\r\\nb"),
        ("\u{1B}]0;x\u{7}", "\\u{1b}]0;x\\u{7}"),
        ("\u{9B}31m", "\\u{9b}31m"), ("gnp.\u{202E}exe", "gnp.\\u{202e}exe"),
        ("a\u{2066}b\u{61C}", "a\\u{2066}b\\u{61c}"),
        ("a\u{E0001}\u{E0041}", "a\\u{e0001}\\u{e0041}"), ("a\u{200B}\u{AD}\u{FEFF}", "a\\u{200b}\\u{ad}\\u{feff}"),
        ("a\u{3164}\u{E0100}", "a\\u{3164}\\u{e0100}"), ("\u{E000}\u{2028}", "\\u{e000}\\u{2028}"),
        // A separator of paragraphs, and a number that is no character.
        ("a\u{2029}b\u{378}", "a\\u{2029}b\\u{378}"),
        ("naïve 日本 🎈 e\u{301} \\u{1b}", "naïve 日本 🎈 e\u{301} \\u{1b}"),
    ])
    func `Visible text: invisible characters are escaped, and nothing else`(text: String, expected: String) {
        #expect(VisibleText.escaped(text) == expected)
        #expect(VisibleText.escaped(expected) == expected)
    }

    @Test(arguments: ["❤️", "❤\u{FE0E}", "#\u{FE0F}\u{20E3}", "👩‍👩‍👧", "🏳️‍🌈", "1️⃣", "👩🏽‍💻"])
    func `Visible text: joiners and style selectors within an emoji are kept`(emoji: String) {
        #expect(VisibleText.escaped("a \(emoji) b\u{1B}") == "a \(emoji) b\\u{1b}")
    }

    @Test(arguments: [
        ("a\u{FE0F}", "a\\u{fe0f}"), ("1\u{FE0F}2", "1\\u{fe0f}2"), ("a\u{200D}🎈", "a\\u{200d}🎈"),
        ("🎈\u{200D}", "🎈\\u{200d}"),
    ])
    func `Visible text: joiners and style selectors outside of an emoji are escaped`(text: String, expected: String) {
        #expect(VisibleText.escaped(text) == expected)
    }

    @Test func `Visible text: line feeds are kept on request`() {
        #expect(VisibleText.escaped("a\nb\u{1B}\r", keepsLineBreaks: true) == "a\nb\\u{1b}\\r")
    }
}

@Suite struct `Text in JSON` {
    @Test(arguments: [
        ("plain é 日本 🎈", #""plain é 日本 🎈""#), ("\"\\", #""\"\\""#), ("\n\r\t", #""\u000a\u000d\u0009""#),
        ("\u{1B}\u{7F}\u{9B}", #""\u001b\u007f\u009b""#),
        ("\u{202E}\u{2028}\u{200B}\u{3164}", #""\u202e\u2028\u200b\u3164""#),
        ("\u{E0041}\u{E0100}", #""\udb40\udc41\udb40\udd00""#), ("❤️", #""❤\ufe0f""#),
    ])
    func `JSON text: invisible characters are escaped as UTF-16`(text: String, expected: String) {
        #expect(JSONText.quoted(text) == expected)
    }

    @Test func `JSON text: untrusted JSON becomes one line with the same value`() {
        let text = "{\n\t\"a\": \"\u{9B}\u{E0041}é\\n\"}\r\n"
        #expect(JSONText.line(text) == "{  \"a\": \"\\u009b\\udb40\\udc41é\\n\"}  ")
    }
}
