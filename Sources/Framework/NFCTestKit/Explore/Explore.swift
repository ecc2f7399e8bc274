// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
import VirtualTags

/// Runs a flow without faults, then again with each fault of an exploration. Each run has a new field with new tags.
///
/// ```swift
/// try await explore(.everyLoss, near: .product("NTAG215", holding: .uri("https://example.com"))) { field in
///     try await field.completion("write") { app.write("Hello", completion: $0) }.get()
/// }
/// ```
///
/// The flow throws the errors that the app under test reports. An error does not make a run fail, but a broken
/// invariant does. A run also fails when the flow never ends, or makes no exchange at all.
///
/// The first failing run ends the exploration. This run's faults are then simplified for as long as it still fails. If
/// the environment variable `NFC_REPLAY` is set, only that run is made. On a real reader, the only run has no faults.
///
/// - Parameters:
///   - exploration: the faults.
///   - tags: the tags that are near from the start.
///   - app: the app's property list and entitlements.
///   - seed: the seed of all random values.
///   - limit: the time limit of a run, in the field's time. A run that takes longer is abandoned, and fails.
///   - grace: how long the test has to be idle, in real time, before a session's time limit may pass. Nil means one
///     second in the first run and zero in the other runs, unless the flow uses threads, timers or sockets that the
///     test kit can't track.
///   - busyPolicy: the treatment of a session that begins while the previous session's sheet is still visible.
///   - invariants: the conditions that have to hold after each run, including the run without faults.
///   - reader: the reader on which the test runs.
///   - file: the file of the call, for the failure.
///   - line: the line of the call, for the failure.
///   - flow: the code to explore. It must not keep state from one run to the next.
/// - Returns: the number of runs, and the results of the run without faults.
/// - Throws: ``ExplorationFailure`` with the first failing run, or ``FieldError``.
// Otherwise, some closures of several statements whose value comes from a generic call would take this overload.
@discardableResult
@_disfavoredOverload
public func explore(
    _ exploration: Exploration,
    near tags: TagSpec...,
    app: AppProperties? = nil,
    seed: UInt64 = 0,
    limit: Duration = .seconds(600),
    grace: Duration? = nil,
    busyPolicy: SessionArbiter.BusyPolicy = .queue,
    invariants: [Invariant] = Invariant.all,
    reader: TestReader = .ofProcess,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ flow: @escaping @isolated(any) @Sendable (TestField) async throws -> Void
) async throws -> ExplorationReport {
    let settings = FieldSettings(tags, app, seed, limit, grace, busyPolicy, reader)
    return try await located(file, line) {
        try await Explorer.explore(exploration, settings, invariants) { field in
            try await flow(field)
            return nil
        }
    }
}

/// Runs an exploration, and adds the place of its call to a failure: a test that throws has only its own place, and in
/// XCTest not even that.
private func located(
    _ file: StaticString,
    _ line: UInt,
    _ exploration: () async throws -> ExplorationReport
) async throws -> ExplorationReport {
    do {
        return try await exploration()
    } catch var failure as ExplorationFailure {
        failure.place = "\(file):\(line)"
        throw failure
    }
}

/// Runs a flow that returns a value without faults, then again with each fault of an exploration.
///
/// A run that does not throw has to return the same value as the run without faults, see ``Invariant/sameResult``.
/// Everything else is the same as for a flow that returns nothing.
///
/// ```swift
/// try await explore(.everyLoss, near: .product("NTAG215", holding: .uri("https://example.com"))) { _ in
///     try await app.readLink()
/// }
/// ```
///
/// - Returns: the number of runs, and the results of the run without faults.
/// - Throws: ``ExplorationFailure`` with the first failing run, or ``FieldError``.
@discardableResult
public func explore<Value: Equatable & Sendable>(
    _ exploration: Exploration,
    near tags: TagSpec...,
    app: AppProperties? = nil,
    seed: UInt64 = 0,
    limit: Duration = .seconds(600),
    grace: Duration? = nil,
    busyPolicy: SessionArbiter.BusyPolicy = .queue,
    invariants: [Invariant] = Invariant.all,
    reader: TestReader = .ofProcess,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ flow: @escaping @isolated(any) @Sendable (TestField) async throws -> Value
) async throws -> ExplorationReport {
    let settings = FieldSettings(tags, app, seed, limit, grace, busyPolicy, reader)
    return try await located(file, line) {
        try await Explorer.explore(exploration, settings, invariants) { FlowResult(try await flow($0)) }
    }
}

