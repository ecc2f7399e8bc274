// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Input of many pieces, and input that can't be read.
@Suite(.ownThreads) struct `Streams of nfc ndef and nfc links match` {
    @Test func `Of many lines none is lost, doubled or counted twice`() throws {
        // More than is read at once.
        let count = 12_000
        let input = Data(String(repeating: "d00000\n", count: count).utf8)
        let summary = try NFCTool.run(["ndef", "decode", "--quiet"], input: input)
        #expect(summary.status == 0)
        let counts = #"{"messages":\#(count),"records":\#(count),"errors":0,"bytes":\#(3 * count),"ns":"#
        #expect(summary.text.hasPrefix(counts), "\(summary)")
        let decoded = try NFCTool.run(["ndef", "decode", "--json"], input: input)
        let record = #"{"tnf":0,"type_hex":"","id_hex":"","payload_hex":"","decoded":{"kind":"empty"}}"#
        let object = #"{"ok":true,"records":[\#(record)]}"# + "\n"
        #expect(decoded.status == 0 && decoded.text == String(repeating: object, count: count))
        let encoded = try NFCTool.run(["ndef", "encode"], input: Data(decoded.text.utf8))
        #expect(encoded.status == 0 && Data(encoded.text.utf8) == input)
        let text = try NFCTool.run(["ndef", "decode"], input: input)
        #expect(text.status == 0 && text.lines.count == 2 * count)
        #expect(text.text.hasSuffix("Message \(count): 1 record, 3 bytes\n  1. Empty record, 0 bytes\n"))
    }

    @Test func `A character that is no hex digit has its place in its own line`() throws {
        let output = try NFCTool.run("ndef", "decode", "--json", lines: ["d00000", "0z", "000", "00 zz"])
        #expect(output.status == 1)
        #expect(
            Array(output.lines.dropFirst()) == [
                #"{"ok":false,"error":"bad-hex","offset":1,"message":"Character 2 of the line is not a hex digit."}"#,
                #"{"ok":false,"error":"bad-hex","offset":3,"message":"The line has an odd number of hex digits."}"#,
                #"{"ok":false,"error":"bad-hex","offset":3,"message":"Character 4 of the line is not a hex digit."}"#,
            ]
        )
    }

    @Test(arguments: [
        "ndef decode", "ndef decode --json", "ndef decode --quiet", "ndef decode --binary", "ndef encode",
        "ndef encode --json", "links match", "links match --json",
    ])
    func `Input that can't be read is said where the next answer would be`(words: String) throws {
        let outcome = try Command.shell("nfc \(words) <&-; echo $?", in: "/")
        let sentence = "Standard input can't be read: Bad file descriptor."
        let object = #"{"ok":false,"error":"unreadable-input","offset":0,"message":"\#(sentence)"}"#
        let message = "Message 1: not readable (unreadable-input). \(sentence)"
        let summary = #"{"messages":1,"records":0,"errors":1,"bytes":0,"ns":0}"#
        let line = "Line 1: \(sentence) (unreadable-input)\n"
        switch words {
        case "ndef decode --quiet": #expect(outcome.output == "\(summary)\n1\n")
        case "ndef decode", "ndef decode --binary": #expect(outcome.output == "\(message)\n1\n")
        case "ndef encode": #expect(outcome.output == "\n1\n" && outcome.error == line)
        case "links match": #expect(outcome.output == "1\n" && outcome.error == line)
        default: #expect(outcome.output == "\(object)\n1\n" && outcome.error == "")
        }
    }
}
