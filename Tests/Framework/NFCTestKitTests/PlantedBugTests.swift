// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TestThreads
import Testing

/// A client with a bug, and what an exploration reports.
struct PlantedBug: Sendable, CustomTestStringConvertible {
    typealias Flow = @Sendable (TestField, Bug) async throws -> String

    var bug: Bug
    var exploration: Exploration
    /// The invariant that does not hold; nil where the process ends.
    var found: String?
    var tag = linkTag
    var app: AppProperties?
    /// How long nothing happens before a flow counts as one that never ends; nil where that does not matter.
    var grace: Duration?
    var flow: Flow

    var testDescription: String { bug.rawValue }

    // MARK: Flows

    static let pages: Flow = { try await PageWriter(CorrectClient.message, bug: $1).scan($0) }
    /// A phone that delivers a negative acknowledgement as data.
    static let pagesWithRefusals: Flow = { field, bug in
        field.deliversRefusals = true
        return try await pages(field, bug)
    }
    static let sensor: Flow = { try await SensorReader(bug: $1).scan($0) }
    static let applet: Flow = { try await AppletReader(bug: $1).scan($0) }
    static let link: Flow = { field, bug in
        async let result = LinkClient(bug: bug).scan()
        await field.wait(for: .seconds(70))
        return try await result
    }
    /// Two scans by one client.
    static let twice: Flow = { field, bug in
        let client = LinkClient(bug: bug)
        return try await field.twice { try await client.scan() }
    }
    /// A button that is tapped twice.
    static let doubleTap: Flow = { field, bug in
        let client = LinkClient(bug: bug)
        return try await field.doubleTap { try await client.scan() }
    }
    static let locks: Flow = { try await PageWriter(CorrectClient.message, bug: $1, locks: true).scan($0) }
    /// A scan of a locked tag. A client that checks the tag's status refuses to write.
    static let locked: Flow = { field, bug in
        do { return try await link(field, bug) } catch LinkClient.Failure.readOnly { return "refused" }
    }

    // MARK: Tags

    /// A tag of ISO 15693 with values in its blocks.
    static let sensorTag = TagSpec.product("ICODE SLIX2").writing(Array(1...16), atBlock: 8)

    // MARK: The table

    private static func pages(_ bug: Bug, _ exploration: Exploration, _ found: Invariant) -> PlantedBug {
        PlantedBug(bug: bug, exploration: exploration, found: found.name, flow: pages)
    }

    private static func sensor(_ bug: Bug, _ found: Invariant) -> PlantedBug {
        PlantedBug(bug: bug, exploration: .badAnswers, found: found.name, tag: sensorTag, flow: sensor)
    }

    private static let short = Duration.milliseconds(40)
    private static let (works, ends) = ("the flow works", "the flow ends")

    private static func client(
        _ bug: Bug,
        _ exploration: Exploration,
        _ found: Invariant,
        near tag: TagSpec = linkTag,
        _ flow: @escaping Flow
    ) -> PlantedBug {
        PlantedBug(bug: bug, exploration: exploration, found: found.name, tag: tag, flow: flow)
    }

