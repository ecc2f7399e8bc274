// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@Suite(.ownThreads) struct `Recordings on the command line` {
    private let images: Images
    private let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "none"])

    init() throws {
        images = try Images()
    }

    private var file: String { images.folder.path("flow.jsonl") }

    @Test func `A scan that was recorded runs again without its tag`() throws {
        let scan = try nfc.run("scan", "--tags", images.poster(), "--record", file, "--json")
        #expect(scan.status == 0)
        let replay = try nfc.run("scan", "--reader", "replay:" + file, "--json")
        #expect(replay.output == scan.output)
        #expect(replay.error == "")
        #expect(replay.status == 0)
    }

    @Test func `A recording is printed in words`() throws {
        _ = try nfc.run("scan", "--tags", images.blank("NTAG213"), "--record", file)
        let table = try nfc.run("trace", "--no-times", file)
        #expect(table.lines.first?.contains("field on") == true)
        #expect(
            table.output.contains("A > 30 03                                            READ 03\n"),
            "\(table.output)"
        )
        let objects = try nfc.run("trace", "--json", file).objects()
        #expect(objects.contains { $0["meaning"] as? String == "REQA" && $0["bits"] as? Int == 7 })
        #expect(objects.allSatisfy { $0["time_us"] is Int })
    }

    @Test func `Each line of a recording has its side, its technology and its bytes`() throws {
        _ = try nfc.run("scan", "--tags", images.blank("NTAG213"), "--record", file)
        let outcome = try nfc.run("trace", "--json", "--no-times", file)
        let objects = try outcome.objects()
        #expect(!objects.isEmpty && objects.allSatisfy { $0["time_us"] == nil })
        let first = try #require(objects.firstIndex { $0["meaning"] as? String == "REQA" })
        let (request, answer) = (objects[first], objects[first + 1])
        #expect(request["direction"] as? String == "request" && request["hex"] as? String == "26")
        #expect(answer["direction"] as? String == "answer" && answer["hex"] as? String == "4400")
        let number = try #require(request["exchange"] as? Int)
        let head = #"{"exchange":\#(number),"technology":"nfc-a","direction":"#
        #expect(outcome.lines[first] == head + #""request","hex":"26","bits":7,"meaning":"REQA"}"#)
        #expect(outcome.lines[first + 1].hasPrefix(head + #""answer","hex":"4400","bits":"#))
        let timed = try nfc.run("trace", "--json", file).lines[first]
        #expect(timed.hasPrefix(#"{"exchange":\#(number),"time_us":"#))
        for line in [request, answer] { #expect(line["technology"] as? String == "nfc-a") }
        // What is no exchange has neither.
        let field = try #require(objects.first)
        #expect(field["direction"] is NSNull && field["technology"] is NSNull && field["hex"] is NSNull)
    }

    @Test func `A write leaves the recording of a scan, and says where`() throws {
        _ = try nfc.run("scan", "--tags", images.poster(), "--record", file)
        let write = try nfc.run("write", "https://example.org", "--reader", "replay:" + file, "--json")
        #expect(write.status == 1)
        let failure = try #require(try write.objects().first)
        #expect(failure["error"] as? String == "recording-left")
        let message = failure["message"] as? String ?? ""
        // A write begins one page before the capability container, with the lock bits.
        #expect(message.contains("Expected: READ 03"), "\(message)")
        #expect(message.contains("Came: READ 02"), "\(message)")
    }

    @Test func `A replay that is recorded fails as one that is not`() throws {
        _ = try nfc.run("scan", "--tags", images.poster(), "--record", file)
        let arguments = ["write", "https://example.org", "--reader", "replay:" + file, "--json"]
        let plain = try nfc.run(arguments)
        let recorded = try nfc.run(arguments + ["--record", images.folder.path("again.jsonl")])
        #expect(recorded.status == 1 && recorded.output == plain.output)
        #expect(try recorded.objects().first?["error"] as? String == "recording-left")
    }

    @Test func `A recording is not replaced while it is replayed`() throws {
        _ = try nfc.run("scan", "--tags", images.poster(), "--record", file)
        let before = try String(contentsOfFile: file, encoding: .utf8)
        let failure = try nfc.run("scan", "--reader", "replay:" + file, "--record", file, "--json")
        #expect(failure.status == 1)
        #expect(try failure.objects().first?["error"] as? String == "unwritable-file")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
    }

    @Test func `A scan that ends before its recording says so`() throws {
        _ = try nfc.run("write", "https://example.org", "--tags", images.blank("NTAG213"), "--record", file)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix(#"{"opencorenfc_recording":1,"reader":"virtual","kind":"field""#))
        let again = try nfc.run("write", "https://example.org", "--reader", "replay:" + file)
        #expect(again.status == 0)
        // An exchange more, after the end of the session.
        let number = text.split(separator: "\n").count { $0.contains(#""do":"send""#) } + 1
        let more = [
            #"{"n":\#(number),"us":9,"do":"send","technology":"nfc-a","hex":"3000","timeout_us":1000}"#,
            #"{"n":\#(number),"us":9,"got":"00"}"#,
        ]
        try (text + more.map { $0 + "\n" }.joined()).write(toFile: file, atomically: true, encoding: .utf8)
        let ended = try nfc.run("write", "https://example.org", "--reader", "replay:" + file)
        #expect(ended.status == 0)
        let sentence = "The session ended before the recording: 1 of its exchanges were not made."
        #expect(ended.error.contains(sentence), "\(ended)")
    }

    @Test func `A UID that the reader did not report is null in JSON, and not known for people`() throws {
        try Recordings.withoutUID.write(toFile: file, atomically: true, encoding: .utf8)
        let object = try nfc.object("tag", "info", "--reader", "replay:" + file)
        #expect(object["product"] as? String == "MIFARE Classic 1K" && object["uid"] is NSNull, "\(object)")
        let text = try nfc.run("tag", "info", "--reader", "replay:" + file)
        #expect(text.lines.contains("UID        not known: the reader does not report it"), "\(text)")
    }

    @Test(arguments: [
        ("", "not-a-recording"), ("hello\n", "not-a-recording"),
        (#"{"opencorenfc_recording":9}"# + "\n", "unknown-version"),
    ])
    func `What is no recording ends with 1 and what to do`(text: String, name: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        for arguments in [["trace", file, "--json"], ["scan", "--reader", "replay:" + file, "--json"]] {
            let outcome = try nfc.run(arguments)
            #expect(outcome.status == 1)
            let failure = try #require(try outcome.objects().first)
            #expect(failure["error"] as? String == name)
            #expect((failure["message"] as? String)?.contains("Record") == true)
        }
    }

    @Test func `A file that is no recording is not replaced by one`() throws {
        let poster = try images.poster()
        let outcome = try nfc.run("scan", "--tags", poster, "--record", poster, "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "not-a-recording")
    }

    @Test func `NFC_RECORD and NFC_READER do the same for an app`() throws {
        let app = Command(name: "FirstScan", environment: ["NFC_SHEET": "none", "NFC_RECORD": file])
        let recorded = try app.run()
        #expect(recorded.status == 0)
        let environment = ["NFC_SHEET": "none", "NFC_READER": "replay:" + file]
        let replayed = try Command(name: "FirstScan", environment: environment).run()
        #expect(replayed.output == recorded.output)
        #expect(replayed.status == 0)
        // A recording of another flow.
        _ = try nfc.run("write", "https://example.org", "--tags", images.blank("NTAG213"), "--record", file)
        let other = try Command(name: "FirstScan", environment: environment).run()
        #expect(other.status == 1)
        #expect(other.error.contains("NFC_READER: The recording was left at exchange"), "\(other.error)")
    }

    @Test func `A PN532 says which calls it serves`() throws {
        let line = images.folder.path("line")
        let emulation = Process()
        emulation.executableURL = URL(fileURLWithPath: nfc.path)
        emulation.arguments = ["emulate", "--image", try images.blank("NTAG213"), "--pn532", line, "--timeout", "600"]
        emulation.standardOutput = FileHandle.nullDevice
        try emulation.run()
        defer {
            // What a test starts may have its signals blocked, but not this one.
            kill(emulation.processIdentifier, SIGKILL)
            emulation.waitUntilExit()
        }
        var attempts = 0
        while (try? FileManager.default.destinationOfSymbolicLink(atPath: line)) == nil, attempts < 2000 {
            usleep(5000)
            attempts += 1
        }
        let readers = try nfc.run("readers", "--verbose", "--reader", "pn532:" + line, "--json")
        let object = try #require(try readers.objects().first)
        let calls = try #require(object["calls"] as? [[String: Any]])
        let iso15693 = try #require(calls.first { ($0["name"] as? String)?.hasPrefix("NFCISO15693Tag") == true })
        #expect(iso15693["support"] as? String == "no")
        #expect(calls.count > 5)
        // What the reader does not say is null, but not left out.
        #expect(
            Set(object.keys) == [
                "name", "technologies", "kind", "presence", "in_use", "contactless", "atr", "problem", "usb",
                "firmware", "chip", "extended_apdus", "escape_commands", "transparent", "calls", "used",
            ]
        )
        let text = try nfc.run("readers", "--verbose", "--reader", "pn532:" + line)
        #expect(text.output.contains("  yes  NFCMiFareTag.sendMiFareCommand: "))
    }
}
