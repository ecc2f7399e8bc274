// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(10))) struct `What an exploration makes happen` {
    static let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/old"))
    static let new = "https://example.com/new/and/longer"

    @Test(arguments: [
        (Exploration.slips, "slip", "slips"), (.cancels, "cancel", "cancels"), (.secondTags, "second", "second tags"),
        (.backgrounds, "background", "backgrounds"),
    ]) func `It happens at each exchange`(exploration: Exploration, word: String, name: String) async throws {
        let lines = Lines()
        let report = try await explore(exploration, near: Self.tag, invariants: Invariant.all + [lines.invariant]) {
            field in
            try await Patient.writeOrLimit(Self.new, field)
        }
        #expect(lines.all == ["nil"] + (1...report.exchanges).map { "\(word)@\($0)" })
        #expect(report.attempts.map(\.name) == [name])
        #expect(report.attempts.first?.runs == report.exchanges)
        #expect(report.attempts.first?.happened == report.exchanges)
        #expect(report.description.contains("Tried: \(report.exchanges) \(name)."))
    }

    @Test func `Explorations of a list are tried one after the other, three times the same`() async throws {
        var before: [Trace]?
        for _ in 0..<3 {
            let lines = Lines()
            let report = try await explore(
                [.losses, .cancels, .noise(runs: 3)],
                near: Self.tag,
                invariants: Invariant.all + [lines.invariant]
            ) { field in
                async let result = field.completion("write") { Writer(Self.new).start($0) }
                await field.wait(for: .seconds(70))
                _ = try await result.get()
            }
            #expect(report.attempts.map(\.name) == ["losses", "cancels", "noise"])
            // One of the losses is before the connection.
            #expect(report.runs == 1 + 2 * report.exchanges + 1 + 3)
            if let before { #expect(lines.traces == before) }
            before = lines.traces
        }
    }

    @Test func `A tag that leaves before it is connected to is tried, where that makes no exchange`() async throws {
        let lines = Lines()
        let report = try await explore(.losses, near: Self.tag, invariants: Invariant.all + [lines.invariant]) {
            field in
            try await Patient.writeOrLimit(Self.new, field)
        }
        #expect(lines.all.last == "gone@1")
        #expect(report.attempts.first?.happened == report.exchanges + 1)
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.losses, near: Self.tag) { field in
                async let result = field.completion("connect") { Forgetful().start($0) }
                await field.wait(for: .seconds(70))
                _ = try await result
            }
        }
        #expect(failure?.replay == "gone@1")
        #expect(failure?.invariant == Invariant.sessionEnds.name)
        let replayed = await #expect(throws: ExplorationFailure.self) {
            try await explore(.replay("gone@1"), near: Self.tag) { field in
                async let result = field.completion("connect") { Forgetful().start($0) }
                await field.wait(for: .seconds(70))
                _ = try await result
            }
        }
        #expect(replayed?.finding == failure?.finding)
        await #expect(throws: FieldError(.badReplay, "")) {
            try await explore(.replay("gone@2"), near: Self.tag) { field in
                try await Patient.writeOrLimit(Self.new, field)
            }
        }
    }

    @Test func `A second tag holds another message than the first, so that who reads it is found`() async throws {
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.secondTags, near: Self.tag) { field in
                try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            }
        }
        #expect(failure?.invariant == Invariant.sameResult.name)
        #expect(failure?.finding.contains("https://example.com/old2") == true, "\(failure?.finding as Any)")
    }

    @Test func `A second card beside a card with a script is such a card too`() async throws {
        let lines = Lines()
        let (card, app) = (AppletReader.card, AppletReader.app)
        _ = try await explore(.secondTags, near: card, app: app, invariants: [lines.invariant]) { field in
            _ = try? await AppletReader().scan(field)
        }
        let seconds = lines.traces.map(\.description).compactMap { trace in
            trace.split(separator: "\n").first { $0.contains("a second tag comes near: ") }
        }
        #expect(seconds.count == lines.all.count - 1)
        for second in seconds { #expect(second.contains("card"), "\(second)") }
    }

    @Test func `An exploration without runs fails`() async throws {
        for empty in [[], .noise(runs: 0), .noise(runs: 0) + .noise(runs: -1)] as [Exploration] {
            let failure = await #expect(throws: ExplorationFailure.self) {
                try await explore(empty, near: Self.tag) { field in try await Patient.writeOrLimit(Self.new, field) }
            }
            #expect(failure?.invariant == "something is tried")
        }
        // One part without runs is none that keeps the others from theirs.
        let mixed: Exploration = [.noise(runs: 0), .replay("cancel@1")]
        let report = try await explore(mixed, near: Self.tag, invariants: []) { field in
            try await Patient.writeOrLimit(Self.new, field)
        }
        #expect(report.runs == 2 && report.attempts.map(\.name) == ["replay"])
    }

    @Test func `A failure that does not come again is called one that is not in every run`() async throws {
        let fails = Locked(true)
        let once = Invariant("it is luck") { run in
            guard run.replay == "cancel@3" else { return nil }
            return fails.withLock { fails in
                defer { fails = false }
                return fails ? "it had none" : nil
            }
        }
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.cancels, near: Self.tag, invariants: [once]) { field in
                try await Patient.writeOrLimit(Self.new, field)
            }
        }
        #expect(failure?.finding.hasPrefix("it had none; not in every run") == true, "\(failure?.finding as Any)")
        #expect(failure?.runs == 4)
    }

    @Test func `A session that is refused as busy ends with 203, and nobody is to blame`() async throws {
        let report = try await explore(.busy, near: Self.tag) { field in
            let result = try await field.completion("write") { Writer(Self.new).start($0) }
            if case .failure(let error) = result, let error = error as? NFCReaderError {
                #expect(error.code == .readerSessionInvalidationErrorSystemIsBusy)
            }
            _ = try result.get()
        }
        #expect(report.attempts.map(\.runs) == [1])
    }

    @Test func `What happens to the second session leaves the first one alone`() async throws {
        let results = Locked<[[Bool]]>([])
        let flow: @Sendable (TestField) async throws -> Void = { field in
            var read: [Bool] = []
            for _ in 0..<2 {
                async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
                await field.wait(for: .seconds(70))
                let result = try await link
                read.append((try? result.get()) != nil)
            }
            let all = read
            results.withLock { $0.append(all) }
        }
        let report = try await explore(.busy, near: Self.tag, invariants: []) { field in try await flow(field) }
        #expect(report.attempts.map(\.runs) == [2] && report.attempts.map(\.happened) == [2])
        try await explore(.replay("gone@2"), near: Self.tag, invariants: []) { field in try await flow(field) }
        #expect(
            results.withLock { $0 }
                == [[true, true], [false, true], [true, false], [true, true], [true, false]]
        )
    }

    @Test func `An app that goes to the background loses its session with 202`() async throws {
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) {
                try await explore(
                    .replay("background@5"),
                    near: Self.tag,
                    invariants: [
                        Invariant("nothing is thrown") { run in
                            run.error.map { "\(($0 as? NFCReaderError)?.code as Any)" }
                        }
                    ]
                ) { field in
                    _ = try await field.completion("write") { Writer(Self.new).start($0) }.get()
                }
            }
        )
        #expect(
            failure.finding.contains("202") || failure.finding.contains("TerminatedUnexpectedly"),
            "\(failure.finding)"
        )
        #expect(failure.description.contains("the app goes to the background"))
    }

    @Test func `Every pair of losses is tried, and the tag comes back in between`() async throws {
        let lines = Lines()
        let report = try await explore(
            .lossPairs,
            near: Self.tag,
            invariants: Invariant.all + [lines.invariant]
        ) { field in
            try await Patient.writeOrLimit(Self.new, field)
        }
        #expect(lines.all.contains("loss@\(report.exchanges - 1),loss@\(report.exchanges)"))
        #expect(Set(lines.all).count == lines.all.count)
        #expect(report.runs > report.exchanges * report.exchanges)
        #expect(report.attempts.map(\.name) == ["pairs of losses"])
        #expect(report.attempts.allSatisfy { $0.runs == $0.happened })
    }

    @Test func `A slip that fails is a loss when that fails too`() async throws {
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) {
                try await explore(.slips, near: Self.tag) { field in
                    async let result = field.completion("write") { Writer(Self.new, bug: .noErrorShown).start($0) }
                    await field.wait(for: .seconds(70))
                    _ = try await result.get()
                }
            }
        )
        #expect(failure.replay?.description.hasPrefix("loss@") == true, "\(failure.line)")
    }

    @Test func `A line that replays nothing says so, and a word of each kind is read back`() async throws {
        for line in ["loss@9999", "busy@7", "tear@900:old", "cancel@9999", "slip@9999"] {
            let error = await #expect(throws: FieldError.self) {
                try await explore(.replay(FaultScript(line)), near: Self.tag) { field in
                    _ = try await field.completion("write") { Writer(Self.new).start($0) }.get()
                }
            }
            #expect(error?.code == .badReplay)
            #expect(error?.reason.contains("\"\(line)\" replays nothing: the run made") == true)
        }
        for line in [
            "slip@4", "cancel@7", "busy@1", "second@3", "loss@3,loss@9", "background@5", "loss@3+loss@9",
            "loss@1,loss@2+nak@7#9",
        ] { #expect(FaultScript(line).description == line) }
    }

    @Test func `A tag that slips is back after the time that is asked for`() async throws {
        let lines = Lines()
        let report = try await explore(
            .slips(for: .milliseconds(300)),
            near: Self.tag,
            invariants: Invariant.all + [lines.invariant]
        ) { field in
            try await Patient.writeOrLimit(Self.new, field)
        }
        #expect(lines.all == ["nil"] + (1...report.exchanges).map { "slip@\($0):300ms" })
        for trace in lines.traces.dropFirst() {
            let away = try #require(trace.time(of: "the tag slips away"))
            #expect(try #require(trace.time(of: "the tag is back")) == away + .milliseconds(300))
        }
        let again = Lines()
        try await explore(.replay("slip@3:300ms"), near: Self.tag, invariants: [again.invariant]) { field in
            try await Patient.writeOrLimit(Self.new, field)
        }
        #expect(again.traces.last == lines.traces[3])
    }

    @Test(arguments: ["slip@3", "loss@3,loss@9"]) func `A tag whose absence is not given is back after a second`(
        line: String
    ) async throws {
        let lines = Lines()
        try await explore(.replay(FaultScript(line)), near: Self.tag, invariants: [lines.invariant]) { field in
            try await Patient.writeOrLimit(Self.new, field)
        }
        let trace = try #require(lines.traces.last)
        let away = try #require(trace.time(of: "the tag slips away"))
        #expect(trace.time(of: "the tag is back") == away + .seconds(1))
    }

    @Test func `The seed of a line says which bit is flipped`() async throws {
        let lines = Lines()
        // The first acknowledgement of a write: four bits, in which nothing shows the error.
        let first = try await explore(.replay("nak@1"), near: Self.tag, invariants: []) { field in
            try await Patient.writeOrLimit(Self.new, field)
        }.first.trace.exchanges
        let place = try #require(first.firstIndex { $0.request.bytes.first == 0xA2 })
        #expect(try first[place].answer?.get().bytes == [0x0A])
        for seed in [1, 2, 6, 7] {
            let line = FaultScript("flip@\(place + 1)#\(seed)")
            try await explore(.replay(line), near: Self.tag, invariants: [lines.invariant]) { field in
                try await Patient.writeOrLimit(Self.new, field)
            }
        }
        let runs = zip(lines.all, lines.traces).filter { $0.0 != "nil" }.map(\.1.exchanges)
        try #require(runs.count == 4)
        #expect(try runs.map { try $0[place].answer?.get().bytes } == [[0x08], [0x0E], [0x0B], [0x02]])
    }

    @Test func `How long a slip may last is held to, in an exploration and in a line`() async throws {
        for (absence, line) in [
            (Duration.zero, "slip@1:1ms"), (.seconds(-5), "slip@1:1ms"), (.microseconds(2900), "slip@1:2ms"),
            (.seconds(1_000_000), "slip@1:3600000ms"),
        ] {
            let lines = Lines()
            try await explore(.slips(for: absence), near: Self.tag, invariants: [lines.invariant]) { field in
                _ = try await field.completion("write") { Writer(Self.new).start($0) }.get()
            }
            #expect(lines.all.dropFirst().first == line)
        }
        for line in [
            "slip@3:", "slip@3:ms", "slip@3:0ms", "slip@3:3600001ms", "slip@3:300", "slip@3:1ms:2", "loss@3:300ms",
            "loss@1,,loss@2", "loss@1+", ",loss@1", "+",
        ] {
            let error = await #expect(throws: FieldError.self) {
                try await explore(.replay(FaultScript(line)), near: Self.tag) { field in
                    _ = try await field.completion("write") { Writer(Self.new).start($0) }.get()
                }
            }
            #expect(error?.code == .badReplay, "\(line)")
        }
    }
}

