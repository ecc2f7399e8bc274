// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import TestThreads
import Testing

/// `nfc ntag424`: what a tag writes, a server takes once.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct NTAG424CommandTests {
    private func object(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test(
        arguments: [
            ("https://example.com/t?e={picc}&c={cmac}", ""),
            ("https://example.com/?uid={uid}&ctr={ctr}&enc={enc:16}&cmac={cmac}", "seat-12"),
        ],
        ["", "--lrp"]
    )
    func `nfc ntag424 setup: each reading has a link that verifies once, with its UID, counter and data`(
        row: (link: String, data: String),
        mode: String
    ) throws {
        let (link, data) = row
        let folder = try TestFolder()
        try folder.write("key.txt", "00112233445566778899aabbccddeeff\n")
        try folder.write("meta.txt", "0123456789abcdef0123456789abcdef\n")
        let keys = "--key-file key.txt --meta-key-file meta.txt"
        func nfc(_ words: String) throws -> TestProgram.Outcome {
            try TestProgram.shell("nfc \(words)", in: folder.path)
        }
        _ = try nfc("tag create --product 'NTAG 424 DNA' --uid 04de5f1eacc040 --out tag.json")
        let text = data.isEmpty ? "" : "--data \(data)"
        #expect(try nfc("ntag424 setup tag.json --url '\(link)' \(text) \(keys) \(mode) --yes").status == 0)
        for counter in 1...2 {
            let report = try object(nfc("tag read tag.json --out tag.json --json").output)
            let records = try #require(report["records"] as? [[String: Any]])
            let url = try #require((records.first?["decoded"] as? [String: Any])?["uri"] as? String)
            let verify = "ntag424 verify \(keys) --last seen.json --json '\(url)'"
            let result = try object(nfc(verify).output)
            #expect(result["ok"] as? Bool == true && result["counter"] as? Int == counter, "\(url)")
            #expect(result["uid"] as? String == "04de5f1eacc040")
            let hex =
                data.utf8.map { String($0, radix: 16) }.joined() + String(repeating: "30", count: 16 - data.utf8.count)
            #expect(result["data_hex"] as? String == (data.isEmpty ? nil : hex))
            let again = try nfc(verify)
            #expect(again.status == 1 && again["error"] == "replayed")
        }
    }

    @Test func `page about NTAG 424 DNA: its vectors verify`() throws {
        let page = repository.appendingPathComponent("Documentation/HowTo/NTAG424.md")
        let rows = try String(contentsOf: page, encoding: .utf8).matches(
            of: #/\| `(https:[^`{]+)` \| `([0-9a-f]+)` \| ([0-9]+) \| (?:`([x0-9]*)` )?\|/#
        )
        #expect(rows.count == 6)
        for row in rows {
            let words = ["ntag424", "verify", "--json", "--key", String(repeating: "0", count: 32), String(row.1)]
            let result = try object(TestProgram("nfc").run(words).output)
            #expect(result["uid"] as? String == String(row.2) && result["counter"] as? Int == Int(row.3), "\(row.1)")
            let hex = row.4.map { $0.utf8.map { String($0, radix: 16) }.joined() }
            #expect(result["data_hex"] as? String == hex, "\(row.1)")
        }
    }
}
