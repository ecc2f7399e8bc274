// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TestThreads
import Testing

/// A client with a bug, and the report of an exploration.
struct PlantedBug: Sendable, CustomTestStringConvertible {
    var bug: Bug
    var exploration: Exploration
    var tag: TagSpec
    var app: AppProperties?
    /// How long nothing happens before a flow counts as one that never ends; nil where that does not matter.
    var grace: Duration?
    /// The invariant that does not hold; nil where the process ends.
    var invariant: String?
    var flow: @Sendable (TestField, Bug) async throws -> String

    var testDescription: String { bug.rawValue }

    static let link = TagSpec.product("NTAG215", holding: .uri("https://example.com/old"))

    /// A client that writes pages.
    static func pages(_ bug: Bug, _ exploration: Exploration, _ invariant: Invariant) -> PlantedBug {
        PlantedBug(bug: bug, exploration: exploration, tag: link, invariant: invariant.name) { field, bug in
            try await PageWriter(CorrectClient.message, bug: bug).scan(field)
        }
    }

    /// A client that reads a link and writes one.
    static func ndef(
        _ bug: Bug,
        _ exploration: Exploration,
        _ invariant: String?,
        on tag: TagSpec = link,
        grace: Duration? = nil
    ) -> PlantedBug {
        PlantedBug(bug: bug, exploration: exploration, tag: tag, grace: grace, invariant: invariant) { field, bug in
            async let result = LinkClient(CorrectClient.link, bug: bug).scan()
            await field.wait(for: .seconds(70))
            return try await result
        }
    }

    /// A link on a tag whose capability container says that it can't be written.
    static var lockedLink: TagSpec {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6])
        contents.memory[15] = 0x0F
        contents.memory.replaceSubrange(
            16..<28,
            with: [0x03, 0x07, 0xD1, 0x01, 0x03, 0x55, 0x03, 0x61, 0x2E, 0xFE, 0, 0]
        )
        return .contents(.type2(contents))
    }

    /// A tag of ISO 15693 with values in its blocks.
    static var sensor: TagSpec {
        guard case .type5(var contents)? = TagProduct(named: "ICODE SLIX2")?.blank(uid: [0xE0, 4, 1, 8, 1, 2, 3, 4])
        else {
            return "ICODE SLIX2"
        }
        contents.memory.replaceSubrange(32..<48, with: 1...16)
        return .contents(.type5(contents))
    }

    /// A flow of two scans by one client: the second is made when the person cancelled the first.
    static let twice: @Sendable (TestField, Bug) async throws -> String = { field, bug in
        let client = LinkClient(CorrectClient.link, bug: bug)
        do {
            return try await client.scan()
        } catch  where Result<String, any Error>.failure(error).code == .readerSessionInvalidationErrorUserCanceled {
            async let result = client.scan()
            await field.wait(for: .seconds(70))
            return try await result
        }
    }

    /// A flow on a locked tag. A client that checks the tag's status refuses to write.
    static let refused: @Sendable (TestField, Bug) async throws -> String = { field, bug in
        async let result = LinkClient(CorrectClient.link, bug: bug).scan()
        await field.wait(for: .seconds(70))
        do {
            return try await result
        } catch LinkClient.Failure.readOnly {
            return "refused"
        }
    }

    static let all: [PlantedBug] = [
        .pages(.neverInvalidates, .badAnswers, .sessionEnds),
        PlantedBug(
            bug: .neverCompletes,
            exploration: .badAnswers,
            tag: link,
            grace: .milliseconds(40),
            invariant: "the flow ends"
        ) { field, bug in try await PageWriter(CorrectClient.message, bug: bug).scan(field) },
        .pages(.silentEnd, .badAnswers, .errorShown),
        .pages(.completesTwice, .losses, .completesOnce),
        .pages(.noRestartAfterLoss, .slips, .sessionEnds),
        .pages(.noRestartAfterSeveral, .secondTags, .sessionEnds),
        .pages(.lengthFirst, .losses, .noMessageLost),
        .pages(.ignoresNAK, .badAnswers, .noMessageLost),
        PlantedBug(
            bug: .ignoresStatus,
            exploration: .losses,
            tag: lockedLink,
            invariant: "the flow works",
            flow: refused
        ),
        .ndef(.blocksQueue, .losses, "the flow ends", grace: .milliseconds(40)),
        PlantedBug(
            bug: .ignoresMoreData,
            exploration: .losses,
            tag: AppletReader.card,
            app: AppletReader.app,
            invariant: "the flow works"
        ) { field, bug in try await AppletReader(bug: bug).scan(field) },
        .pages(.takesFirst, .secondTags, .noMessageLost),
        PlantedBug(
            bug: .keepsStateOnCancel,
            exploration: .cancels,
            tag: link,
            grace: .milliseconds(40),
            invariant: "the flow ends",
            flow: twice
        ),
        .pages(.retainsItself, .losses, .nothingLeaks),
        PlantedBug(bug: .zerosForChunk, exploration: .badAnswers, tag: sensor, invariant: Invariant.sameResult.name) {
            field,
            bug in try await SensorReader(bug: bug).scan(field)
        },
        .ndef(.invalidatesFirst, .losses, "the flow works"),
        .ndef(.forcesPayload, .losses, nil),
        .ndef(.resumesTwice, .badAnswers, nil),
    ]

    func explore(_ bug: Bug) async throws -> ExplorationReport {
        try await NFCTestKit.explore(exploration, near: tag, app: app, grace: bug == .none ? nil : grace) { field in
            try await flow(field, bug)
        }
    }
}

