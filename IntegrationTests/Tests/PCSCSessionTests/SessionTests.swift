// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks sessions while the reader and the service come and go.
@Suite(.serialized, .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."), .timeLimit(.minutes(5)))
struct `Sessions behind the real pcscd` {
    private static let message = "message 55:04" + "6578616d706c652e636f6d"

    @Test(arguments: [Sample.type2, .type4])
    func `Reader unplugged and plugged in: a write fails, then the tag is found again`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        let app = try Client.probe("tag", desk.daemon.environment)
        try await app.line(with: "tag ")
        app.say("read")
        try await app.line(with: Self.message)
        try await desk.tag.perform("unplug")
        try await Self.expectFailedWrite(by: app)
        app.say("restart")
        try await desk.tag.perform("plug")
        try await app.line(with: "tag ")
        app.say("read")
        try await app.line(with: Self.message)
        app.say("invalidate")
        try await app.line(with: "ended 200")
        _ = try await desk.close()
    }

    @Test(arguments: [Sample.type2, .type4])
    func `A tag that is taken off and put on again at once is read each time`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        let app = try Client.probe("ndef", desk.daemon.environment)
        try await app.line(with: Self.message)
        for _ in 0..<20 {
            try await desk.tag.perform("remove")
            try await desk.tag.perform("insert")
            try await app.line(with: Self.message)
        }
        app.say("invalidate")
        try await app.line(with: "ended 200")
        _ = try await desk.close()
    }

    /// Writes a message that the tag does not have. The error is 100 if the tag's removal was reported before the write,
    /// and 401 if the write finds that the tag is gone.
    private static func expectFailedWrite(by app: TalkingProgram) async throws {
        app.say("write d101055504612e6465")
        #expect(["error 100", "error 401"].contains(try await app.line(with: "error ")))
    }

    @Test(arguments: [Sample.type2, .type4])
    func `pcscd killed and started again: a write fails, then the tag is found again`(
        _ sample: Sample
    ) async throws {
        let desk = try await Desk(sample)
        let app = try Client.probe("tag", desk.daemon.environment)
        try await app.line(with: "tag ")
        app.say("read")
        try await app.line(with: Self.message)
        try await desk.daemon.kill()
        try await Self.expectFailedWrite(by: app)
        app.say("restart")
        try desk.daemon.start()
        try await app.line(with: "tag ")
        app.say("read")
        try await app.line(with: Self.message)
        app.say("invalidate")
        try await app.line(with: "ended 200")
        _ = try await desk.close()
    }

    @Test func `pcscd killed and started again while a session waits: the session finds the next tag`() async throws {
        let desk = try await Desk(.type2)
        let app = try Client.probe("ndef", desk.daemon.environment)
        try await app.line(with: Self.message)
        try await desk.tag.perform("remove")
        try await desk.daemon.kill()
        try await desk.tag.perform("insert")
        try desk.daemon.start()
        try await app.line(with: Self.message)
        app.say("invalidate")
        try await app.line(with: "ended 200")
        _ = try await desk.close()
    }
}
