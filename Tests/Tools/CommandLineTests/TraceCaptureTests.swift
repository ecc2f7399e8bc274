// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `Captures of recordings` {
    private let images: Images
    private let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "none"])

    init() throws {
        images = try Images()
    }

    private var recording: String { images.folder.path("flow.jsonl") }
    private var capture: String { images.folder.path("flow.pcapng") }

    @Test func `A capture belongs to its owner, and only a capture is replaced`() throws {
        _ = try nfc.run("scan", "--tags", images.poster(), "--record", recording)
        let before = try Data(contentsOf: URL(fileURLWithPath: recording))
        let refused = try nfc.run("trace", recording, "--pcapng", recording, "--json")
        #expect(refused.status == 1)
        #expect(try refused.objects().first?["error"] as? String == "not-a-capture")
        #expect(try Data(contentsOf: URL(fileURLWithPath: recording)) == before)
        for _ in 1...2 {
            let written = try nfc.object("trace", recording, "--pcapng", capture)
            #expect(written["ok"] as? Bool == true)
            #expect(try #require(written["packets"] as? Int) > 10)
            // A session looks for tags of the other technologies too.
            let notes = try #require(written["notes"] as? [String])
            #expect(notes.map { $0.contains("ISO 14443 only") } == [true, true])
        }
        let json = try nfc.run("trace", recording, "--pcapng", capture, "--json").output
        let start = #"{"ok":true,"out":"\#(capture)","packets":"#
        #expect(json.hasPrefix(start) && json.contains(#","notes":[""#) && json.hasSuffix("\"]}\n"), "\(json)")
        let mode = try FileManager.default.attributesOfItem(atPath: capture)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let text = try nfc.run("trace", recording, "--pcapng", capture)
        #expect(text.output.hasPrefix("\(capture): "))
        #expect(text.output.hasSuffix(" packets\n"))
    }

    @Test func `What a capture can't hold is said`() throws {
        _ = try nfc.run(
            "scan",
            "--tags",
            images.blank("ICODE SLIX", uid: "e004010203040506", format: "json"),
            "--record",
            recording
        )
        let written = try nfc.run("trace", recording, "--pcapng", capture)
        #expect(written.status == 0)
        #expect(written.error.contains("Note: Left out: "), "\(written.error)")
        #expect(written.error.contains("ISO 15693"))
    }

    @Test func `A capture goes to standard output too, and what is said of it elsewhere`() throws {
        _ = try nfc.run("scan", "--tags", images.poster(), "--record", recording)
        let script = """
            nfc trace flow.jsonl --pcapng flow.pcapng > said 2> notes
            nfc trace flow.jsonl --pcapng - 2> report | cmp - flow.pcapng && echo same
            [ "$(sed 's/^flow.pcapng: /-: /' notes said)" = "$(cat report)" ] && echo told
            nfc trace flow.jsonl --pcapng none/flow.pcapng; echo $?
            """
        let outcome = try Command.shell(script, in: images.folder.path(""))
        #expect(outcome.lines == ["same", "told", "1"], "\(outcome)")
        #expect(outcome.error.contains("none"))
        let packets = try String(contentsOfFile: images.folder.path("said"), encoding: .utf8)
        #expect(packets.wholeMatch(of: /flow\.pcapng: \d+ packets\n/) != nil, "\(packets)")
    }

    @Test func `A capture has no table's options`() throws {
        #expect(try nfc.run("trace", recording, "--pcapng", capture, "--no-times").status == 2)
        #expect(try nfc.run("trace", recording, "--pcapng", "-", "--json").status == 2)
    }

    /// Wireshark's program for the terminal.
    private static let tshark = ["/usr/bin/tshark", "/usr/local/bin/tshark"]
        .first(where: FileManager.default.isExecutableFile)

    /// What Wireshark calls each frame, and its protocol.
    private func frames(_ arguments: String...) throws -> [String] {
        let fields = ["-T", "fields", "-e", "_ws.col.Protocol", "-e", "_ws.col.Info"]
        let outcome = try Command(name: #require(Self.tshark)).run(["-r", capture] + arguments + fields)
        try #require(outcome.status == 0, "\(outcome.error)")
        return outcome.lines
    }

    @Test(.enabled(if: tshark != nil, "tshark is not installed; .ci/run installs it"))
    func `Wireshark names the frames from REQA to the commands of a card`() throws {
        _ = try nfc.run("scan", "--tags", images.changingLink(), "--record", recording)
        #expect(try nfc.run("trace", recording, "--pcapng", capture).status == 0)
        let frames = try frames("-d", "iso14443.subdissector,iso7816")
        for name in [
            "Field on", "REQA", "ATQA", "Anticollision", "UID", "Select", "SAK", "RATS", "ATS",
        ] {
            #expect(frames.contains("ISO 14443\t" + name), "\(frames)")
        }
        #expect(frames.contains { $0.hasPrefix("ISO 7816\tRead binary") }, "\(frames)")
    }

    @Test(.enabled(if: tshark != nil, "tshark is not installed; .ci/run installs it"))
    func `Wireshark finds every checksum right, and shows the words of the trace`() throws {
        _ = try nfc.run("scan", "--tags", images.poster(), "--record", recording)
        #expect(try nfc.run("trace", recording, "--pcapng", capture).status == 0)
        let fields = ["-T", "fields", "-e", "iso14443.crc.status", "-e", "frame.comment"]
        let outcome = try Command(name: #require(Self.tshark)).run(["-r", capture] + fields)
        #expect(outcome.output.contains("READ 03"), "\(outcome.output)")
        #expect(outcome.lines.contains { $0.hasPrefix("1\t") || $0.hasPrefix("Good\t") }, "\(outcome.output)")
        #expect(!outcome.lines.contains { $0.hasPrefix("0\t") || $0.hasPrefix("Bad\t") }, "\(outcome.output)")
    }
}