/// The table of the documentation.
enum FoundBugs {
    static func row(_ bug: Bug, _ exploration: Exploration, _ found: String, _ line: String?) -> String {
        "| \(bug.rawValue) | \(exploration) | \(found) | \(line.map { "`\($0)`" } ?? "none: the first run fails") |"
    }

    /// The rows of the documentation.
    static func rows() throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Framework/NFCTestKit/Documentation.docc/WhatExplorationsFind.md")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| bug ") }
    }
}

@Suite(.timeLimit(.minutes(10)), .serialized) struct `A bug that is planted` {
    @Test(arguments: PlantedBug.all.filter { $0.invariant != nil })
    func `Is found as the documentation says`(planted: PlantedBug) async throws {
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) { _ = try await planted.explore(planted.bug) }
        )
        #expect(failure.invariant == planted.invariant, "\(failure)")
        let row = FoundBugs.row(planted.bug, planted.exploration, failure.invariant, failure.replay?.description)
        #expect(try FoundBugs.rows().contains(row), "\(row)")
    }

    @Test(.ownThreads) func `A record that is taken for granted ends the process, and its run is named`() async throws {
        let said = try CrashTests.said(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = try await PlantedBug.all.first { $0.bug == .forcesPayload }?.explore(.forcesPayload)
            }
        )
        #expect(said.contains("       sheet: scanning \"Hold the card near the phone.\"\n"), "\(said)")
        #expect(said.contains("   9 > 30 03\n     < e1 10 3e 00 "), "\(said)")
        // Swift's own words are there too.
        #expect(said.contains("Fatal error: Unexpectedly found nil"))
        try expectRow(of: .forcesPayload, in: said)
    }

    @Test(.ownThreads) func `A continuation that is resumed twice ends the process, and its run is named`() async throws
    {
        let said = try CrashTests.said(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = try await PlantedBug.all.first { $0.bug == .resumesTwice }?.explore(.resumesTwice)
            }
        )
        #expect(said.contains("tried to resume its continuation more than once"), "\(said)")
        try expectRow(of: .resumesTwice, in: said)
    }

    func expectRow(of bug: Bug, in said: String) throws {
        let planted = try #require(PlantedBug.all.first { $0.bug == bug })
        let line = said.split(separator: "\n").compactMap {
            $0.split(separator: "NFC_REPLAY=", maxSplits: 1).dropFirst().first
        }
        let row = FoundBugs.row(bug, planted.exploration, "the process ends", line.first.map(String.init))
        #expect(try FoundBugs.rows().contains(row), "\(row)")
    }

    @Test func `The documentation has a row for each`() throws {
        #expect(try FoundBugs.rows().count == PlantedBug.all.count)
        #expect(Set(PlantedBug.all.map(\.bug)) == Set(Bug.allCases).subtracting([.none]))
    }

    @Test(arguments: PlantedBug.all) func `Is not found in the client without it`(planted: PlantedBug) async throws {
        _ = try await planted.explore(.none)
    }
}
