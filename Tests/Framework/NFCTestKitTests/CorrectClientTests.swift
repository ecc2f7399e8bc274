// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import Testing

/// A client without bugs, on a tag.
struct CorrectClient: Sendable, CustomTestStringConvertible {
    static let message = TagMessage.uri(newLink).bytes

    var testDescription: String
    var tag: TagSpec
    var app: AppProperties?
    var flow: @Sendable (TestField) async throws -> String

    init(
        _ name: String,
        _ tag: TagSpec = linkTag,
        app: AppProperties? = nil,
        _ flow: @escaping @Sendable (TestField) async throws -> String
    ) {
        (testDescription, self.tag, self.app, self.flow) = (name, tag, app, flow)
    }

    /// One product of each type.
    static let products = ["Topaz 512", "NTAG215", "FeliCa Lite-S", "generic Type 4", "ICODE SLIX2"]

    static let all =
        products.map { product in
            CorrectClient("NDEF on \(product)", .product(product, holding: .uri(oldLink))) {
                try await PlantedBug.link($0, .none)
            }
        } + [
            CorrectClient("NDEF with callbacks") { try await LinkClient.runToLimit($0) },
            CorrectClient("NDEF with patience") {
                try await LinkClient.persist($0)
                return "written"
            },
            CorrectClient("raw pages") { try await PageWriter(message).scan($0) },
            CorrectClient("ISO 15693", "ICODE SLIX2") { try await SensorReader().scan($0) },
            CorrectClient("locked block", PlantedBug.sensorTag) { try await SensorReader(locks: true).scan($0) },
            CorrectClient("ISO 7816", AppletReader.card, app: AppletReader.app) { try await AppletReader().scan($0) },
            CorrectClient("counter", CounterClient.card) { try await CounterClient().scan($0) },
            CorrectClient("link extended") { try await LinkExtender().scan($0) },
            CorrectClient("password", PasswordClient.tag) { try await PasswordClient().scan($0) },
            CorrectClient("protection") { try await Protector().scan($0) },
            CorrectClient("own card") { try await OwnCardReader().scan($0) },
            CorrectClient("lock") { try await PlantedBug.locks($0, .none) },
            CorrectClient("one task") { _ in try await TaskClient().scan() },
            CorrectClient("two scans") { try await PlantedBug.twice($0, .none) },
            CorrectClient("double tap") { try await PlantedBug.doubleTap($0, .none) },
            CorrectClient("FeliCa", "FeliCa Lite-S", app: PassWriter.app) { try await PassWriter().scan($0) },
        ]
        + WaitingClient.Tool.allCases.map { tool in
            CorrectClient("NDEF behind a \(tool)") { try await WaitingClient.run($0, with: tool) }
        }
}

@Suite(.timeLimit(.minutes(10))) struct CorrectClientTests {
    @Test(arguments: CorrectClient.all)
    func `correct client: passes an exploration of every kind of fault`(client: CorrectClient) async throws {
        // Pairs are many runs: those clients lose the tag twice whose flows have few exchanges.
        let pairs: Exploration = ["ISO 15693", "ISO 7816"].contains(client.testDescription) ? .lossPairs : []
        let all = .everything + pairs + .noise(runs: 10)
        let report = try await explore(all, near: client.tag, app: client.app, seed: 4) { try await client.flow($0) }
        let names = report.attempts.map(\.name)
        #expect(names.first == "losses" && names.last == "noise")
    }

    // The report of a session's end is 50 ms late. Of these absences, at least one ends in that time.
    @Test(arguments: [20, 40, 60])
    func `tag that comes back before the end of a session is reported: the exploration passes`(
        milliseconds: Int
    ) async throws {
        try await explore(.slips(for: .milliseconds(milliseconds)), near: linkTag) { field in
            try await PlantedBug.link(field, .none)
        }
    }

    @Test func `flow that brings another tag in the end: the exploration passes when its task is cancelled`()
        async throws
    {
        try await explore(.taskCancels, near: linkTag) { field in
            let link = try await PlantedBug.link(field, .none)
            try await field.bring(.product("NTAG213", holding: .text("Bert")))
            return link
        }
    }

    // Every fifth: clients of other kinds, on other tags.
    @Test(arguments: stride(from: 0, to: CorrectClient.all.count, by: 5).map { CorrectClient.all[$0] })
    func `exploration with the same seed: the same runs with the same traces`(client: CorrectClient) async throws {
        var before: [String]?
        for _ in 0..<2 {
            let lines = Lines()
            try await explore(
                [.everyLoss, .noise(runs: 10)],
                near: client.tag,
                app: client.app,
                seed: 9,
                invariants: [lines.invariant]
            ) { try await client.flow($0) }
            let traces = zip(lines.all, lines.traces).map { "\($0)\n\($1)" }
            if let before, let index = traces.indices.first(where: { before[$0] != traces[$0] }) {
                Issue.record("\(before[index])\nand then\n\(traces[index])")
            }
            before = traces
        }
    }
}
