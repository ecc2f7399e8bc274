// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An exploration` {
    static func explore(
        _ bug: Writer.Bug,
        _ exploration: Exploration = .everyLoss,
        seed: UInt64 = 0
    ) async throws -> ExplorationReport {
        try await NFCTestKit.explore(
            exploration,
            near: .product("NTAG215", holding: .uri("https://example.com/old")),
            seed: seed
        ) { field in
            _ = try await field.completion("write") {
                Writer("https://example.com/new/and/longer", bug: bug).start($0)
            }.get()
        }
    }

    @Test func `A client without bugs passes every run, and they are counted`() async throws {
        let report = try await Self.explore(.none)
        #expect(report.exchanges > 10 && report.writes > 3)
        #expect(report.runs > report.exchanges + 3 * report.writes)
        #expect(try await Self.explore(.none, .noise(runs: 20), seed: 3).runs == 21)
    }

    @Test(arguments: [
        (Writer.Bug.silentOnLoss, Invariant.sessionEnds.name), (.sessionLeftOpen, Invariant.sessionEnds.name),
        (.noErrorShown, Invariant.errorShown.name), (.lies, Invariant.noMessageLost.name),
        (.completesTwice, Invariant.completesOnce.name),
    ]) func `Each bug is found, and its line replays it`(bug: Writer.Bug, invariant: String) async throws {
        let failure = try #require(await #expect(throws: ExplorationFailure.self) { try await Self.explore(bug) })
        #expect(failure.invariant == invariant)
        if let replay = failure.replay {
            #expect(failure.line.contains("NFC_REPLAY='\(replay)'"))
            let again = try #require(
                await #expect(throws: ExplorationFailure.self) {
                    try await Self.explore(bug, .replay(FaultScript(replay.description)))
                }
            )
            #expect(again.invariant == invariant && again.replay == replay)
            #expect(again.run.trace == failure.run.trace)
        }
    }

    @Test func `Noise that fails is made simpler`() async throws {
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) {
                try await Self.explore(.noErrorShown, .noise(runs: 50, faults: 4), seed: 5)
            }
        )
        #expect(failure.replay?.description.contains("+") == false)
        // A simpler line has the seed of the longer one.
        #expect(failure.replay?.description.hasSuffix("#5") == true, "\(failure.line)")
    }

    @Test func `A line that can't be read says how one is written`() async {
        for line in ["", "loss", "loss@0", "loss@x", "tear@3", "tear@3:half", "loss:old@3", "loss@3#x", "lost@3"] {
            let error = await #expect(throws: FieldError.self) {
                try await Self.explore(.none, .replay(FaultScript(line)))
            }
            #expect(error?.code == .badReplay, "\(line)")
        }
        for line in ["loss@3", "tear@2:mixed#7", "nak@1+flip@9+silence@4#42"] {
            #expect(FaultScript(line).description == line)
        }
    }
}
