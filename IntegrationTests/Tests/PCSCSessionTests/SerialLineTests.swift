// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks commands on a serial line that goes away, or may not be opened.
struct `Serial lines` {
    @Test func `A line that goes away ends the command`() async throws {
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

    @Test(.enabled(if: geteuid() == 0 && Program.areInstalled("setpriv"), "Only root can become somebody else."))
    func `Who may not open the line is told which group may`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pn532)
        defer { withExtendedLifetime(tag) {} }
        // Where anybody may run it, wherever the sources are.
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
