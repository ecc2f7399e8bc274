// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

struct `The end of an emulation` {
    @Test func `nfc emulate --pn532: a signal at any moment ends it, and the line's symbolic link is gone`()
        async throws
    {
        let folder = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let image = folder.appending(path: "tag.json").path
        try Data(Samples.image(Samples.type2())).write(to: URL(fileURLWithPath: image))
        let link = folder.appending(path: "pn532").path
        // Later each time, from before the handler is installed until the line exists.
        for delay in stride(from: 0, through: 60, by: 4) {
            let tool = try TalkingProgram(
                EmulatedTag.tool.path,
                ["emulate", "--image", image, "--pn532", link, "--json"]
            )
            try await Task.sleep(for: .milliseconds(delay))
            tool.send(signal: SIGTERM)
            let status = try await tool.end(within: .seconds(10))
            #expect(status == 0 || status == -SIGTERM, "\(tool.output)")
            // Before the handler is installed, the signal itself ends it, and nothing can be left behind.
            #expect(unsafe access(link, F_OK) != 0)
        }
        let tool = try TalkingProgram(EmulatedTag.tool.path, ["emulate", "--image", image, "--pn532", link, "--json"])
        try await tool.line(with: #""event":"ready""#)
        tool.send(signal: SIGINT)
        #expect(try await tool.end(within: .seconds(10)) == 130)
    }

    @Test(.enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."), arguments: [SIGTERM, SIGINT])
    func `nfc emulate with its own pcscd: a signal ends both, and the folder is removed`(signal: Int32) async throws {
        let folder = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let image = folder.appending(path: "tag.json").path
        try Data(Samples.image(Samples.type2())).write(to: URL(fileURLWithPath: image))
        let own = folder.path + "/opencorenfc"
        let tool = try TalkingProgram(
            EmulatedTag.tool.path,
            ["emulate", "--image", image, "--pcsc", "--start-pcscd", "--json"],
            environment: ["XDG_RUNTIME_DIR": folder.path]
        )
        try await tool.line(with: #""event":"ready""#)
        let files = try FileManager.default.contentsOfDirectory(atPath: own)
        #expect(Set(files) == ["pcscd.comm", "pcscd.log", "reader.conf.d", "reader.sock"])
        tool.send(signal: signal)
        #expect(try await tool.end(within: .seconds(20)) == (signal == SIGINT ? 130 : 0))
        #expect(!FileManager.default.fileExists(atPath: own))
    }

    @Test(.enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."))
    func `nfc emulate that is killed: its pcscd ends too`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pcsc)
        let pcscd = try #require(tag.ready["pcscd_pid"].flatMap { Int32($0) })
        #expect(FileManager.default.fileExists(atPath: "/proc/\(pcscd)"))
        try await tag.kill()
        let limit = ContinuousClock.now + .seconds(20)
        while Self.isRunning(pcscd), ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
        #expect(!Self.isRunning(pcscd))
    }

    @Test(
        .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."),
        arguments: [
            (SIGKILL, "pcscd was ended by signal 9 (Killed)."), (SIGTERM, "because another program asked it to."),
        ]
    )
    func `nfc emulate whose pcscd ends: names the signal, or says that another program ended it`(
        _ signal: Int32,
        _ sentence: String
    ) async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pcsc)
        kill(try #require(tag.ready["pcscd_pid"].flatMap { Int32($0) }), signal)
        try await tag.line(with: sentence)
    }

    /// Whether a process runs; a zombie does not.
    private static func isRunning(_ process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return !status.contains(") Z ")
    }
}
