// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Checks the sample app's texts against the Human Interface Guidelines for the scanning sheet.
@Suite(.ownThreads) struct `Wording of the sample app` {
    /// Each string literal of the file that holds the texts, without the titles.
    private static let texts: [String] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Examples/TagReader/Scanning/Wording.swift")
        let source = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return source.split(separator: "\n").filter { !$0.contains("Title =") }.flatMap { line in
            line.matches(of: /"([^"]+)"/).map { String($0.1) }
        }
    }()

    @Test func `The texts are found`() {
        #expect(Self.texts.count >= 15)
    }

    @Test(arguments: texts)
    func `A text names no technology and no gesture`(text: String) {
        let words = text.lowercased().split { !$0.isLetter }.map(String.init)
        let forbidden = ["nfc", "tag", "tags", "ndef", "rfid", "tap", "touch", "contact", "press", "swipe"]
        #expect(words.filter(forbidden.contains) == [])
    }

    @Test(arguments: texts)
    func `A text is one or two short sentences with a full stop`(text: String) throws {
        #expect(text.hasSuffix("."))
        #expect(try #require(text.first).isUppercase)
        #expect(text.count <= 75)
    }
}