    static let all: [PlantedBug] = [
        sensor(.neverInvalidates, .sessionEnds), sensor(.silentEnd, .errorShown), sensor(.zerosForChunk, .sameResult),
        PlantedBug(
            bug: .neverCompletes,
            exploration: .badAnswers,
            found: ends,
            tag: sensorTag,
            grace: short,
            flow: sensor
        ),
        pages(.completesTwice, .losses, .completesOnce), pages(.noRestartAfterLoss, .slips, .sessionEnds),
        pages(.noRestartAfterSeveral, .secondTags, .sessionEnds), pages(.lengthFirst, .losses, .noMessageLost),
        PlantedBug(
            bug: .ignoresNAK,
            exploration: .badAnswers,
            found: Invariant.noMessageLost.name,
            flow: pagesWithRefusals
        ),
        pages(.takesFirst, .secondTags, .noMessageLost),
        pages(.retainsItself, .losses, .nothingLeaks),
        PlantedBug(bug: .blocksQueue, exploration: .losses, found: ends, grace: short, flow: link),
        PlantedBug(bug: .keepsStateOnCancel, exploration: .cancels, found: ends, grace: short, flow: twice),
        PlantedBug(bug: .ignoresStatus, exploration: .losses, found: works, tag: linkTag.readOnly, flow: locked),
        PlantedBug(bug: .invalidatesFirst, exploration: .losses, found: works, flow: link),
        PlantedBug(
            bug: .ignoresMoreData,
            exploration: .losses,
            found: works,
            tag: AppletReader.card,
            app: AppletReader.app,
            flow: applet
        ),
        client(.countsAgain, .lostAnswers, .memoryIntact, near: CounterClient.card) {
            try await CounterClient(bug: $1).scan($0)
        },
        client(.keepsOldText, .replacedTags, .noMessageLost) { try await LinkExtender(bug: $1).scan($0) },
        client(.keepsOldPages, .replacedTags, .memoryIntact, near: PageLog.tag) { try await PageLog(bug: $1).scan($0) },
        client(.leavesWhenCancelled, .taskCancels, .sessionEnds) { try await TaskClient(bug: $1).scan() },
        PlantedBug(bug: .replacesCompletion, exploration: .losses, found: ends, grace: short, flow: doubleTap),
        client(.alertsAtEnd, .losses, .noErrorAfterSuccess, link),
        client(.sendsPasswordOnce, .slips, .retrySucceeds, near: PasswordClient.tag) {
            try await PasswordClient(bug: $1).scan($0)
        },
        pages(.retriesLostTag, .slips, .retrySucceeds),
        pages(.beginsTwice, .losses, .noMisuse), pages(.setsTextAfterEnd, .losses, .noMisuse),
        client(.protectsFirst, .tears, .staysUsable) { try await Protector(bug: $1).scan($0) },
        client(.locksFirst, .losses, .staysUsable, locks),
        client(.locksAfterRefusal, .badAnswers, .staysUsable, near: sensorTag) {
            try await SensorReader(bug: $1, locks: true).scan($0)
        },
        client(.saysDoneFirst, .losses, .noEarlySuccess, link),
        PlantedBug(bug: .forcesPayload, exploration: .losses, flow: link),
        PlantedBug(bug: .resumesTwice, exploration: .badAnswers, flow: link),
    ]

    func explore(_ exploration: Exploration? = nil) async throws -> ExplorationReport {
        try await NFCTestKit.explore(exploration ?? self.exploration, near: tag, app: app, grace: grace) { field in
            try await flow(field, bug)
        }
    }

    /// The row of the documentation.
    func row(_ found: String, _ line: String?) -> String {
        "| \(bug.rawValue) | \(exploration) | \(found) | \(line.map { "`\($0)`" } ?? "none: the first run fails") |"
    }

    /// All rows of the documentation.
    static func rows() throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Documentation/Reference/WhatExplorationsFind.md")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| bug ") }
    }
}

@Suite(.timeLimit(.minutes(10)), .serialized) struct PlantedBugTests {
    @Test(arguments: PlantedBug.all.filter { $0.found != nil })
    func `planted bug: found by the invariant in the documentation, and its replay line fails in the same way`(
        planted: PlantedBug
    ) async throws {
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) { _ = try await planted.explore() }
        )
        #expect(failure.invariant == planted.found, "\(failure)")
        let row = planted.row(failure.invariant, failure.replay?.description)
        #expect(try PlantedBug.rows().contains(row), "\(row)")
        #expect(try PlantedBug.rows().count == PlantedBug.all.count)
        guard let replay = failure.replay else { return }
        #expect(failure.line.hasSuffix("; replay: explore(.replay(\"\(replay)\")) or NFC_REPLAY='\(replay)'"))
        let again = await #expect(throws: ExplorationFailure.self) {
            _ = try await planted.explore(.replay(FaultScript(replay.description)))
        }
        #expect(again?.invariant == failure.invariant && again?.replay == replay)
        // A flow that never ends is left at a moment of real time.
        if failure.invariant != "the flow ends" { #expect(again?.run.trace == failure.run.trace) }
    }

    @Test(.ownThreads, arguments: [Bug.forcesPayload, .resumesTwice])
    func `planted bug that ends the process: names its run on standard error`(bug: Bug) async throws {
        let planted = try #require(PlantedBug.all.first { $0.bug == bug })
        let said = try said(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [bug = bug as Bug] in
                _ = try await PlantedBug.all.first { $0.bug == bug }?.explore()
            }
        )
        let words =
            bug == .forcesPayload ? "Fatal error: Unexpectedly found nil" : "its continuation more than once"
        #expect(said.contains(words), "\(said)")
        #expect(said.contains("       sheet: scanning \"Hold the card near the phone.\"\n"), "\(said)")
        #expect(said.contains("   9 > 30 03\n     < e1 10 3e 00 ") || bug == .resumesTwice, "\(said)")
        let line = said.split(separator: "\n").compactMap {
            $0.split(separator: "NFC_REPLAY=", maxSplits: 1).dropFirst().first
        }.first
        let row = planted.row("the process ends", line.map(String.init))
        #expect(try PlantedBug.rows().contains(row), "\(row)")
    }
}
