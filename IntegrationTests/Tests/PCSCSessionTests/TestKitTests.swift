// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import PeerSupport
import Testing

/// Checks that a test of an app runs on virtual tags and on a reader.
@Suite(.serialized, .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."), .timeLimit(.minutes(5)))
struct `One flow of the test kit` {
    /// The result of the flow's first run, and the number of runs.
    private static func flow(_ product: String, _ environment: [String: String]) async throws -> (
        lines: [Substring], runs: Int
    ) {
        let probe = try Client.flow(product, environment)
        #expect(try await probe.end(within: .seconds(60)) == 0, "\(probe.output)")
        var lines = probe.output.split(separator: "\n").filter { !$0.hasPrefix("Put this on the reader") }
        let runs = lines.popLast().flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
        return (lines, try #require(runs, "\(probe.output)"))
    }

    private static let expected: [Substring] = [
        "found https://example.com", "found https://example.org/a",
        "sheet Hold the card near the reader.", "sheet Done.", "sheet Hold the card near the reader.", "sheet Done.",
        "write 1", "write again 1",
    ]

    @Test(arguments: [(Sample.type2, "NTAG213"), (.type4, "generic Type 4")])
    func `Exploration of the test kit: more than 50 runs on virtual tags, one on the reader in NFC_TEST_READER`(
        _ sample: Sample,
        _ product: String
    ) async throws {
        let virtual = try await Self.flow(product, ["NFC_TEST_READER": ""])
        #expect(virtual.runs > 50)
        #expect(virtual.lines == Self.expected)

        let desk = try await Desk(sample)
        let reader = try await Self.flow(product, desk.daemon.environment.merging(["NFC_TEST_READER": "pcsc"]) { $1 })
        #expect(reader.runs == 1)
        #expect(reader.lines == Self.expected)
        let scan = try Client.nfc(["scan", "--json"], on: desk.daemon)
        #expect(try await scan.end() == 0, "\(scan.output)")
        #expect(scan.output.contains("https://example.org/a"), "\(scan.output)")
        #expect(try await desk.close() != sample.contents)
    }

    @Test func `Test kit without NFC_TEST_READER: leaves the machine's reader alone`() async throws {
        let desk = try await Desk(.type2)
        let virtual = try await Self.flow("NTAG213", desk.daemon.environment.merging(["NFC_TEST_READER": ""]) { $1 })
        #expect(virtual.runs > 50)
        #expect(try await desk.close() == Sample.type2.contents)
    }
}
