// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// What an exploration makes happen, and when.
@Suite(.timeLimit(.minutes(10))) struct FaultTests {
    @Test func `exploration of each kind: one run with its fault at each exchange or write, with the given seed`()
        async throws
    {
        typealias Places = @Sendable (ExplorationReport) -> [String]
        @Sendable func each(_ start: String, _ end: String = "") -> Places {
            { report in (1...report.exchanges).map { "\(start)@\($0)\(end)" } }
        }
        @Sendable func answered(_ report: ExplorationReport, _ starts: String...) -> [String] {
            report.first.trace.exchanges.enumerated().flatMap { number, exchange -> [String] in
                guard case .success? = exchange.answer else { return [] }
                return starts.map { "\($0)@\(number + 1)" }
            }
        }
        let rows: [(exploration: Exploration, name: String, places: Places)] = [
            (.losses, "losses", { each("loss")($0) + ["gone@1"] }), (.slips, "slips", each("slip")),
            // Absences are whole milliseconds, from one to those of an hour.
            (.slips(for: .zero), "slips", each("slip", ":1ms")),
            (.slips(for: .microseconds(2900)), "slips", each("slip", ":2ms")),
            (.slips(for: .seconds(1_000_000)), "slips", each("slip", ":3600000ms")),
            (.cancels, "cancels", each("cancel")), (.secondTags, "second tags", each("second")),
            (.backgrounds, "backgrounds", each("background")), (.taskCancels, "cancelled tasks", each("stop")),
            (.replacedTags, "replaced tags", each("swap")), (.busy, "busy", { _ in ["busy@1"] }),
            (
                .tears, "tears",
                { report in
                    (1...report.writes).flatMap { write in ["old", "new", "mixed"].map { "tear@\(write):\($0)" } }
                }
            ),
            (.badAnswers, "bad answers", { answered($0, "silence", "nak", "flip") }),
            (.lostAnswers, "lost answers", { answered($0, "done") }),
        ]
        for (exploration, name, places) in rows {
            let (lines, limit) = (Lines(), Duration.seconds(10_000))
            let kept = [lines.invariant]
            let report = try await explore(exploration, near: linkTag, seed: 9, limit: limit, invariants: kept) {
                try await LinkClient.persist($0)
            }
            let expected = places(report)
            #expect(report.exchanges > 10 && report.writes > 3)
            #expect(lines.all == ["none"] + expected.map { $0 + "#9" }, "\(name)")
            #expect(report.attempts.map(\.name) == [name])
            #expect(report.attempts.map(\.runs) == [expected.count], "\(name)")
            #expect(report.attempts.map(\.happened) == [expected.count], "\(name)")
        }
    }

    /// Asks for tags three times, without a session.
    @Sendable private static func ask(_ field: TestField) async throws {
        try await field.virtual?.setCarrier(true)
        guard let link = field.virtual?.link(for: .nfcA) else { return }
        let request = Frame(bits: [0x26], validBitsInLastByte: 7)
        for _ in 0..<3 { _ = try? await link.transceive(request, timeout: .milliseconds(1)) }
    }

    @Test func `pairs of losses: each first loss alone, then with each later one`() async throws {
        let lines = Lines()
        let report = try await explore(.lossPairs, near: linkTag, seed: 4, invariants: [lines.invariant]) {
            try await Self.ask($0)
        }
        #expect(
            lines.all == [
                "none", "slip@1#4", "loss@1,loss@2#4", "loss@1,loss@3#4", "slip@2#4", "loss@2,loss@3#4", "slip@3#4",
            ]
        )
        #expect(report.exchanges == 3 && report.attempts.map(\.name) == ["pairs of losses"])
    }

    @Test(arguments: [(4, 4), (1, 1), (0, 1), (-1, 1)])
    func `noise: has the number of faults that is asked for, and at least one`(faults: Int, count: Int) async throws {
        let lines = Lines()
        let noise = Exploration.noise(runs: 5, faults: faults)
        try await explore(noise, near: linkTag, seed: 3, invariants: [lines.invariant]) {
            await LinkReader.runToLimit($0)
        }
        #expect(lines.all.count == 6)
        for line in lines.all.dropFirst() {
            #expect(line.hasSuffix("#3") && line.split { $0 == "+" || $0 == "," }.count == count, "\(line)")
        }
    }

    @Test func `noise: uses four kinds of faults, and reaches every exchange`() async throws {
        let lines = Lines()
        let noise = Exploration.noise(runs: 40, faults: 8)
        let report = try await explore(noise, near: linkTag, seed: 1, invariants: [lines.invariant]) {
            _ = try? await LinkReader.run($0)
        }
        let faults = lines.all.dropFirst().flatMap { $0.dropLast(2).split(separator: "+") }
        #expect(faults.count == 320)
        let parts = faults.map { $0.split(separator: "@") }
        #expect(Set(parts.map { String($0[0]) }) == ["loss", "silence", "nak", "flip"])
        #expect(Set(parts.compactMap { Int($0[1]) }) == Set(1...report.exchanges))
    }

    @Test func `list of explorations: its parts follow one another, and empty parts are left out`() async throws {
        let parts: Exploration = [
            .losses, .noise(runs: 0), .cancels, .noise(runs: 3), .replay("nak@2"), .replay("nak@3"),
        ]
        let report = try await explore(parts, near: linkTag, invariants: []) { await LinkReader.runToLimit($0) }
        #expect(report.attempts.map(\.name) == ["losses", "cancels", "noise", "replay"])
        #expect(report.attempts.map(\.runs) == [report.exchanges + 1, report.exchanges, 3, 2])
        let everything =
            "losses, tears, bad answers, slips, cancels, busy, second tags, backgrounds, "
            + "lost answers, cancelled tasks, replaced tags"
        #expect(Exploration.everything.description == everything)
    }

    @Test func `exploration that tries nothing: fails with the reason that nothing is tried`() async throws {
        for empty in [[], .noise(runs: 0), .noise(runs: 0) + .noise(runs: -1)] as [Exploration] {
            let failure = try await failure(empty) { await LinkReader.runToLimit($0) }
            #expect(failure?.invariant == "something is tried", "\(empty)")
        }
        #expect(try await failure(.losses) { _ in 0 }?.invariant == "something is tried")
    }

    // MARK: Each fault

    @Test(arguments: [
        ("loss@9", "the tag leaves before exchange 9, and does not come back"),
        ("gone@1", "the tag leaves before the app"),
        ("silence@9", "the answer of exchange 9 is lost"), ("nak@9", "the tag refuses exchange 9"),
        ("flip@9", "a bit is wrong in the answer of exchange 9"),
        ("tear@1:old", "the tag loses power in write 1, which leaves the old data"),
        ("cancel@9", "the user presses Cancel"), ("background@9", "the app goes to the background"),
        ("busy@1", "the system is busy, and refuses session 1"), ("stop@9", "the task of the flow is cancelled"),
        ("done@9", "the tag carries out exchange 9, and its answer is lost"),
    ]) func `trace of a run with a fault: describes the fault in one sentence`(line: String, sentence: String)
        async throws
    {
        let lines = Lines()
        try await explore(.replay(FaultScript(line)), near: linkTag, invariants: [lines.invariant]) { field in
            _ = try? await LinkClient.run(field)
        }
        let faults = try #require(lines.traces.last).notes.map(\.text).filter { $0.hasPrefix("fault: ") }
        #expect(faults.filter { $0.hasPrefix("fault: \(sentence)") }.count == 1, "\(faults)")
    }

    @Test func `failure: shows the fault's rows before its last 40 lines, and the place of the exploration`()
        async throws
    {
        let never = Invariant("never") { $0.replay == nil ? nil : "it is not" }
        let failure = try await failure(.replay("second@1"), invariants: [never]) { field in
            try await LinkClient.persist(field)
            return true
        }
        let rows = try #require(failure?.description.split(separator: "\n"))
        let fault = try #require(rows.firstIndex { $0.contains("fault: a second tag enters the field") })
        #expect(rows.count > 44 && fault < rows.count - 40 && rows[fault + 1].hasPrefix("   1 "))
        #expect(rows.contains("…") && failure?.place.hasPrefix("NFCTestKitTests/Support.swift:") == true)
    }

    @Test(arguments: [
        ("slip@3", "fault: the tag slips away", "fault: the tag is back", 1000),
        ("slip@3:300ms", "fault: the tag slips away", "fault: the tag is back", 300),
        ("loss@3,loss@9", "fault: the tag slips away", "fault: the tag is back", 1000),
        ("second@1", "fault: a second tag enters the field", "fault: the second tag is taken away", 1000),
        ("swap@1", "fault: the tag leaves", "fault: another tag comes in its place: NTAG215 ", 1000),
    ]) func `slip, second tag or swap: lasts the given milliseconds of the field's clock, by default a second`(
        line: String,
        start: String,
        end: String,
        time: Int
    )
        async throws
    {
        let lines = Lines()
        try await explore(.replay(FaultScript(line)), near: linkTag, invariants: [lines.invariant]) {
            try await LinkClient.persist($0)
        }
        let trace = try #require(lines.traces.last)
        let begun = try #require(trace.time(of: start), "\(trace)")
        #expect(trace.time(of: end) == begun + .milliseconds(time), "\(trace)")
    }

    @Test(
        arguments: [
            ("busy@1", .readerSessionInvalidationErrorSystemIsBusy),
            ("background@5", .readerSessionInvalidationErrorSessionTerminatedUnexpectedly),
            ("cancel@5", .readerSessionInvalidationErrorUserCanceled),
        ] as [(String, NFCReaderError.Code)]
    ) func `fault of a session: ends the session with the phone's code`(line: String, code: NFCReaderError.Code)
        async throws
    {
        let codes = Box<NFCReaderError.Code?>()
        try await explore(.replay(FaultScript(line)), near: linkTag, invariants: []) { field in
            codes.set(try await field.completion("write") { LinkClient().start($0) }.code)
        }
        #expect(codes.value == code)
    }

    @Test func `fault of the second session: the first session reads its tag, only the second one fails`() async throws
    {
        let results = Locked<[[Bool]]>([])
        let flow: @Sendable (TestField) async throws -> Void = { field in
            let read = [await LinkReader.runToLimit(field) != nil, await LinkReader.runToLimit(field) != nil]
            results.withLock { $0.append(read) }
        }
        let report = try await explore(.busy, near: linkTag, invariants: []) { try await flow($0) }
        #expect(report.attempts.map(\.runs) == [2] && report.attempts.map(\.happened) == [2])
        try await explore(.replay("gone@2"), near: linkTag, invariants: []) { try await flow($0) }
        #expect(
            results.withLock { $0 } == [[true, true], [false, true], [true, false], [true, true], [true, false]]
        )
    }

    // MARK: Lines of a replay

    @Test(arguments: [
        "loss@9999", "busy@7", "tear@900:old", "cancel@9999", "slip@9999", "gone@2", "second@9999", "stop@9999",
    ])
    func `replay of what never happens: fails as badReplay`(line: String) async throws {
        let error = await #expect(throws: FieldError.self) {
            try await explore(.replay(FaultScript(line)), near: linkTag) { _ = try await LinkClient.run($0) }
        }
        #expect(error?.code == .badReplay)
        #expect(error?.reason.contains("\"\(line)\" had no effect: the run made") == true)
    }

    @Test func `replay without a tag or a session: fails as badReplay`() async throws {
        for line in ["slip@1", "second@1"] as [FaultScript] {
            await #expect(throws: FieldError(.badReplay, "")) {
                try await explore(.replay(line), invariants: []) { await LinkReader.runToLimit($0) }
            }
        }
        for line in ["cancel@1", "background@1"] as [FaultScript] {
            await #expect(throws: FieldError(.badReplay, "")) {
                try await explore(.replay(line), near: linkTag, invariants: []) { try await Self.ask($0) }
            }
        }
        // Each replay of a list has to happen.
        await #expect(throws: FieldError(.badReplay, "")) {
            try await explore([.replay("cancel@1"), .replay("cancel@9999")], near: linkTag, invariants: []) {
                try await LinkClient.persist($0)
            }
        }
    }

    @Test(.ownThreads) func `NFC_REPLAY: is the only run with faults, and a stale line is refused`() async throws {
        await #expect(processExitsWith: .success) {
            for (line, runs) in [("", 9), ("cancel@2", 2), ("loss@9999", nil)] as [(String, Int?)] {
                unsafe setenv("NFC_REPLAY", line, 1)
                do {
                    let report = try await explore(.noise(runs: 8), near: "ICODE SLIX2", seed: 1) { field in
                        try await SensorReader().scan(field)
                    }
                    guard report.runs == runs else { exit(1) }
                } catch let error as FieldError {
                    guard error.code == .badReplay, runs == nil else { exit(2) }
                }
            }
        }
    }
}
