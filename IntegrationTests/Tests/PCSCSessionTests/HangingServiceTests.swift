// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks that no program hangs when the real pcscd stops at any moment.
@Suite(.serialized, .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."), .timeLimit(.minutes(5)))
struct `A pcscd that hangs` {
    /// Longer than any limit that should end the wait, and shorter than the maximum time of a call.
    private static let soon = Duration.seconds(10)

    @Test func `pcscd that hangs from the start: each command ends within 10 s with status 3 and advice`() async throws
    {
        let desk = try await Desk(.type2)
        kill(desk.daemon.identifier, SIGSTOP)
        defer { kill(desk.daemon.identifier, SIGCONT) }
        for arguments in [["readers"], ["scan", "--timeout", "1"], ["tag", "read", "--timeout", "1"]] {
            let command = try Client.nfc(arguments + ["--json"], on: desk.daemon)
            #expect(try await command.end(within: Self.soon) == 3, "\(arguments): \(command.output)")
            #expect(command.output.contains("restart pcscd"), "\(command.output)")
        }
        kill(desk.daemon.identifier, SIGCONT)
        let scan = try Client.nfc(["scan", "--json"], on: desk.daemon)
        #expect(try await scan.end() == 0, "\(scan.output)")
        _ = try await desk.close()
    }

    @Test(arguments: [["scan"], ["tag", "read"]])
    func `pcscd that hangs while a command waits: the command ends within 10 s with status 3`(_ words: [String])
        async throws
    {
        let desk = try await Desk(.type2)
        try await desk.tag.perform("remove")
        let command = try Self.command(words + ["--timeout", "2"], on: desk)
        try await command.line(with: "Hold a tag near the reader")
        kill(desk.daemon.identifier, SIGSTOP)
        defer { kill(desk.daemon.identifier, SIGCONT) }
        #expect(try await command.end(within: Self.soon) == 3, "\(command.output)")
        #expect(command.output.contains("did not answer in time"), "\(command.output)")
    }

    @Test func `pcscd that hangs while a command waits for a tag: Ctrl-C ends the command`() async throws {
        let desk = try await Desk(.type2)
        try await desk.tag.perform("remove")
        let command = try Self.command(["scan"], on: desk)
        try await command.line(with: "Hold a tag near the reader")
        kill(desk.daemon.identifier, SIGSTOP)
        defer { kill(desk.daemon.identifier, SIGCONT) }
        command.send(signal: SIGINT)
        #expect(try await command.end(within: Self.soon) == 130, "\(command.output)")
    }

    @Test(arguments: ["ndef", "tag"])
    func `pcscd that hangs in an app's session: the session ends at once, and the next one works when pcscd continues`(
        _ kind: String
    ) async throws {
        let desk = try await Desk(.type4)
        let app = try Client.probe(kind, desk.daemon.environment)
        try await app.line(with: kind == "ndef" ? "message" : "tag ")
        kill(desk.daemon.identifier, SIGSTOP)
        defer { kill(desk.daemon.identifier, SIGCONT) }
        if kind == "tag" {
            app.say("read")
        } else {
            app.say("restart")
        }
        app.say("invalidate")
        try await app.line(with: "ended 200", within: Self.soon)
        kill(desk.daemon.identifier, SIGCONT)
        app.closeInput()
        #expect(try await app.end() == 0)
        let scan = try Client.nfc(["scan", "--json"], on: desk.daemon)
        #expect(try await scan.end() == 0, "\(scan.output)")
        _ = try await desk.close()
    }

    @Test func `pcscd that hangs: eight more sessions of an app leave no threads behind`() async throws {
        let desk = try await Desk(.type4)
        let app = try Client.probe("tag", desk.daemon.environment)
        try await app.line(with: "tag ")
        kill(desk.daemon.identifier, SIGSTOP)
        defer { kill(desk.daemon.identifier, SIGCONT) }
        app.say("invalidate")
        try await app.line(with: "ended", within: Self.soon)
        var threads: [Int] = []
        for _ in 0..<8 {
            app.say("begin")
            try await app.line(with: "active", within: Self.soon)
            app.say("invalidate")
            try await app.line(with: "ended", within: Self.soon)
            threads.append(try Self.threads(of: app.identifier))
        }
        // Dispatch and the runtime have their own thread pools.
        #expect(threads[7] <= threads[3] + 1, "\(threads)")
        app.closeInput()
        #expect(try await app.end() == 0)
    }

    private static func command(_ arguments: [String], on desk: Desk) throws -> TalkingProgram {
        try TalkingProgram(
            EmulatedTag.tool.path,
            arguments + ["--json"],
            environment: desk.daemon.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
    }

    private static func threads(of process: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count
    }
}
