// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc ndef encode` {
    @Test func `What decode printed is encoded to the same message when it was canonical`() throws {
        let vectors = try NDEFVector.all().filter(\.isGood)
        let decoded = try NFCTool.run("ndef", "decode", "--json", lines: vectors.map(\.hex))
        #expect(decoded.status == 0)
        let encoded = try NFCTool.run("ndef", "encode", lines: decoded.lines)
        #expect(encoded.status == 0)
        try #require(encoded.lines.count == vectors.count)
        for (vector, line) in zip(vectors, encoded.lines) {
            #expect((line == vector.hex) == vector.isCanonical, "\(vector.id)")
        }
    }

    @Test func `What a record says is enough to encode it`() throws {
        let vectors = try NDEFVector.all().filter { $0.encodeInput != nil }
        let lines = try vectors.compactMap { try $0.encodeInput.map { try NDEFVector.line($0) } }
        let output = try NFCTool.run("ndef", "encode", lines: lines)
        #expect(output.status == 0)
        #expect(output.lines == vectors.map(\.hex))
    }

    @Test(arguments: [
        (
            #"{"kind":"smartposter","uri":"https://e.com","titles":{"en":"Title"}}"#,
            "d1021653709101065504652e636f6d5101085402656e5469746c65"
        ),
        (
            #"{"records":[{"decoded":{"kind":"android-application","package":"p"},"id_hex":"70"}]}"#,
            "dc0f0101616e64726f69642e636f6d3a706b677070"
        ),
        (#"{"kind":"mime","type":"a/b","payload_hex":"00ff"}"#, "d20302612f6200ff"),
        (
            #"{"kind":"handover-select","version":"1.2","carriers":[],"error_reason":3,"error_data_hex":"05"}"#,
            "d10209487312d103026572720305"
        ),
        (
            #"{"kind":"bluetooth-le","ad":[{"type":1,"value_hex":"06"}]}"#,
            "d220036170706c69636174696f6e2f766e642e626c7565746f6f74682e6c652e6f6f62020106"
        ),
        (#"{"kind":"signature","signature_hex":"61626364"}"#, "d1030a536967200b0200046162636400"),
        (#"{"kind":"empty"}"#, "d00000"),
    ])
    func `A typed record is encoded`(line: String, hex: String) throws {
        let output = try NFCTool.run("ndef", "encode", "--json", lines: [line])
        #expect(output.status == 0)
        #expect(output.lines == [#"{"ok":true,"hex":"\#(hex)"}"#])
    }

    @Test(arguments: [
        ("{", "bad-json"), ("[]", "bad-record"), ("{}", "bad-record"), (#"{"kind":"uri"}"#, "bad-record"),
        (#"{"kind":"cheese"}"#, "bad-record"), (#"{"tnf":8}"#, "bad-record"), (#"{"tnf":1.5}"#, "bad-record"),
        (#"{"tnf":1,"type_hex":"5"}"#, "bad-record"), (#"{"records":[]}"#, "no-records"),
        (#"{"tnf":0,"payload_hex":"00"}"#, "empty-record-not-empty"), (#"{"tnf":6}"#, "unexpected-unchanged"),
        (#"{"kind":"uri","uri":"a\u0001"}"#, "control-character"), (#"{"kind":"uri","error":"x"}"#, "bad-record"),
    ])
    func `What can't be encoded is refused by name`(line: String, name: String) throws {
        let output = try NFCTool.run("ndef", "encode", "--json", lines: [line, #"{"kind":"empty"}"#])
        #expect(output.status == 1)
        try #require(output.lines.count == 2)
        #expect(try NDEFVector.object(output.lines[0])["error"] as? String == name)
        #expect(output.lines[1] == #"{"ok":true,"hex":"d00000"}"#)
    }

    @Test(arguments: [
        ("{", 1), ("", 0), ("{\"a\" 1}", 5), ("[1,]", 3), ("{\"a\":01x}", 7), ("\"\\u12\"", 3), ("nul", 0), ("1 2", 2),
        ("\"\\ud800\"", 7), ("\"a", 2), (String(repeating: "[", count: 10_000), 64), ("-", 0), ("\"\u{1}\"", 1),
    ])
    func `What isn't JSON is refused where it stops being JSON`(line: String, offset: Int) throws {
        let output = try NFCTool.run("ndef", "encode", "--json", lines: [line])
        #expect(output.status == 1)
        let answer = try NDEFVector.object(output.text)
        #expect(answer["error"] as? String == "bad-json")
        #expect(answer["offset"] as? Int == offset)
    }

    @Test func `Escapes and characters of all planes are read`() throws {
        let line =
            #"{ "kind" : "text" , "language":"en", "text":"\u00e9\ud83d\udc4b\n\"\/👋" , "x":[true,null,-1.5e3,{}] }"#
        let output = try NFCTool.run("ndef", "encode", lines: [line])
        let text = Array("é👋\n\"/👋".utf8).map { String(format: "%02x", $0) }.joined()
        #expect(output.lines == ["d101105402656e" + text])
    }

    @Test func `A line that is refused leaves an empty line and a sentence on standard error`() throws {
        let output = try NFCTool.run("ndef", "encode", lines: [#"{"kind":"uri"}"#, #"{"kind":"empty"}"#])
        #expect(output.lines == ["", "d00000"])
        #expect(output.errorText == "Line 1: In record 0, 'uri' is missing. (bad-record)\n")
    }

    @Test func `Long payloads are written in chunks when that is asked for`() throws {
        let line = #"{"kind":"mime","type":"a/b","payload_hex":"000102"}"#
        let output = try NFCTool.run("ndef", "encode", "--chunk-size", "2", lines: [line])
        #expect(output.lines == ["b20302612f62000156000102"])
    }
}
