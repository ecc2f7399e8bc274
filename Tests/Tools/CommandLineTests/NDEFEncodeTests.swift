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

    /// Encodes lines, each of which is refused, with one after each that is not.
    ///
    /// - Returns: the answers to the refused lines.
    private func refusals(_ refused: [String]) throws -> [NSDictionary] {
        let good = #"{"kind":"empty"}"#
        let output = try NFCTool.run("ndef", "encode", "--json", lines: refused.flatMap { [$0, good] })
        #expect(output.status == 1)
        let lines = output.lines
        try #require(lines.count == 2 * refused.count)
        for (index, line) in refused.enumerated() {
            #expect(lines[2 * index + 1] == #"{"ok":true,"hex":"d00000"}"#, "\(line.prefix(20))")
        }
        return try refused.indices.map { try NDEFVector.object(lines[2 * $0]) }
    }

    @Test func `What can't be encoded is refused by name`() throws {
        let lines = [
            ("{", "bad-json"), ("[]", "bad-record"), ("{}", "bad-record"), (#"{"kind":"uri"}"#, "bad-record"),
            (#"{"kind":"cheese"}"#, "bad-record"), (#"{"tnf":8}"#, "bad-record"), (#"{"tnf":1.5}"#, "bad-record"),
            (#"{"tnf":1,"type_hex":"5"}"#, "bad-record"), (#"{"records":[]}"#, "no-records"),
            (#"{"tnf":0,"payload_hex":"00"}"#, "empty-record-not-empty"), (#"{"tnf":6}"#, "unexpected-unchanged"),
            (#"{"kind":"uri","uri":"a\u0001"}"#, "control-character"), (#"{"kind":"uri","error":"x"}"#, "bad-record"),
        ]
        // Each half of a version has four bits.
        let versions = ["16.1", "1.16", "1", "1.2.3", "1.x"].flatMap { version in
            ["signature", "handover-mediation"].map { (#"{"kind":"\#($0)","version":"\#(version)"}"#, "bad-record") }
        }
        for ((line, name), answer) in zip(lines + versions, try refusals((lines + versions).map(\.0))) {
            #expect(answer["error"] as? String == name, "\(line)")
        }
    }

    @Test func `What isn't JSON is refused where it stops being JSON`() throws {
        let lines = [
            ("{", 1), ("", 0), ("{\"a\" 1}", 5), ("[1,]", 3), ("{\"a\":01x}", 7), ("\"\\u12\"", 3), ("nul", 0),
            ("1 2", 2), ("\"\\ud800\"", 7), ("\"a", 2), (String(repeating: "[", count: 10_000), 64), ("-", 0),
            ("\"\u{1}\"", 1),
        ]
        for ((line, offset), answer) in zip(lines, try refusals(lines.map(\.0))) {
            #expect(answer["error"] as? String == "bad-json", "\(line.prefix(20))")
            #expect(answer["offset"] as? Int == offset, "\(line.prefix(20))")
        }
    }

    @Test func `Escapes and characters of all planes are read`() throws {
        let line =
            #"{ "records" : [ { "kind" : "text" , "language":"en", "text":"\u00e9\ud83d\udc4b\n\"\/👋" } ] , "#
            + #""x":[true,null,-1.5e3,{}] }"#
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
