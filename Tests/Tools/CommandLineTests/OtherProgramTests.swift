// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import ProgramTesting
import TestThreads
import Testing

/// Commands beside a web site, Wireshark, and another process that opens an entry of the inbox.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct OtherProgramTests {
    private let folder: TestFolder
    private let nfc: TestProgram

    init() throws {
        folder = try TestFolder()
        nfc = TestProgram("nfc", ["HOME": folder.path, "XDG_DATA_DIRS": "/nowhere", "NFC_SHEET": "none"])
    }

    @Test func `nfc links fetch: the association file of a site is cached with mode 0600`() throws {
        let app = #"{"app_id":"TEAM.org.example.reader","associated_domains":["applinks:good.site.example"]}"#
        try folder.write(".local/share/nfc/apps/org.example.Reader.json", app)
        let entry = "[Desktop Entry]\nType=Application\nName=Reader\nDBusActivatable=true\n"
        try folder.write(".local/share/applications/org.example.Reader.desktop", entry)
        try folder.makeFolder("site")
        let script = repository.appending(path: "Tests/Background/LinkDeliveryTests/site.py").path
        let site = Process()
        site.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        site.arguments = ["python3", script, folder.path("site")]
        let (input, output) = (Pipe(), Pipe())
        site.standardInput = input
        site.standardOutput = output
        try site.run()
        defer {
            try? input.fileHandleForWriting.close()
            site.waitUntilExit()
        }
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let words = ["--connect-to", "127.0.0.1:\(port)", "--authorities", folder.path("site/ca.pem")]
        let outcome = try nfc.run(["links", "fetch"] + words)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output == "good.site.example  77 bytes, the site answered just now\n")
        #expect(folder.mode(".cache/nfc/links/good.site.example.links") == 0o600)
    }

    @Test func `nfc inbox open, an entry that another process is opening: refused, and the entry stays`() throws {
        try folder.write("bin/xdg-open", "#!/bin/sh\n", mode: 0o755)
        var nfc = nfc
        nfc.environment["PATH"] = folder.path("bin") + ":/usr/bin:/bin"
        let id = InboxEntry.ID(received: 1, number: 1)
        let inbox = Inbox(try PrivateFolder(store: folder.path(".local/state/nfc/inbox")))
        try inbox.add(InboxEntry(id: id, message: [0xD1, 1, 4, 0x55, 4, 0x61, 0x2E, 0x62]))
        var claim: FileClaim? = try inbox.claim(id)
        for words in [["inbox", "open"], ["inbox", "open", id.description]] {
            let outcome = try nfc.run(words + ["--json"])
            #expect(outcome.status == 1 && outcome["error"] == "being-opened")
        }
        #expect(try nfc.run("inbox", "list").lines.count == 1)
        withExtendedLifetime(claim) {}
        claim = nil
        #expect(try nfc.run("inbox", "open").status == 0)
    }

    /// Wireshark's program for the terminal.
    private static let tshark = ["/usr/bin/tshark", "/usr/local/bin/tshark"]
        .first(where: FileManager.default.isExecutableFile)

    @Test(
        .enabled(if: tshark != nil, "tshark is not installed; .ci/run installs it"),
        arguments: [("generic-type-4-link.json", "ISO 7816\tRead binary"), ("ntag213-link.json", "READ 03")]
    ) func `nfc trace --pcapng: Wireshark names the frames and finds each checksum right`(
        file: String,
        name: String
    ) throws {
        let (recording, capture) = (folder.path("flow.jsonl"), folder.path("flow.pcapng"))
        #expect(try nfc.run("scan", "--tags", folder.card(from: file), "--record", recording).status == 0)
        #expect(try nfc.run("trace", recording, "--pcapng", capture).status == 0)
        let fields = ["_ws.col.Protocol", "_ws.col.Info", "iso14443.crc.status", "frame.comment"]
        let words = ["-r", capture, "-d", "iso14443.subdissector,iso7816", "-T", "fields"]
        let outcome = try TestProgram(#require(Self.tshark)).run(words + fields.flatMap { ["-e", $0] })
        try #require(outcome.status == 0, "\(outcome.error)")
        for frame in ["Field on", "REQA", "ATQA", "Anticollision", "UID", "Select", "SAK"] {
            #expect(outcome.output.contains("ISO 14443\t" + frame), "\(outcome.output)")
        }
        #expect(outcome.output.contains(name), "\(outcome.output)")
        let checks = outcome.lines.map { $0.components(separatedBy: "\t").dropFirst(2).first ?? "" }
        #expect(checks.contains { $0 == "1" || $0 == "Good" } && !checks.contains { $0 == "0" || $0 == "Bad" })
    }
}
