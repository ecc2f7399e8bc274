// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TagTrace
import Testing

/// Exchanges with their meanings in a trace, from a file of lines such as `A > 26/7 | REQA`.
///
/// A line has the letter of the medium, `>` for a request or `<` for its answer, and the bytes in hex. `/7` at the end is the
/// number of bits of the last byte, `-` means a frame without a checksum, and `+B` one with a CRC_B. `none` is a missing answer.
/// A line `field` switches the field on, and `# WORDS` begins a part with a new trace.
struct Transcript: Sendable, CustomTestStringConvertible {
    struct Line: Sendable, Equatable, CustomStringConvertible {
        var head: String
        var meaning: String
        var description: String { "\(head) | \(meaning)" }
    }

    var title: String
    var lines: [Line] = []
    var entries: [Trace.Entry] = []
    var testDescription: String { title }

    static let media: [Substring: Trace.Medium] = [
        "A": .frames(.nfcA), "B": .frames(.nfcB), "F": .frames(.nfcF), "V": .frames(.nfcV), "C": .commands,
    ]

    /// The text of a file with vectors.
    static func text(of name: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Vectors/\(name)")
        return try String(contentsOf: file, encoding: .utf8)
    }

    static func parts(of name: String) throws -> [Transcript] {
        var parts: [Transcript] = []
        for line in try text(of: name).split(separator: "\n") {
            if line.hasPrefix("# ") {
                parts.append(Transcript(title: String(line.dropFirst(2))))
            } else {
                try parts[parts.count - 1].add(line)
            }
        }
        return parts
    }

    private mutating func add(_ text: Substring) throws {
        if text == "field" {
            entries.append(Trace.Entry(.field(isOn: true)))
            lines.append(Line(head: "field", meaning: "field on"))
            return
        }
        let sides = text.split(separator: "|", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        let line = try #require(sides.count == 2 ? Line(head: sides[0], meaning: sides[1]) : nil, "\(text)")
        lines.append(line)
        let words = line.head.split(separator: " ")
        let bytes = words.count > 2 ? String(words[2]) : ""
        if words[1] == ">" {
            let medium = try #require(Self.media[words[0]])
            entries.append(Trace.Entry(.exchange(Trace.Exchange(medium, request: try frame(bytes), answer: nil))))
        } else if case .exchange(var exchange) = entries.removeLast().event {
            exchange.answer = bytes == "none" ? .failure(LinkError(.timeout, "")) : .success(try frame(bytes))
            entries.append(Trace.Entry(.exchange(exchange)))
        }
    }

    private func frame(_ text: String) throws -> Frame {
        let digits = text.prefix { $0.isHexDigit }
        let bytes = try #require([UInt8](hexadecimal: digits.utf8))
        switch text.dropFirst(digits.count) {
        case "": return Frame(bytes)
        case "-": return Frame(bytes, checksum: .none)
        case "+B": return Frame(bytes, checksum: .crcB)
        case let rest: return Frame(bits: bytes, validBitsInLastByte: try #require(rest.last?.wholeNumberValue))
        }
    }
}
