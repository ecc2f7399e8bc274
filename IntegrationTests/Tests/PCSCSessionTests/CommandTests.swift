// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks commands and the sample app on the real pcscd with our reader.
@Suite(.serialized, .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."), .timeLimit(.minutes(5)))
struct `Our programs behind the real pcscd` {
    private static let link = "https://example.org/a"
    private static let old = "https://example.com"

    @Test(arguments: Sample.allCases)
    func `nfc write and nfc scan work with each type of tag`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        let write = try Client.nfc(["write", Self.link, "--check", "--json"], on: desk.daemon)
        #expect(try await write.end() == 0, "\(write.output)")
        let scan = try Client.nfc(["scan", "--json"], on: desk.daemon)
        #expect(try await scan.end() == 0, "\(scan.output)")
        #expect(scan.output.contains(Self.link), "\(scan.output)")
        let after = try await desk.close()
        #expect(after != sample.contents)
    }

    @Test(arguments: Sample.allCases)
    func `nfc write and scan, recorded: the replay prints the same`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        for (index, command) in [["write", Self.link, "--check", "--json"], ["scan", "--json"]].enumerated() {
            let file = desk.tag.file("\(index).jsonl").path
            let live = try Client.nfc(command + ["--record", file], on: desk.daemon)
            #expect(try await live.end() == 0, "\(live.output)")
            let replay = try Client.nfc(command + ["--reader", "replay:" + file], on: desk.daemon)
            #expect(try await replay.end() == 0, "\(replay.output)")
            #expect(replay.output.replacing("recording of ", with: "") == live.output)
        }
        // The write during the replay was not saved.
        let file = desk.tag.file("0.jsonl").path
        let other = try Client.nfc(["write", Self.old, "--json", "--reader", "replay:" + file], on: desk.daemon)
        #expect(try await other.end() != 0, "\(other.output)")
        #expect(other.output.contains("The replay departed from the recording at exchange"), "\(other.output)")
        #expect(try await desk.close() != sample.contents)
    }

    @Test(arguments: Sample.allCases)
    func `A scan waits for the tag`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        try await desk.tag.perform("remove")
        let scan = try TalkingProgram(
            EmulatedTag.tool.path,
            ["scan", "--json"],
            environment: desk.daemon.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        try await scan.line(with: "Hold a tag near the reader")
        try await desk.tag.perform("insert")
        try await scan.line(with: Self.old)
        #expect(try await scan.end() == 0, "\(scan.output)")
        #expect(try await desk.close() == sample.contents)
    }

    @Test(arguments: [Sample.type2, .type4])
    func `The sample app scans a card and writes it`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        let app = try Client.tagReader(on: desk.daemon)
        app.say("scan")
        try await app.line(with: "example.com")
        app.say("write 1")
        try await app.line(with: "is saved on the card")
        app.closeInput()
        #expect(try await app.end() == 0, "\(app.output)")
        _ = try await desk.close()
    }

    @Test(arguments: Sample.allCases)
    func `Tag removed in any write command of nfc write: the tag holds the old message, none, or the new one`(
        _ sample: Sample
    ) async throws {
        let desk = try await Desk(sample)
        var isThrough = false
        for count in 1...40 where !isThrough {
            try await desk.tag.perform("remove-at-write \(count)")
            let write = try Client.nfc(["write", Self.link, "--json"], on: desk.daemon)
            let status = try await write.end()
            isThrough = status == 0
            if !isThrough {
                #expect(status == 1, "\(write.output)")
                #expect(write.output.contains(#""error":"tag-lost""#), "\(write.output)")
            }
            try await desk.tag.perform("insert")
            let scan = try Client.nfc(["scan", "--json"], on: desk.daemon)
            #expect(try await scan.end() == 0, "after write \(count): \(scan.output)")
            let holds = [Self.link, Self.old, #""message_hex":"""#].contains { scan.output.contains($0) }
            #expect(holds, "after write \(count): \(scan.output)")
            // The next run begins with the old message again.
            if !isThrough {
                let again = try Client.nfc(["write", Self.old], on: desk.daemon)
                #expect(try await again.end() == 0, "\(again.output)")
            }
        }
        #expect(isThrough)
        _ = try await desk.close()
    }

    @Test func `Two readers: the named reader is used, and an unknown name ends with 3 and the readers' names`()
        async throws
    {
        let first = try await EmulatedTag(Samples.type2(), on: .reader(name: "First NFC Reader"))
        let second = try await EmulatedTag(Samples.type4(), on: .reader(name: "Second NFC Reader"))
        let daemon = try PCSCDaemon([first.configuration, second.configuration])
        for (name, type) in [("first", "2"), ("Second NFC", "4")] {
            let scan = try Client.nfc(["scan", "--reader", "pcsc:" + name, "--json"], on: daemon)
            #expect(try await scan.end() == 0, "\(scan.output)")
            #expect(scan.output.contains(#""tag_type":\#(type)"#), "\(scan.output)")
        }
        let missing = try Client.nfc(["scan", "--reader", "pcsc:third", "--json"], on: daemon)
        #expect(try await missing.end() == 3)
        #expect(missing.output.contains("Second NFC Reader"), "\(missing.output)")
        try await daemon.stop()
        _ = try await (first.stop(), second.stop())
    }

    @Test func `nfc scan without pcscd: status 3, and the message names pcscd`() async throws {
        let scan = try TalkingProgram(
            EmulatedTag.tool.path,
            ["scan", "--reader", "pcsc", "--json"],
            environment: ["PCSCLITE_CSOCK_NAME": "/tmp/ocn-nowhere/pcscd.comm"]
        )
        #expect(try await scan.end() == 3)
        #expect(scan.output.contains("pcscd"), "\(scan.output)")
    }

    @Test func `Card that another program has open: in-use at the time limit, readable when the program closes it`()
        async throws
    {
        let desk = try await Desk(.type4)
        let holder = try Client.probe("tag", desk.daemon.environment)
        try await holder.line(with: "tag ")
        let scan = try Client.nfc(["scan", "--timeout", "3", "--json"], on: desk.daemon)
        #expect(try await scan.end() == 1)
        #expect(scan.output.contains(#""error":"in-use""#), "\(scan.output)")
        #expect(scan.output.contains("The card is in use by another program"), "\(scan.output)")
        holder.say("invalidate")
        try await holder.line(with: "ended 200")
        let again = try Client.nfc(["scan", "--json"], on: desk.daemon)
        #expect(try await again.end() == 0, "\(again.output)")
        holder.closeInput()
        _ = try await holder.end()
        _ = try await desk.close()
    }

    /// A PC/SC program that begins a transaction with the card in the first reader, and reports it.
    private static let transaction = """
        import time; from smartcard.scard import *
        context = SCardEstablishContext(SCARD_SCOPE_SYSTEM)[1]
        reader = SCardListReaders(context, [])[1][0]
        result = -1
        while result:
            time.sleep(0.02)
            result, card, _ = SCardConnect(context, reader, SCARD_SHARE_SHARED, SCARD_PROTOCOL_ANY)
        print("begun", SCardBeginTransaction(card), flush=True); time.sleep(600)
        """
    private static let hasPyscard = FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/smartcard")

    @Test(.enabled(if: hasPyscard, "python3-pyscard is not installed."), arguments: ["0.5", "3"])
    func `Card in another program's transaction: reported as in use`(_ seconds: String) async throws {
        let desk = try await Desk(.type2)
        let holder = try TalkingProgram(
            "/usr/bin/python3",
            ["-c", Self.transaction],
            environment: desk.daemon.environment
        )
        try await holder.line(with: "begun 0")
        for command in [["scan"], ["tag", "read"]] {
            let scan = try Client.nfc(command + ["--timeout", seconds, "--json"], on: desk.daemon)
            #expect(try await scan.end(within: .seconds(9)) == 1)
            #expect(scan.output.contains("The card is in use by another program"), "\(scan.output)")
        }
        // The query for a reader's features, with and without a card, also has a time limit.
        let readers = try Client.nfc(["readers", "--verbose", "--json"], on: desk.daemon)
        #expect(try await readers.end(within: .seconds(15)) == 0)
        #expect(readers.output.contains("in use by another program"), "\(readers.output)")
        holder.send(signal: SIGKILL)
        let again = try Client.nfc(["scan", "--json"], on: desk.daemon)
        #expect(try await again.end() == 0, "\(again.output)")
        _ = try await desk.close()
    }

    @Test func `Ctrl-C ends a scan that waits`() async throws {
        let desk = try await Desk(.type2)
        try await desk.tag.perform("remove")
        let scan = try TalkingProgram(
            EmulatedTag.tool.path,
            ["scan", "--json"],
            environment: desk.daemon.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        try await scan.line(with: "Hold a tag near the reader")
        scan.send(signal: SIGINT)
        #expect(try await scan.end() == 130, "\(scan.output)")
        _ = try await desk.close()
    }
}
