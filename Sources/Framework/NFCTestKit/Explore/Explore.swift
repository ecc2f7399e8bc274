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
/// The first failing run ends the exploration. It is then simplified for as long as it still fails. If `NFC_REPLAY` is
/// in the environment, only that run is made. On a reader there are no faults, and only one run.
///
/// - Parameters:
///   - exploration: the faults.
///   - tags: the tags that are near from the start.
///   - app: the app's property list and entitlements.
///   - seed: the source of everything random.
///   - limit: the field's time limit of a run. A run that has not ended by then is abandoned, and fails.
///   - grace: how long nothing has to happen, in real time, before a session's time limit may pass. Nil stands for a
///     second in the first run, and for zero in the others, unless the flow uses threads, timers or sockets that the
///     test kit can't count.
///   - busyPolicy: what happens to a session that begins while the previous session's sheet is still disappearing.
///   - invariants: what has to hold after each run, including the one without faults.
///   - reader: the reader on which the test runs.
///   - flow: the code to explore. It must not keep state from one run to the next.
/// - Returns: the number of runs, and what the first one did.
/// - Throws: ``ExplorationFailure`` with the first failing run, or ``FieldError``.
@discardableResult
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
    _ flow: @escaping @isolated(any) @Sendable (TestField) async throws -> Void
) async throws -> ExplorationReport {
    let settings = FieldSettings(tags, app, seed, limit, grace, busyPolicy, reader)
    return try await Explorer.explore(exploration, settings, invariants) { field in
        try await flow(field)
        return nil
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
/// - Returns: the number of runs, and what the first one did.
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
    _ flow: @escaping @isolated(any) @Sendable (TestField) async throws -> Value
) async throws -> ExplorationReport {
    let settings = FieldSettings(tags, app, seed, limit, grace, busyPolicy, reader)
    return try await Explorer.explore(exploration, settings, invariants) { FlowResult(try await flow($0)) }
}

/// The faults with which a flow is run, one after the other.
///
/// You can combine explorations: `.losses + .cancels`, or `[.losses, .cancels]`.
public struct Exploration: Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The runs with one kind of fault.
    struct Part: Sendable {
        /// The name in a report.
        var name: String
        var hasRuns = true
        /// Whether the tag is lost once more in further runs, at each exchange after it came back.
        var losesTwice = false
        /// Whether a run in which no fault happens ends the exploration.
        var hasToHappen = false
        /// The runs that follow from the run without faults.
        var runs: @Sendable (Course) throws(FieldError) -> [FaultScript]
    }

    /// What the run without faults did.
    struct Course {
        /// For each exchange, whether a tag answered it.
        var answered: [Bool]
        var writes: Int
        var sessions: Int
        /// How many times the app connected to a tag.
        var connections: Int
        var seed: UInt64

        /// A run for each kind of fault at each place.
        func each(_ kinds: FaultScript.Kind..., at places: some Sequence<Int>, absence: Int? = nil) -> [FaultScript] {
            places.flatMap { place in
                kinds.map { FaultScript([FaultScript.Step(kind: $0, place: place + 1, absence: absence)], seed: seed) }
            }
        }

        /// A run with a fault at each exchange.
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
    /// Everything that can happen to one scan: ``everyLoss``, ``slips``, ``cancels``, ``busy``, ``secondTags``,
    /// ``backgrounds``.
    public static let everything = everyLoss + slips + cancels + busy + secondTags + backgrounds
    /// The tag leaves at the first exchange, then at the second, and so on to the last. Then it leaves before each time
    /// that the app connects to a tag; with most tags, connecting needs no exchange.
    public static let losses = Exploration("losses") { course in
        course.eachExchange(.loss) + course.each(.gone, at: 0..<course.connections)
    }
    /// The tag loses power in each write. Its memory then holds the old data, the new data, or bits of both.
    public static let tears = Exploration("tears") { $0.each(.old, .new, .mixed, at: 0..<$0.writes) }
    /// Each answer is replaced by silence, by a refusal, and by an answer with a flipped bit. The tag stays near.
    public static let badAnswers = Exploration("bad answers") { course in
        // An exchange without an answer has nothing to replace.
        course.each(.silence, .nak, .flip, at: course.answered.indices.filter { course.answered[$0] })
    }
    /// The tag leaves at each exchange, and comes back after a second.
    public static let slips = Exploration("slips") { $0.eachExchange(.slip) }

    /// The tag leaves at each exchange, and comes back after a time.
    ///
    /// - Parameter absence: how long it is away, by the field's time, in whole milliseconds. A shorter time counts as a
    ///   millisecond, a longer one as an hour.
    public static func slips(for absence: Duration) -> Exploration {
        Exploration("slips") { $0.eachExchange(.slip, absence: FaultScript.milliseconds(of: absence)) }
    }

    /// The user presses Cancel on the sheet at each exchange.
    public static let cancels = Exploration("cancels") { $0.eachExchange(.cancel) }
    /// Each session that begins is refused with `readerSessionInvalidationErrorSystemIsBusy`.
    public static let busy = Exploration("busy") { $0.each(.busy, at: 0..<$0.sessions) }
    /// Another tag of the same product comes near at each exchange, and leaves after a second. It holds the same
    /// records, except for a "2" at the end of the first one. If the technology lets the reader choose, the reader
    /// finds this tag first.
    public static let secondTags = Exploration("second tags") { $0.eachExchange(.second) }
    /// The app goes to the background at each exchange: its session ends with
    /// `readerSessionInvalidationErrorSessionTerminatedUnexpectedly`.
    public static let backgrounds = Exploration("backgrounds") { $0.eachExchange(.background) }
    /// The tag leaves at each exchange, comes back, and is then lost at each following exchange. The number of runs
    /// grows with the square of the number of exchanges.
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
                        place: Int.random(in: 1...course.answered.count, using: &generator)
                    )
                }
                return FaultScript(steps, seed: course.seed)
            }
        }
        return Exploration(parts: [part])
    }

    /// Only one run, given by the line of a report. It fails when the run passes and none of the line's faults has
    /// happened.
    public static func replay(_ replay: FaultScript) -> Exploration {
        let part = Part(name: "replay", hasToHappen: true) { _ throws(FieldError) in
            if let unreadable = replay.unreadable {
                throw FieldError(.badReplay, "\"\(unreadable)\" replays nothing. \(FaultScript.help)")
            }
            return [replay]
        }
        return Exploration(parts: [part])
    }

    /// The names of the explorations, such as `losses, bad answers`. A report's attempts have the same names.
    public var description: String { parts.map(\.name).joined(separator: ", ") }

    /// Both explorations, one after the other.
    public static func + (one: Exploration, other: Exploration) -> Exploration {
        Exploration(parts: one.parts + other.parts)
    }
}
