// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc ndef decode` {
    @Test func `The vectors are decoded as they should be, a line each, in order`() throws {
        let vectors = try NDEFVector.all()
        let output = try NFCTool.run("ndef", "decode", "--json", lines: vectors.map(\.hex))
        #expect(output.status == 1)
        #expect(output.errorText.isEmpty)
        let lines = output.lines
        try #require(lines.count == vectors.count)
        for (vector, line) in zip(vectors, lines) where !vector.isContested {
            let answer = try NDEFVector.object(line)
            #expect(answer["ok"] as? Bool == vector.isGood, "\(vector.id)")
            if vector.isGood {
                #expect(answer["records"] as? NSArray == vector.records, "\(vector.id)")
            } else {
                #expect(answer["error"] as? String == vector.error, "\(vector.id)")
                #expect(answer["offset"] is NSNumber && answer["message"] is String, "\(vector.id)")
            }
        }
    }

    @Test func `An error has its name, its offset and a sentence`() throws {
        let output = try NFCTool.run("ndef", "decode", "--json", lines: ["d101005500", "", "d1 01:01 55 04"])
        #expect(output.status == 1)
        #expect(
            output.lines == [
                #"{"ok":false,"error":"trailing-data","offset":4,"message":"#
                    + #""The message ends at byte 4, and more bytes follow."}"#,
                #"{"ok":false,"error":"empty-input","offset":0,"message":"There is no message: the input is empty."}"#,
                #"{"ok":true,"records":[{"tnf":1,"type_hex":"55","id_hex":"","payload_hex":"04","#
                    + #""decoded":{"kind":"uri","uri":"https://","prefix":4}}]}"#,
            ]
        )
    }

    @Test func `Text for people has a paragraph a record, and no control character of the tag's`() throws {
        let lines = [
            "d1010f54027275d09fd180d0b8d0b2d0b5d182", "9901010155690451010d5402656e1b5b33316d6120e280ae", "zz",
            "d2030241612f62000a",
        ]
        let output = try NFCTool.run("ndef", "decode", lines: lines)
        #expect(output.status == 1)
        let text = """
            Message 1: 1 record, 19 bytes
              1. Text, 15 bytes, type T
                 “Привет” (ru, UTF-8)
            Message 2: 2 records, 24 bytes
              1. URI, 1 byte, type U, id i
                 https://
              2. Text, 13 bytes, type T
                 “\\u{1b}[31ma \\u{202e}” (en, UTF-8)
            Message 3: not readable (bad-hex). Character 1 of the line is not a hex digit.
            Message 4: not readable (trailing-data). The message ends at byte 8, and more bytes follow.

            """
        #expect(output.text == text)
        let escape = try NFCTool.run("ndef", "decode", lines: ["d1010b5402656e1b5b33316d610a07"])
        #expect(escape.status == 0)
        #expect(escape.text.hasSuffix("“\\u{1b}[31ma\\n\\u{7}” (en, UTF-8)\n"))
    }

    @Test func `A leniency is asked for by the name of its error`() throws {
        let strict = try NFCTool.run("ndef", "decode", "--json", lines: ["d10101550400"])
        #expect(strict.status == 1)
        let lenient = try NFCTool.run(
            "ndef",
            "decode",
            "--json",
            "--lenient",
            "trailing-data",
            lines: ["d10101550400"]
        )
        #expect(lenient.status == 0)
        #expect(lenient.text.hasPrefix(#"{"ok":true"#))
    }

    @Test(arguments: [
        ("trailing-data", "d10101550400"), ("empty-input", ""), ("missing-mb", "5101015504"),
        ("missing-me", "9101015504"), ("type-not-allowed", "d5010041"),
    ]) func `A leniency accepts its own fault and no other`(name: String, hex: String) throws {
        let all = ["trailing-data", "empty-input", "missing-mb", "missing-me", "type-not-allowed"]
        let decode = ["ndef", "decode", "--json"]
        let input = Data((hex + "\n").utf8)
        for others in [[], all.filter { $0 != name }.flatMap { ["--lenient", $0] }] {
            let strict = try NFCTool.run(decode + others, input: input)
            #expect(strict.status == 1)
            #expect(try NDEFVector.object(strict.text)["error"] as? String == name, "\(strict.text)")
        }
        let lenient = try NFCTool.run(decode + ["--lenient", name], input: input)
        #expect(lenient.status == 0 && lenient.text.hasPrefix(#"{"ok":true"#), "\(lenient.text)")
    }

    @Test func `Lines may end as on Windows, and the last one need not end`() throws {
        let output = try NFCTool.run(["ndef", "decode", "--json"], input: Data("d00000\r\nd1 01:01\t55 04".utf8))
        #expect(output.status == 0)
        #expect(output.lines.map { $0.hasPrefix(#"{"ok":true"#) } == [true, true], "\(output.text)")
    }

    @Test func `Raw bytes are one message, line feeds and all`() throws {
        let bytes = Data([0xD1, 0x01, 0x05, 0x54, 0x02, 0x65, 0x6E, 0x0A, 0x0A])
        let output = try NFCTool.run(["ndef", "decode", "--json", "--binary"], input: bytes)
        #expect(output.status == 0)
        #expect(output.lines.count == 1)
        #expect(output.text.contains(#""text":"\u000a\u000a""#))
    }

    @Test func `The summary counts messages, records, errors and bytes`() throws {
        let output = try NFCTool.run(
            "ndef",
            "decode",
            "--quiet",
            lines: ["d00000", "x", "910101550451010155ff", "d1"]
        )
        #expect(output.status == 1)
        let summary = try NDEFVector.object(output.text)
        #expect(summary["messages"] as? Int == 4)
        #expect(summary["records"] as? Int == 3)
        #expect(summary["errors"] as? Int == 2)
        #expect(summary["bytes"] as? Int == 14)
        #expect(summary["ns"] as? Int ?? 0 > 0)
        #expect(output.text.hasPrefix(#"{"messages":4,"records":3,"errors":2,"bytes":14,"ns":"#), "\(output)")
        #expect(try NFCTool.run("ndef", "decode", "--quiet", lines: ["d00000"]).status == 0)
    }

    @Test(arguments: [
        ["ndef", "decode", "--unknown"], ["ndef", "decode", "--lenient", "everything"],
        ["ndef", "encode", "--chunk-size", "0"], ["ndef", "nothing"],
    ])
    func `Wrong usage ends with status 2 and a hint`(arguments: [String]) throws {
        let output = try NFCTool.run(arguments)
        #expect(output.status == 2)
        #expect(output.text.isEmpty)
        #expect(output.errorText.contains("Usage:"))
    }

    @Test func `What a terminal obeys, or turns text around, is escaped in JSON, and encodes to the same message`()
        throws
    {
        // Next line, CSI, the Arabic letter mark, marks of direction, the separator of lines; then é, which is a letter.
        let text =
            "\u{85}\u{9B}31m\u{61C}\u{200E}\u{200F}\u{202A}\u{202E}\u{2066}\u{2069}\u{2028}\u{2029}é\u{200B}\u{A0}"
        let payload = Array("\u{2}en".utf8) + Array(text.utf8)
        let message = ([0xD1, 0x01, UInt8(payload.count), 0x54] + payload).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        let output = try NFCTool.run("ndef", "decode", "--json", lines: [message])
        #expect(output.status == 0)
        for escape in [
            "\\u0085", "\\u009b31m", "\\u061c", "\\u200e", "\\u200f", "\\u202a", "\\u202e", "\\u2066", "\\u2069",
            "\\u2028",
            "\\u2029é",
        ] { #expect(output.text.contains(escape), "\(escape)") }
        let raw = output.text.unicodeScalars.filter { scalar in
            (0x80...0x9F).contains(scalar.value) || scalar.properties.isBidiControl
        }
        #expect(raw.isEmpty)
        #expect(try NFCTool.run("ndef", "encode", "--json", lines: output.lines).text.contains(message))
    }

    @Test(arguments: ["decode", "encode"])
    func `Help has examples`(command: String) throws {
        let output = try NFCTool.run(["ndef", command, "--help"])
        #expect(output.status == 0)
        #expect(output.text.contains("Examples:"))
        #expect(output.text.contains("| nfc ndef \(command)"))
    }
}
