// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Records of each kind, encoded from their content alone, and shown to programs and to people.
@Suite(.ownThreads) struct `Records of each kind` {
    private let nfc = Command(name: "nfc")

    /// What is decoded from the message that is encoded from a line.
    private func decode(_ line: String, _ options: String...) throws -> Command.Outcome {
        let encoded = try nfc.run("ndef", "encode", input: line + "\n")
        #expect(encoded.status == 0, "\(encoded.error)")
        let decoded = try nfc.run(["ndef", "decode"] + options, input: Data(encoded.output.utf8))
        #expect(decoded.status == 0, "\(decoded.output)")
        return decoded
    }

    private func content(_ line: String) throws -> [String: Any] {
        let records = try decode(line, "--json").objects().first?["records"] as? [[String: Any]]
        return try #require(records?.first?["decoded"] as? [String: Any])
    }

    private static let handover =
        #"{"kind":"handover-request","version":"1.4","carriers":["#
        + #"{"power":"activating","ref":"c","aux":["x","y"]},{"power":"inactive","ref":"d","aux":[]}],"random":258}"#
    private static let refusal =
        #"{"kind":"handover-select","version":"1.2","carriers":[],"error_reason":2,"error_data_hex":"00000100"}"#
    private static let pairing =
        #"{"kind":"bluetooth-ep","address":"01:02:03:04:05:ab","eir":["#
        + #"{"type":9,"value_hex":"4142"},{"type":13,"value_hex":"040424"}]}"#
    private static let energy =
        #"{"kind":"bluetooth-le","ad":[{"type":28,"value_hex":"02"},{"type":8,"value_hex":"41"}]}"#
    private static let signature =
        #"{"kind":"signature","version":"1.3","uri_present":true,"signature_type":12,"hash_type":4,"#
        + #""signature_hex":"613a62","cert_format":1,"certs_hex":["0102","03"],"cert_uri":"c:d"}"#
    private static let device =
        #"{"kind":"device-information","elements":[{"type":0,"value_hex":"41"},{"type":1,"value_hex":"42"},"#
        + #"{"type":2,"value_hex":"43"}]}"#

    private static func poster(_ action: String, icons: String = "") -> String {
        #"{"kind":"smartposter","titles":{"de":"Titel","en":"Title"},"icons":[\#(icons)],"uri":"https://e.com","#
            + #""action":\#(action),"size":66051,"type":"text/html"}"#
    }