extension Result where Failure == any Error {
    /// The code of the error.
    var code: NFCReaderError.Code? {
        if case .failure(let error) = self { (error as? NFCReaderError)?.code } else { nil }
    }
}

extension Trace {
    /// When a line was written.
    fileprivate func time(of note: String) -> Duration? {
        entries.first { if case .note(note) = $0.event { true } else { false } }?.time
    }
}

/// The lines of all runs, and their traces, in order.
final class Lines: @unchecked Sendable {
    // Sendable because of its lock.
    private let lock = NSLock()
    private var runs: [(line: String, trace: Trace)] = []

    var all: [String] { lock.withLock { runs.map(\.line) } }
    var traces: [Trace] { lock.withLock { runs.map(\.trace) } }

    var invariant: Invariant {
        Invariant("lines are kept") { [self] run in
            lock.withLock { runs.append((run.replay?.description ?? "nil", run.trace)) }
            return nil
        }
    }
}

/// A client that forgets that a connection may fail.
private final class Forgetful: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the session's queue, once it has begun.
    private var completion: (@Sendable (Bool) -> Void)?
    private var itself: Forgetful?

    func start(_ completion: @escaping @Sendable (Bool) -> Void) {
        self.completion = completion
        itself = self
        let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        session.connect(to: tag) { error in
            guard error == nil else { return }
            tag.readNDEF { _, error in
                if error != nil {
                    session.invalidate(errorMessage: "Hold the card still, and try again.")
                } else {
                    session.invalidate()
                }
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        completion?(true)
        completion = nil
        itself = nil
    }
}
