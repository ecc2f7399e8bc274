// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import Testing

/// A client without bugs, and its test cases.
struct CorrectClient: Sendable, CustomTestStringConvertible {
    static let link = "https://example.com/new/and/longer"
    static let message = TagMessage.uri(link).octets

    var testDescription: String
    var tag: TagSpec
    var app: AppProperties?
    var flow: @Sendable (TestField) async throws -> String

    init(
        _ name: String,
        _ tag: TagSpec,
        app: AppProperties? = nil,
        _ flow: @escaping @Sendable (TestField) async throws -> String
    ) {
        testDescription = name
        self.tag = tag
        self.app = app
        self.flow = flow
    }

    /// A client that reads a link and writes another one.
    static func ndef(_ product: String) -> CorrectClient {
        CorrectClient("NDEF on \(product)", .product(product, holding: .uri("https://example.com/old"))) { field in
            async let result = LinkClient(link).scan()
            await field.wait(for: .seconds(70))
            return try await result
        }
    }

    static let all = [
        ndef("NTAG215"), ndef("NTAG I2C 1K"), ndef("FeliCa Lite-S"), ndef("generic Type 3"), ndef("generic Type 4"),
        ndef("generic Type 4B"), ndef("DESFire EV1 2K"), ndef("ICODE SLIX2"), ndef("Topaz 512"),
        CorrectClient("NDEF, with patience", .product("NTAG215", holding: .uri("https://example.com/old"))) { field in
            async let end: Void = Patient.write(link, field)
            await field.wait(for: .seconds(70))
            try await end
            return "written"
        },
        CorrectClient("raw pages", .product("NTAG215", holding: .uri("https://example.com/old"))) {
            try await PageWriter(message).scan($0)
        },
        CorrectClient("ISO 15693", "ICODE SLIX2") { try await SensorReader().scan($0) },
        CorrectClient("ISO 7816", AppletReader.card, app: AppletReader.app) { try await AppletReader().scan($0) },
        CorrectClient("FeliCa", "FeliCa Lite-S", app: PassWriter.app) { try await PassWriter().scan($0) },
    ]
}

@Suite(.timeLimit(.minutes(10))) struct `A client without bugs` {
    @Test(arguments: CorrectClient.all) func `Nothing that happens to a scan is held against it`(
        client: CorrectClient
    ) async throws {
        let report = try await explore(
            [.everything, .noise(runs: 25)],
            near: client.tag,
            app: client.app,
            seed: 4
        ) { field in
            try await client.flow(field)
        }
        #expect(report.attempts.map(\.name).first == "losses")
    }

    @Test(arguments: CorrectClient.all) func `A second loss is held against it no more than one`(
        client: CorrectClient
    ) async throws {
        let report = try await explore(.lossPairs, near: client.tag, app: client.app) { try await client.flow($0) }
        #expect(report.attempts.first.map { $0.runs == $0.happened } == true)
    }

    // Every third: clients of other kinds, on other tags.
    @Test(arguments: stride(from: 0, to: CorrectClient.all.count, by: 3).map { CorrectClient.all[$0] })
    func `The same runs leave the same traces once more`(
        client: CorrectClient
    ) async throws {
        var before: [String]?
        for _ in 0..<2 {
            let lines = Lines()
            try await explore(
                [.everything, .noise(runs: 10)],
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