/// A list of faults. The flow is run once with each of them.
///
/// You can combine explorations: `.losses + .cancels`, or `[.losses, .cancels]`.
public struct Exploration: Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The runs with one kind of fault.
    struct Part: Sendable {
        var name: String
        var hasRuns = true
        /// Whether to make further runs in which the tag comes back and is lost again at each later exchange.
        var losesTwice = false
        var mustHappen = false
        /// Returns the fault scripts to run, derived from the run without faults.
        var runs: @Sendable (Course) throws(FieldError) -> [FaultScript]

        /// Returns about how many runs this part makes.
        func runCount(after course: Course) -> Int {
            guard let count = try? runs(course).count else { return 0 }
            return losesTwice ? count + count * (count - 1) / 2 : count
        }
    }

    struct Course {
        var answered: [Bool]
        var writes: Int
        var sessions: Int
        /// How many times the app connected to a tag.
        var connections: Int
        var seed: UInt64

        /// Returns a script for each kind of fault at each of the exchanges, writes, sessions or connections.
        func each(_ kinds: FaultScript.Kind..., at indices: some Sequence<Int>, absence: Int? = nil) -> [FaultScript] {
            indices.flatMap { index in
                kinds.map { kind in
                    FaultScript([FaultScript.Step(kind: kind, position: index + 1, absence: absence)], seed: seed)
                }
            }
        }

        func eachExchange(_ kind: FaultScript.Kind, absence: Int? = nil) -> [FaultScript] {
            each(kind, at: answered.indices, absence: absence)
        }
    }

    let parts: [Part]

    private init(parts: [Part]) { self.parts = parts }

    private init(_ name: String, _ runs: @escaping @Sendable (Course) throws(FieldError) -> [FaultScript]) {
        parts = [Part(name: name, runs: runs)]
    }

    /// All the given explorations, one after the other.
    public init(arrayLiteral explorations: Exploration...) { parts = explorations.flatMap(\.parts) }

    /// Every way in which a tag can be lost: ``losses``, then ``tears``, then ``badAnswers``.
    public static let everyLoss = losses + tears + badAnswers
    /// All faults of a single scan: ``everyLoss``, ``slips``, ``cancels``, ``busy``, ``secondTags``, ``backgrounds``,
    /// ``lostAnswers``, ``taskCancels``, ``replacedTags``.
    public static let everything =
        everyLoss + slips + cancels + busy + secondTags + backgrounds + lostAnswers + taskCancels + replacedTags
    /// The tag leaves at each exchange in turn. Further runs remove the tag just before the app connects to it, because
    /// with most tags, connecting needs no exchange.
    public static let losses = Exploration("losses") { course in
        course.eachExchange(.loss) + course.each(.gone, at: 0..<course.connections)
    }
    /// The tag loses power in each write. Its memory then holds the old data, the new data, or bits of both.
    public static let tears = Exploration("tears") { $0.each(.old, .new, .mixed, at: 0..<$0.writes) }
    /// Each answer is replaced by silence, by a refusal, and by an answer with a flipped bit. The tag stays in the
    /// field.
    public static let badAnswers = Exploration("bad answers") { course in
        // Only an exchange with an answer has something to replace.
        course.each(.silence, .nak, .flip, at: course.answered.indices.filter { course.answered[$0] })
    }
    /// The tag leaves at each exchange, and comes back after a second.
    public static let slips = Exploration("slips") { $0.eachExchange(.slip) }

    /// The tag leaves at each exchange, and comes back after the given time.
    ///
    /// - Parameter absence: how long the tag is away, in the field's time. Rounded down to whole milliseconds, and
    ///   limited to between one millisecond and one hour.
    public static func slips(for absence: Duration) -> Exploration {
        Exploration("slips") { $0.eachExchange(.slip, absence: FaultScript.milliseconds(of: absence)) }
    }

    /// The tag carries out each exchange in turn, but the answer is lost: the tag loses its power, and comes back after
    /// a second. An app that sends the command again may debit a card twice.
    public static let lostAnswers = Exploration("lost answers") { course in
        course.each(.done, at: course.answered.indices.filter { course.answered[$0] })
    }

    /// The user presses Cancel on the sheet at each exchange.
    public static let cancels = Exploration("cancels") { $0.eachExchange(.cancel) }
    /// The flow's task is cancelled at each exchange, as when the user leaves a screen with the modifier `task`. The
    /// session does not end by itself then: the app has to invalidate it.
    public static let taskCancels = Exploration("cancelled tasks") { $0.eachExchange(.stop) }
    /// Each session that begins is refused with `readerSessionInvalidationErrorSystemIsBusy`.
    public static let busy = Exploration("busy") { $0.each(.busy, at: 0..<$0.sessions) }
    /// Another tag of the same product enters the field at each exchange, and leaves after a second. It has the same
    /// memory and another UID; if it holds NDEF, its first record has a "2" after each number, or at its end. If
    /// possible, the reader finds this tag first.
    public static let secondTags = Exploration("second tags") { $0.eachExchange(.second) }
    /// The tag leaves at each exchange, and after a second the tag of ``secondTags`` comes in its place, with other bytes
    /// where your test has written to the memory. An app must not write to it what the first tag held. One run without
    /// faults shows what the flow does with this tag alone.
    public static let replacedTags = Exploration("replaced tags") { $0.eachExchange(.swap) }
    /// The app goes to the background at each exchange: its session ends with
    /// `readerSessionInvalidationErrorSessionTerminatedUnexpectedly`.
    public static let backgrounds = Exploration("backgrounds") { $0.eachExchange(.background) }
    /// One run for each pair of exchanges: the tag leaves at the first, comes back, and is lost at the second. The
    /// number of runs grows with the square of the number of exchanges.
    public static let lossPairs = Exploration(parts: [
        Part(name: "pairs of losses", losesTwice: true) { $0.eachExchange(.slip) }
    ])

    /// Several random faults at once. The seed determines them.
    public static func noise(runs: Int, faults: Int = 3) -> Exploration {
        let part = Part(name: "noise", hasRuns: runs > 0) { course in
            guard !course.answered.isEmpty else { return [] }
            var generator = SplitMix64(seed: course.seed)
            return (0..<max(0, runs)).map { _ in
                let steps = (0..<max(1, faults)).map { _ in
                    FaultScript.Step(
                        kind: [.loss, .silence, .nak, .flip].randomElement(using: &generator) ?? .loss,
                        position: Int.random(in: 1...course.answered.count, using: &generator)
                    )
                }
                return FaultScript(steps, seed: course.seed)
            }
        }
        return Exploration(parts: [part])
    }

    /// A single run, given by the replay line of a report. If the run passes but none of its faults has happened, the
    /// exploration throws an error.
    public static func replay(_ replay: FaultScript) -> Exploration {
        let part = Part(name: "replay", mustHappen: true) { _ throws(FieldError) in
            if let unreadable = replay.unreadable {
                throw FieldError(.badReplay, "\"\(unreadable)\" can't be replayed. \(FaultScript.help)")
            }
            return [replay]
        }
        return Exploration(parts: [part])
    }

    /// Whether the exploration has every part of ``everything``.
    var triesEverything: Bool { Set(Self.everything.parts.map(\.name)).isSubset(of: parts.map(\.name)) }

    /// The names of the explorations, such as `losses, bad answers`. A report's attempts have the same names.
    public var description: String { parts.map(\.name).joined(separator: ", ") }

    /// Both explorations, one after the other.
    public static func + (one: Exploration, other: Exploration) -> Exploration {
        Exploration(parts: one.parts + other.parts)
    }
}
