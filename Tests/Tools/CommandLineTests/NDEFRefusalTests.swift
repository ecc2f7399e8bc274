// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What people and programs read of a line that is no message.
@Suite(.ownThreads) struct `Refusals of nfc ndef encode` {
    private struct Row {
        var line: String
        /// The index of the record.
        var record: Int
        var message: String

        init(_ line: String, record: Int = 0, _ message: String) {
            self.line = line
            self.record = record
            self.message = message
        }
    }

    private static let rows: [Row] = [
        Row(#"5"#, "Record 0 is not an object."),
        Row(#"{"records":5}"#, "In record 0, 'records' must be an array."),
        Row(#"{"records":null}"#, "In record 0, 'kind' is missing, and so is 'tnf'."),
        Row(#"{"records":[{"kind":"empty"},7]}"#, record: 1, "Record 1 is not an object."),
        Row(#"{"records":[{"kind":"empty"},{"kind":"uri"}]}"#, record: 1, "In record 1, 'uri' is missing."),
        Row(#"{}"#, "In record 0, 'kind' is missing, and so is 'tnf'."),
        Row(#"{"tnf":"x"}"#, "In record 0, 'tnf' must be a number."),
        Row(#"{"tnf":256}"#, "In record 0, 'tnf' must be a whole number of 0 to 255."),
        Row(#"{"tnf":8}"#, "In record 0, 'tnf' must be 0 to 7."),
        Row(#"{"tnf":-1}"#, "In record 0, 'tnf' must be a whole number of 0 to 255."),
        Row(#"{"tnf":1.5}"#, "In record 0, 'tnf' must be a whole number of 0 to 255."),
        Row(#"{"tnf":1,"type_hex":5}"#, "In record 0, 'type_hex' must be a string."),
        Row(#"{"tnf":1,"type_hex":"5"}"#, "In record 0, 'type_hex' must be hex, two digits per byte."),
        Row(#"{"decoded":5}"#, "In record 0, 'decoded' must be an object."),
        Row(#"{"decoded":{}}"#, "In record 0, 'kind' is missing."),
        Row(
            #"{"decoded":{"kind":"empty","error":"x"}}"#,
            "In record 0, 'error' means that the payload is damaged; give its bytes."
        ),
        Row(#"{"kind":5}"#, "In record 0, 'kind' must be a string."),
        Row(#"{"kind":"uri","uri":5}"#, "In record 0, 'uri' must be a string."),
        Row(
            #"{"kind":"mime","type":"a/b","payload_hex":"0"}"#,
            "In record 0, 'payload_hex' must be hex, two digits per byte."
        ),
        Row(#"{"kind":"text","text":"a","encoding":"x"}"#, "In record 0, 'encoding' must be UTF-8 or UTF-16."),
        Row(
            #"{"kind":"smartposter","uri":"a:b","titles":5}"#,
            "In record 0, 'titles' must be an object of texts by language."
        ),
        Row(
            #"{"kind":"text","text":"a","language":""}"#,
            "In record 0, 'language' must be a language code of 1 to 63 ASCII characters, such as en or de-CH."
        ),
        Row(
            #"{"kind":"smartposter","uri":"a:b","titles":{"":"a"}}"#,
            "In record 0, 'titles' must have keys that are each a language code of 1 to 63 ASCII characters, "
                + "such as en or de-CH."
        ),
        Row(#"{"kind":"smartposter","uri":"a:b","titles":{"en":5}}"#, "In record 0, 'titles' must have strings."),
        Row(
            #"{"kind":"smartposter","uri":"a:b","icons":["image/png"]}"#,
            "In record 0, 'icons' must be objects with 'type' and 'data_hex' to be encoded."
        ),
        Row(#"{"kind":"smartposter","uri":"a:b","icons":5}"#, "In record 0, 'icons' must be an array."),
        Row(
            #"{"kind":"smartposter","uri":"a:b","action":"x"}"#,
            "In record 0, 'action' must be do, save, edit or a number."
        ),
        Row(
            #"{"kind":"smartposter","uri":"a:b","action":256}"#,
            "In record 0, 'action' must be a whole number of 0 to 255."
        ),
        Row(
            #"{"kind":"smartposter","uri":"a:b","size":-1}"#,
            "In record 0, 'size' must be a whole number of 0 to 4294967295."
        ),
        Row(
            #"{"kind":"handover-select","version":"1.16"}"#,
            "In record 0, 'version' must be two numbers of 0 to 15, as in 1.5."
        ),
        Row(
            #"{"kind":"handover-select","version":"1.2","carriers":[5]}"#,
            "In record 0, 'carriers' must be an array of objects."
        ),
        Row(
            #"{"kind":"handover-select","version":"1.2","carriers":[{"power":"x"}]}"#,
            "In record 0, 'power' must be inactive, active, activating or unknown."
        ),
        Row(
            #"{"kind":"handover-select","version":"1.2","carriers":[{"ref":"a","aux":[5]}]}"#,
            "In record 0, 'aux' must be an array of strings."
        ),
        Row(#"{"kind":"wifi-wsc"}"#, "In record 0, 'credentials' is missing, and so is 'attributes'."),
        Row(
            #"{"kind":"wifi-wsc","attributes":[{"id":"104g"}]}"#,
            "In record 0, 'id' must be a number of 16 bits in hex."
        ),
        Row(
            #"{"kind":"signature","version":"2.16"}"#,
            "In record 0, 'version' must be two numbers of 0 to 15, as in 2.0."
        ),
        Row(#"{"kind":"signature","uri_present":"x"}"#, "In record 0, 'uri_present' must be true or false."),
        Row(#"{"kind":"signature","certs_hex":["0"]}"#, "In record 0, 'certs_hex' must be hex, two digits per byte."),
        Row(#"{"kind":"bluetooth-le","ad":[{}]}"#, "In record 0, 'type' is missing."),
        Row(#"{"kind":"bluetooth-ep","address":"zz"}"#, "In record 0, 'address' must be hex, two digits per byte."),
        Row(#"{"kind":"well-known"}"#, "In record 0, 'type_hex' is missing."),
        Row(
            #"{"kind":"mime","type":"text/plain","text":"hello"}"#,
            "In record 0, 'text' is unknown here; known are kind, id_hex, type, payload_hex."
        ),
        Row(
            #"{"tnf":2,"type":"text/plain","payload":"hi"}"#,
            "In record 0, 'payload' is unknown here; known are tnf, type_hex, id_hex, payload_hex, decoded."
        ),
        Row(
            #"{"records":[{"kind":"empty"},{"kind":"text","text":"a","lang":"de"}]}"#,
            record: 1,
            "In record 1, 'lang' is unknown here; known are kind, id_hex, text, language, encoding."
        ),
        Row(
            #"{"decoded":{"kind":"uri","uri":"a:b","id_hex":"69"}}"#,
            "In record 0, 'id_hex' is unknown here; known are kind, uri, prefix, rfu_prefix."
        ),
        Row(
            #"{"decoded":{"kind":"empty"},"type_hex":"55"}"#,
            "In record 0, 'type_hex' is unknown here; known are decoded, id_hex, payload_hex."
        ),
        Row(
            #"{"decoded":{"kind":"text","text":"a"},"payload_hex":"00"}"#,
            "In record 0, 'payload_hex' can't be beside the kind text, whose content is encoded."
        ),
        Row(
            #"{"kind":"smartposter","uri":"a:b","icons":[{"type":"image/png","data":"00"}]}"#,
            "In record 0, 'data' is unknown here; known are type, data_hex."
        ),
        Row(
            #"{"kind":"handover-select","version":"1.2","carriers":[{"ref":"a","x":1,"b":1}]}"#,
            "In record 0, 'b' is unknown here; known are power, ref, aux."
        ),
        Row(
            #"{"kind":"bluetooth-le","ad":[{"type":1,"value":"00"}]}"#,
            "In record 0, 'value' is unknown here; known are type, value_hex."
        ),
        Row(
            #"{"kind":"device-information","elements":[{"type":1,"text":"A"}]}"#,
            "In record 0, 'text' is unknown here; known are type, value_hex."
        ),
        Row(
            #"{"kind":"wifi-wsc","attributes":[{"id":"104a","value":"10"}]}"#,
            "In record 0, 'value' is unknown here; known are id, value_hex."
        ),
        Row(
            #"{"kind":"wifi-wsc","credentials":[{"ssid":"a","password":"b"}]}"#,
            "In record 0, 'password' is unknown here; known are ssid, key, auth, enc, mac_hex."
        ),
        Row(
            #"{"kind":"wifi-wsc","credentials":[{"ssid":"One"},{"ssid":"Two"}]}"#,
            "In record 0, 'credentials' must be one network; for several, give 'attributes'."
        ),
    ]

    @Test func `Each names the record, the member and what is wrong`() throws {
        let lines = Self.rows.map(\.line)
        let json = try NFCTool.run(["ndef", "encode", "--json"], input: Data(lines.joined(separator: "\n").utf8))
        #expect(json.status == 1 && json.errorText == "")
        try #require(json.lines.count == Self.rows.count)
        for (row, answer) in zip(Self.rows, json.lines) {
            let meant = #"{"ok":false,"error":"bad-record","offset":\#(row.record),"message":"\#(row.message)"}"#
            #expect(answer == meant, "\(row.line)")
        }
        let text = try NFCTool.run(["ndef", "encode"], input: Data(lines.joined(separator: "\n").utf8))
        #expect(text.status == 1 && text.lines == lines.map { _ in "" })
        let sentences = text.errorText.split(separator: "\n").map(String.init)
        try #require(sentences.count == Self.rows.count)
        for (number, sentence) in sentences.enumerated() {
            #expect(sentence == "Line \(number + 1): \(Self.rows[number].message) (bad-record)")
        }
    }

    @Test func `A kind that is not known is answered with all that are`() throws {
        let answer = try NFCTool.run("ndef", "encode", "--json", lines: [#"{"kind":"cheese"}"#])
        let message = try #require(try NDEFVector.object(answer.text)["message"] as? String)
        #expect(message.hasPrefix("In record 0, 'kind' must be one of empty, uri, text, smartposter, mime, "))
        #expect(message.hasSuffix(", well-known, unknown."), "\(message)")
    }

    @Test func `What the codec refuses is said with its record, and where JSON ends with its character`() throws {
        let lines = [
            #"{"records":[{"kind":"empty"},{"kind":"uri","uri":"a\u0001"}]}"#, #"{"kind":}"#, #"{"records":[]}"#,
        ]
        let output = try NFCTool.run("ndef", "encode", "--json", lines: lines)
        #expect(output.status == 1)
        #expect(
            output.lines == [
                #"{"ok":false,"error":"control-character","offset":1,"#
                    + #""message":"Record 1: The URI has a control character."}"#,
                #"{"ok":false,"error":"bad-json","offset":8,"message":"The line is not valid JSON at character 9."}"#,
                #"{"ok":false,"error":"no-records","offset":0,"message":"A message must have one record or more."}"#,
            ]
        )
    }

    @Test func `A chunk has at least one byte`() throws {
        let line = #"{"kind":"mime","type":"a/b","payload_hex":"000102"}"#
        let output = try NFCTool.run("ndef", "encode", "--chunk-size", "1", lines: [line])
        #expect(output.status == 0 && output.lines == ["b20301612f62003600010156000102"])
        let none = try NFCTool.run(["ndef", "encode", "--chunk-size", "0"])
        #expect(none.status == 2)
        let sentence = "--chunk-size 0 is too small: a chunk needs at least one byte."
        #expect(none.errorText.hasPrefix("Error: \(sentence)\n"), "\(none)")
    }
}
