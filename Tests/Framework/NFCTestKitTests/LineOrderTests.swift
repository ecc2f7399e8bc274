// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCTestKit
import TagLink
import TagTrace
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(10))) struct `The runs of an exploration` {
    private static func lines(_ exploration: Exploration) async throws -> (lines: [String], report: ExplorationReport) {
        let lines = Lines()
        let report = try await explore(
            exploration,
            near: `What is checked after a run`.link,
            invariants: [lines.invariant]
        ) { field in
            try await Patient.writeOrLimit("https://example.com/new/and/longer", field)
        }
        #expect(lines.all.first == "nil" && lines.all.count == report.runs)
        return (Array(lines.all.dropFirst()), report)
    }

    @Test func `Each write is torn in three ways`() async throws {
        let (lines, report) = try await Self.lines(.tears)
        #expect(report.writes > 3)
        #expect(lines == (1...report.writes).flatMap { ["tear@\($0):old", "tear@\($0):new", "tear@\($0):mixed"] })
        #expect(report.attempts.map(\.name) == ["tears"] && report.attempts.map(\.happened) == [lines.count])
    }

    @Test func `Each answer is replaced in three ways`() async throws {
        let (lines, report) = try await Self.lines(.badAnswers)
        let answered = report.first.trace.exchanges.indices.filter { index in
            if case .success? = report.first.trace.exchanges[index].answer { true } else { false }
        }
        #expect(!answered.isEmpty)
        #expect(lines == answered.flatMap { ["silence@\($0 + 1)", "nak@\($0 + 1)", "flip@\($0 + 1)"] })
    }

    @Test func `An answer that is replaced has been, even the very last one`() async throws {
        let report = try await explore(.badAnswers, near: "ICODE SLIX2", invariants: []) { field in
            try await SensorReader().scan(field)
        }
        #expect(report.attempts.map(\.runs) == report.attempts.map(\.happened) && report.attempts.count == 1)
    }

    @Test func `The tag is lost at each exchange, and before each connection`() async throws {
        let (lines, report) = try await Self.lines(.losses)
        #expect(lines == (1...report.exchanges).map { "loss@\($0)" } + ["gone@1"])
    }

    @Test func `Behind the last exchange of a flow no second loss is tried`() async throws {
        let lines = Lines()
        let report = try await explore(
            .lossPairs,
            near: `What is checked after a run`.link,
            seed: 4,
            invariants: [lines.invariant]
        ) { field in
            try await field.virtual?.setCarrier(true)
            guard let link = field.virtual?.link(for: .nfcA) else { return }
            let request = Frame(bits: [0x26], validBitsInLastByte: 7)
            for _ in 0..<3 { _ = try? await link.transceive(request, timeout: .milliseconds(1)) }
        }
        #expect(
            lines.all == [
                "nil", "slip@1#4", "loss@1,loss@2#4", "loss@1,loss@3#4", "slip@2#4", "loss@2,loss@3#4", "slip@3#4",
            ]
        )
        #expect(report.exchanges == 3 && report.attempts.map(\.runs) == [6])
    }

    @Test(arguments: ["slip@1", "second@1"]) func `What a tag does has not happened where there is none`(line: String)
        async
    {
        await #expect(throws: FieldError(.badReplay, "")) {
            try await explore(.replay(FaultScript(line)), invariants: []) { field in
                async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
                await field.wait(for: .seconds(70))
                _ = try? await link.get()
            }
        }
    }

    @Test(arguments: ["cancel@1", "background@1"])
    func `What happens to a session has not happened where there is none`(line: String) async {
        await #expect(throws: FieldError(.badReplay, "")) {
            try await explore(
                .replay(FaultScript(line)),
                near: `What is checked after a run`.link,
                invariants: []
            ) { field in
                try await field.virtual?.setCarrier(true)
                guard let link = field.virtual?.link(for: .nfcA) else { return }
                let request = Frame(bits: [0x26], validBitsInLastByte: 7)
                _ = try? await link.transceive(request, timeout: .milliseconds(1))
            }
        }
    }

    @Test func `A tag that has left by itself does not leave again before it is connected to`() async {
        await #expect(throws: FieldError(.badReplay, "")) {
            try await explore(.replay("gone@1"), near: `What is checked after a run`.link, invariants: []) { field in
                let client = LinkReader(queue: .main) { reader in
                    field.virtual?.removeAll()
                    reader.readLink()
                }
                _ = try? await field.completion("read") { client.begin($0) }.get()
            }
        }
    }

    @Test func `Parts of one name are counted together, and each of them has to happen`() async throws {
        let tag = `What is checked after a run`.link
        let report = try await explore([.replay("cancel@1"), .replay("nak@2")], near: tag, invariants: []) { field in
            try await Patient.writeOrLimit("https://example.com/new", field)
        }
        #expect(report.attempts.map(\.name) == ["replay"] && report.runs == 3)
        #expect(report.attempts.map(\.runs) == [2] && report.attempts.map(\.happened) == [2])
        await #expect(throws: FieldError(.badReplay, "")) {
            try await explore([.replay("cancel@1"), .replay("cancel@9999")], near: tag, invariants: []) { field in
                try await Patient.writeOrLimit("https://example.com/new", field)
            }
        }
    }

    @Test func `Each line has the seed of its exploration`() async throws {
        let (lines, tag) = (Lines(), `What is checked after a run`.link)
        let report = try await explore(
            .everything + .noise(runs: 2),
            near: tag,
            seed: 9,
            invariants: [lines.invariant]
        ) { field in
            async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
            await field.wait(for: .seconds(70))
            _ = try? await link.get()
        }
        try await explore(.tears, near: tag, seed: 9, invariants: [lines.invariant]) { field in
            try await Patient.writeOrLimit("https://example.com/new", field)
        }
        let faults = lines.all.filter { $0 != "nil" }
        #expect(faults.allSatisfy { $0.hasSuffix("#9") }, "\(faults)")
        #expect(faults.count > 5 * report.exchanges)
        #expect(faults.contains("tear@1:old#9") && faults.contains("gone@1#9") && faults.contains("busy@1#9"))
    }

    @Test func `A part without runs leaves the others theirs`() async throws {
        let (lines, report) = try await Self.lines([.noise(runs: 0), .busy])
        #expect(lines.first == "busy@1" && report.attempts.map(\.name) == ["busy"])
    }

    @Test func `Each session is refused once`() async throws {
        let lines = Lines()
        let report = try await explore(
            .busy,
            near: `What is checked after a run`.link,
            invariants: [lines.invariant]
        ) { field in
            for number in 0..<2 {
                _ = try await field.completion("write") { Writer("https://example.com/\(number)").start($0) }.get()
            }
        }
        #expect(lines.all == ["nil", "busy@1", "busy@2"] && report.attempts.map(\.happened) == [2])
    }
}
