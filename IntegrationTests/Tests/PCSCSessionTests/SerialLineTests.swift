// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks commands on a serial line that disappears or must not be opened.
struct `Serial lines` {
    @Test func `PN532 that is unplugged while nfc scan waits: status 3`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pn532)
        try await tag.perform("remove")
        let scan = try TalkingProgram(
            EmulatedTag.tool.path,
            ["scan", "--reader", "pn532:" + tag.file("pn532").path, "--json"],
            environment: ["NFC_SHEET": "text"]
        )
        try await scan.line(with: "Hold a tag near the reader")
        try await tag.kill()
        #expect(try await scan.end() == 3, "\(scan.output)")
        #expect(scan.output.contains(#""ok":false"#), "\(scan.output)")
    }

    @Test(arguments: [Sample.type2, .type3, .type4])
    func `nfc tag works with a tag on a PN532, and counts its frames`(_ sample: Sample) async throws {
        let tag = try await EmulatedTag(sample.contents, on: .pn532)
        let place = ["--reader", "pn532:" + tag.file("pn532").path, "--json"]
        func run(_ arguments: String...) async throws -> [String: Any] {
            let program = try TalkingProgram(EmulatedTag.tool.path, ["tag"] + arguments + place)
            #expect(try await program.end() == 0, "\(program.output)")
            let line = try #require(program.output.split(separator: "\n").last { $0.hasPrefix("{\"ok\"") })
            return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let info = try await run("info")
        #expect(info["uid"] as? String == sample.uid)
        // The chip reports the answers of tags.
        #expect((info["atqa"] != nil) == (sample != .type3))
        let written = try await run("write", "--message", "d101055504612e6465", "--check")
        #expect(written["exchanges"] as? Int ?? 0 > 0)
        let read = try await run("read")
        #expect(read["message_hex"] as? String == "d101055504612e6465")
        #expect(read["uid"] as? String == sample.uid)
        #expect(read["exchanges"] as? Int ?? 0 > 0)
        #expect(read["airtime_us"] as? Int ?? 0 > 0)
        #expect(read["activation_us"] is NSNull)
        #expect(try await tag.stop() != sample.contents)
    }

    @Test func `A tag that leaves a PN532 in the middle of a write can be read, and written again`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pn532)
        let place = ["--reader", "pn532:" + tag.file("pn532").path, "--json"]
        try await tag.perform("remove-at-write 2")
        let write = try TalkingProgram(EmulatedTag.tool.path, ["tag", "write", "https://example.org/a"] + place)
        #expect(try await write.end() == 1, "\(write.output)")
        #expect(write.output.contains("may now hold the old message"), "\(write.output)")
        try await tag.perform("insert")
        for (arguments, text) in [
            (["read"], #""status":"read-write""#), (["write", "https://a.example"], #""ok":true"#),
        ] {
            let next = try TalkingProgram(EmulatedTag.tool.path, ["tag"] + arguments + place)
            #expect(try await next.end() == 0, "\(next.output)")
            #expect(next.output.contains(text), "\(next.output)")
        }
        _ = try await tag.stop()
    }

    @Test(.enabled(if: geteuid() == 0 && Program.areInstalled("setpriv"), "Only root can become somebody else."))
    func `User who may not open the serial line: status 3, and the message names the group`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pn532)
        defer { withExtendedLifetime(tag) {} }
        // A place where every user may run it, independent of the place of the sources.
        let tool = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8))-nfc")
        try FileManager.default.copyItem(at: EmulatedTag.tool, to: tool)
        defer { try? FileManager.default.removeItem(at: tool) }
        let scan = try TalkingProgram(
            try #require(Program("setpriv")).path,
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", "--", tool.path, "scan", "--reader",
                "pn532:" + (tag.ready["terminal"] ?? ""), "--json",
            ]
        )
        #expect(try await scan.end() == 3, "\(scan.output)")
        #expect(scan.output.contains("group"), "\(scan.output)")
        _ = try await tag.stop()
    }
}