    @Test(
        arguments: [
            handover, refusal, pairing, energy, signature, device, poster(#""do""#), poster(#""save""#),
            poster(#""edit""#), poster("7"),
        ] + [
            #"{"kind":"text","text":"aé","language":"de","encoding":"UTF-16"}"#,
            #"{"kind":"uri","uri":"https://e.com","prefix":4}"#, #"{"kind":"external","type":"e.com:t"}"#,
            #"{"kind":"absolute-uri","uri":"urn:x:y"}"#,
            #"{"kind":"handover-carrier","ctf":4,"carrier_type":"e.com:t","data_hex":"0102"}"#,
            #"{"kind":"handover-mediation","version":"1.3","carriers":[{"power":"unknown","ref":"c","aux":[]}]}"#,
            #"{"kind":"handover-initiate","version":"1.5","carriers":[{"power":"active","ref":"c","aux":["z"]}]}"#,
            #"{"kind":"wifi-wsc","attributes":[{"id":"104a","value_hex":"10"}],"credentials":[]}"#,
            #"{"kind":"android-application","package":"org.example.app"}"#, #"{"kind":"empty"}"#,
            #"{"kind":"unknown"}"#,
        ]
    ) func `What is encoded is decoded to the same content, with its members in their order`(line: String) throws {
        let decoded = try decode(line, "--json").output
        #expect(decoded.hasSuffix(#","decoded":\#(line)}]}"# + "\n"), "\(decoded)")
    }

    @Test func `Icons are shown by their types, and a network has what is usual where nothing else is given`() throws {
        let icon = #"{"type":"image/png","data_hex":"0102"}"#
        #expect(try content(Self.poster("3", icons: icon))["icons"] as? [String] == ["image/png"])
        for (given, meant) in [
            (
                #"{"ssid":"Net","key":"secret","auth":2,"enc":4,"mac_hex":"010203040506"}"#,
                ["ssid": "Net", "key": "secret", "auth": 2, "enc": 4, "mac_hex": "010203040506"]
            ),
            (
                #"{"ssid":"Open"}"#,
                ["ssid": "Open", "key": "", "auth": 32, "enc": 8, "mac_hex": "ffffffffffff"]
            ),
        ] as [(String, [String: Any])] {
            let found = try content(#"{"kind":"wifi-wsc","credentials":[\#(given)]}"#)
            let credentials = try #require(found["credentials"] as? [[String: Any]])
            #expect(credentials.map { NSDictionary(dictionary: $0) } == [NSDictionary(dictionary: meant)])
        }
    }

    @Test(
        arguments: [
            (handover, ["Version 1.4", "Carrier “c”, activating", "Carrier “d”, inactive"]),
            (refusal, ["Version 1.2", "Refused for reason 2, data 00000100"]),
            (pairing, ["01:02:03:04:05:ab", "Name “AB”", "Data type 13: 040424"]),
            (energy, ["Data type 28: 02", "Name “A”"]),
            (signature, ["Version 1.3, signature type 12, hash type 4, 2 certificates"]),
            (device, ["Vendor: A", "Model: B", "Name: C"]),
            (
                #"{"kind":"device-information","elements":[{"type":0,"value_hex":"41"},{"type":1,"value_hex":"42"},"#
                    + #"{"type":3,"value_hex":"deadbeefcafebabe0123456789abcdef"},{"type":4,"value_hex":"312e30"},"#
                    + #"{"type":3,"value_hex":"dead"},{"type":5,"value_hex":"4142"}]}"#,
                [
                    "Vendor: A", "Model: B", "UUID: deadbeef-cafe-babe-0123-456789abcdef", "Version: 1.0",
                    "UUID: dead", "Element 5: 4142",
                ]
            ),
            (
                poster(#""save""#, icons: #"{"type":"image/png","data_hex":"0102"}"#),
                [
                    "https://e.com", "Title: “Titel” (de)", "Title: “Title” (en)", "Action: save it",
                    "Type: text/html", "Size: 66051 bytes", "Icon: image/png, 2 bytes",
                ]
            ),
            (
                #"{"kind":"wifi-wsc","credentials":[{"ssid":"Net","key":"secret"}]}"#,
                ["Network “Net”, key “secret”"]
            ),
            (#"{"kind":"mime","type":"Text/plain","payload_hex":"6162"}"#, ["“ab”"]),
            (#"{"kind":"mime","type":"a/b","payload_hex":"6162"}"#, ["6162"]),
            (#"{"kind":"external","type":"e.com:t","payload_hex":"6162"}"#, ["“ab”"]),
            (#"{"kind":"external","type":"e.com:t","payload_hex":"ff"}"#, ["ff"]),
            (#"{"kind":"external","type":"e.com:t","payload_hex":"6100"}"#, ["6100"]),
            (#"{"kind":"external","type":"e.com:t","payload_hex":"617f"}"#, ["617f"]),
            (#"{"kind":"external","type":"e.com:t","payload_hex":"611f"}"#, ["611f"]),
            (#"{"kind":"external","type":"e.com:t","payload_hex":"61092062"}"#, ["“a\\t b”"]),
            (#"{"kind":"mime","type":"text/plain","payload_hex":"6100"}"#, ["“a\\u{0}”"]),
            (#"{"kind":"well-known","type_hex":"58","payload_hex":"00"}"#, ["00"]),
            (#"{"kind":"unknown","payload_hex":"00"}"#, ["00"]),
            (#"{"kind":"external","type":"e.com:t"}"#, []),
            (#"{"kind":"mime","type":"a/b"}"#, []), (#"{"kind":"mime","type":"text/"}"#, []),
            (#"{"kind":"mime","type":"Application/JSON; charset=utf-8","payload_hex":"7b7d"}"#, ["“{}”"]),
            (#"{"kind":"mime","type":"a/application/json","payload_hex":"7b7d"}"#, ["7b7d"]),
            (#"{"kind":"absolute-uri","uri":"urn:x:y","payload_hex":"0102"}"#, ["urn:x:y", "0102"]),
            (#"{"kind":"absolute-uri","uri":"urn:x:y"}"#, ["urn:x:y"]),
            (#"{"kind":"handover-carrier","carrier_type":"a/b"}"#, ["a/b"]),
            (#"{"kind":"smartposter","uri":"a:b","size":1}"#, ["a:b", "Size: 1 byte"]),
            (
                #"{"kind":"signature","version":"15.15","signature_hex":"00"}"#,
                ["Version 15.15, signature type 11, hash type 2, 0 certificates"]
            ),
            (
                #"{"kind":"handover-select","version":"15.15","carriers":[{"ref":"c"}]}"#,
                ["Version 15.15", "Carrier “c”, active"]
            ),
            (#"{"kind":"text","text":"a"}"#, ["“a” (en, UTF-8)"]),
            (#"{"kind":"text","text":"a","language":"de","encoding":"UTF-16"}"#, ["“a” (de, UTF-16)"]),
        ] as [(String, [String])]
    ) func `People read the content line by line`(line: String, meant: [String]) throws {
        let lines = try decode(line).lines
        #expect(lines.dropFirst(2).map { String($0.dropFirst(5)) } == meant, "\(lines)")
    }

    @Test(arguments: [("do", "open it"), ("edit", "edit it"), ("save", "save it")])
    func `People read what is to be done with a link`(action: String, words: String) throws {
        #expect(try decode(Self.poster("\"\(action)\"")).lines.contains("     Action: \(words)"))
        #expect(try decode(Self.poster("9")).lines.contains("     Action: 9"))
    }

    @Test func `Of much data people see the first 32 bytes`() throws {
        for (count, end) in [(32, "aa"), (33, "aa…")] {
            let bytes = String(repeating: "aa", count: count)
            let shown = try decode(#"{"kind":"mime","type":"a/b","payload_hex":"\#(bytes)"}"#).lines.last
            #expect(shown == "     " + String(repeating: "aa", count: 31) + end)
        }
    }

    @Test func `Text of more than 4096 bytes is shown as bytes`() throws {
        for count in [4096, 4097] {
            let bytes = String(repeating: "36", count: count)
            let line = #"{"kind":"external","type":"e.com:t","payload_hex":"\#(bytes)"}"#
            let shown = try #require(try decode(line).lines.last)
            #expect(shown.hasPrefix(count > 4096 ? "     3636" : "     “6666"), "\(shown.prefix(20))")
            #expect(shown.count == (count > 4096 ? 5 + 64 + 1 : 5 + 4096 + 2))
        }
    }

    @Test func `Of two titles in a language programs read the last, and people both`() throws {
        let poster = "d102205370" + "9101045500613a62" + "1101045402656e61" + "1101045402646562" + "5101045402656e63"
        let json = try nfc.run("ndef", "decode", "--json", input: poster + "\n")
        let titles = #""decoded":{"kind":"smartposter","titles":{"de":"b","en":"c"},"icons":[],"uri":"a:b"}"#
        #expect(json.status == 0 && json.output.hasSuffix(",\(titles)}]}\n"), "\(json)")
        let text = try nfc.run("ndef", "decode", input: poster + "\n").lines.dropFirst(2)
        let read = ["a:b", "Title: “a” (en)", "Title: “b” (de)", "Title: “c” (en)"].map { "     " + $0 }
        #expect(Array(text) == read)
    }

    @Test func `A network's members have their order`() throws {
        let credential = #"{"ssid":"Net","key":"secret","auth":2,"enc":4,"mac_hex":"010203040506"}"#
        let output = try decode(#"{"kind":"wifi-wsc","credentials":[\#(credential)]}"#, "--json").output
        #expect(output.hasSuffix(#"],"credentials":[\#(credential)]}}]}"# + "\n"), "\(output)")
    }

    @Test func `A record whose payload is damaged is shown with its fault`() throws {
        let text = try nfc.run("ndef", "decode", input: "d1010054\n")
        #expect(text.status == 0)
        #expect(
            text.output == """
                Message 1: 1 record, 4 bytes
                  1. Text, 0 bytes, type T
                     Damaged (empty-payload): The payload is empty.

                """
        )
        let json = try nfc.run("ndef", "decode", "--json", input: "d1010054\n")
        let record = #""tnf":1,"type_hex":"54","id_hex":"","payload_hex":"","decoded":{"kind":"text","#
        #expect(json.output == #"{"ok":true,"records":[{\#(record)"error":"empty-payload"}}]}"# + "\n")
    }

    @Test(arguments: [
        // What is null is as if it was not there, and of two members of a name the last one counts.
        (#"{"tnf":null,"kind":"empty"}"#, "d00000"), (#"{"kind":"uri","uri":"a:b","uri":"c:d"}"#, "d101045500633a64"),
        (#"{"tnf":5e0,"payload_hex":"01"}"#, "d5000101"),
        // Bytes count more than content, and the payload may be beside the content.
        (#"{"tnf":1,"type_hex":"55","payload_hex":"00","decoded":{"kind":"empty"}}"#, "d101015500"),
        (#"{"decoded":{"kind":"mime","type":"a/b"},"payload_hex":"00ff"}"#, "d20302612f6200ff"),
        (#"{"decoded":{"kind":"unknown"},"payload_hex":"01","id_hex":"69"}"#, "dd0001016901"),
        (#"{"kind":"well-known","type_hex":"58","payload_hex":"01"}"#, "d101015801"),
        (#"{"kind":"well-known","type_hex":"58","payload_hex":"01","id_hex":"69"}"#, "d9010101586901"),
        (#"{"kind":"mime","type":"a/b","payload_hex":"0102","id_hex":"69"}"#, "da030201612f62690102"),
        (
            #"{"kind":"external","type":"e.com:t","payload_hex":"0102","id_hex":"69"}"#, "dc070201652e636f6d3a74690102"
        ),
        (
            #"{"kind":"absolute-uri","uri":"urn:x:y","payload_hex":"0102","id_hex":"69"}"#,
            "db07020175726e3a783a79690102"
        ),
        (#"{"kind":"unknown","payload_hex":"0102","id_hex":"69"}"#, "dd000201690102"),
        (#"{"records":null,"kind":"text","text":"a"}"#, "d101045402656e61"),
        (#"{"kind":"handover-carrier","carrier_type":"a/b"}"#, "d1020548630203612f62"),
    ]) func `A line may say the same in more than one way`(line: String, hex: String) throws {
        let outcome = try nfc.run("ndef", "encode", input: line + "\n")
        #expect(outcome.output == hex + "\n", "\(outcome.error)")
    }
}
