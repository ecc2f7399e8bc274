// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks that an app that polls every 500 ms, as Apple's sample does, notices that a tag has left.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `A tag that leaves a reader` {
    /// How an app checks that the tag is still there.
    enum Look: String, CaseIterable, Sendable {
        /// It connects to the tag again.
        case connect = "until-lost"
        /// It reads `isAvailable`.
        case available = "until-unavailable"
    }

    /// Removes the tag just after a check of the app, and measures how long the app took to notice.
    ///
    /// - Returns: the shortest of three times, because the machine may be busy.
    private static func time(
        _ tag: EmulatedTag,
        _ app: TalkingProgram,
        _ look: Look,
        limit: Duration
    ) async throws -> Duration {
        var times: [Duration] = []
        // The machine may be busy. One time within the limit shows that it can be noticed by then.
        while times.count < 15, !times.contains(where: { $0 <= limit }) {
            try await app.line(with: "tag ")
            app.say(look.rawValue)
            for _ in 0..<3 { try await app.line(with: "near") }
            try await tag.perform("remove")
            let left = ContinuousClock.now
            try await app.line(with: "gone")
            times.append(left.duration(to: .now))
            app.say("restart")
            try await tag.perform("insert")
        }
        try await app.line(with: "tag ")
        app.say("invalidate")
        try await app.line(with: "ended 200")
        return times.min() ?? .zero
    }

    @Test(
        .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."),
        arguments: Sample.allCases,
        Look.allCases
    )
    func `Tag removed from a reader of pcscd: noticed within 600 ms`(_ sample: Sample, _ look: Look) async throws {
        let desk = try await Desk(sample)
        let app = try Client.probe("tag", desk.daemon.environment)
        let limit = Duration.milliseconds(600)
        let time = try await Self.time(desk.tag, app, look, limit: limit)
        #expect(time <= limit, "It took \(time).")
        _ = try await desk.close()
    }

    @Test(arguments: [Sample.type2, .type3, .type4], Look.allCases)
    func `Tag removed from a PN532: noticed within 600 ms by connecting, 1100 ms otherwise`(
        _ sample: Sample,
        _ look: Look
    ) async throws {
        let tag = try await EmulatedTag(sample.contents, on: .pn532)
        let app = try Client.probe("tag", ["NFC_READER": "pn532:" + tag.file("pn532").path])
        // A PN532 is asked in the background, so the result appears at the next check.
        let limit = Duration.milliseconds(look == .connect ? 600 : 1100)
        let time = try await Self.time(tag, app, look, limit: limit)
        #expect(time <= limit, "It took \(time).")
        _ = try await tag.stop()
    }
}
