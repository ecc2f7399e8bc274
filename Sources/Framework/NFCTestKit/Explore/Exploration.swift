// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// Which faults a flow is run with, one after the other.
///
/// Explorations add up: `.losses + .cancels`, or `[.losses, .cancels]`.
public struct Exploration: Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    enum Part: Sendable {
        case losses, tears, answers
        case noise(runs: Int, faults: Int)
        case replay(FaultScript)
        /// The tag is back after a time; nil for the usual one.
        case slips(Duration?)
        case cancels, busy, seconds, backgrounds, lossPairs
    }

    /// What the run without faults did.
    struct Course {
        /// Its exchanges, and whether a tag answered.
        var answered: [Bool]
        var writes: Int
        var sessions: Int
        /// How often the app connected to a tag.
        var connections: Int
    }

    let parts: [Part]

    private init(_ parts: Part...) { self.parts = parts }

    private init(parts: [Part]) { self.parts = parts }

    /// All of them, one after the other.
    public init(arrayLiteral explorations: Exploration...) { parts = explorations.flatMap(\.parts) }

    /// Every way in which a tag can be lost: ``losses``, then ``tears``, then ``badAnswers``.
    public static let everyLoss = Exploration(.losses, .tears, .answers)
    /// Everything that happens to one scan: ``everyLoss``, ``slips``, ``cancels``, ``busy``, ``secondTags``, ``backgrounds``.
    public static let everything = Exploration(
        .losses,
        .tears,
        .answers,
        .slips(nil),
        .cancels,
        .busy,
        .seconds,
        .backgrounds
    )
    /// The tag leaves at the first exchange, the second, and so on to the last; then before each time that the app connects to a
    /// tag, which with most tags is no exchange.
    public static let losses = Exploration(.losses)
    /// The power goes in each write, and the memory holds what it held before, what was written, or bits of both.
    public static let tears = Exploration(.tears)
    /// Each answer is replaced by silence, by a refusal, and by one with a flipped bit; the tag stays.
    public static let badAnswers = Exploration(.answers)
    /// The tag slips away at each exchange, and comes back after a second.
    public static let slips = Exploration(.slips(nil))

    /// The tag slips away at each exchange, and comes back after a time.
    ///
    /// - Parameter absence: how long it is away, by the field's time: in whole milliseconds. What is shorter than a millisecond or
    ///   longer than an hour counts as that.
    public static func slips(for absence: Duration) -> Exploration { Exploration(.slips(absence)) }

    /// The person presses Cancel on the sheet at each exchange.
    public static let cancels = Exploration(.cancels)
    /// Each session that begins is refused with `readerSessionInvalidationErrorSystemIsBusy`.
    public static let busy = Exploration(.busy)
    /// Another tag of the same product comes near at each exchange, and is taken away after a second. It holds the same records
    /// but for a "2" at the end of the first one. Where the technology lets
    /// the reader choose, it is found before the tag that was there.
    public static let secondTags = Exploration(.seconds)
    /// The app goes to the background at each exchange: its session ends with
    /// `readerSessionInvalidationErrorSessionTerminatedUnexpectedly`.
    public static let backgrounds = Exploration(.backgrounds)
    /// The tag slips away at each exchange, comes back, and is then lost at each exchange that follows. The number of runs grows
    /// with the square of the exchanges.
    public static let lossPairs = Exploration(.lossPairs)

    /// Several faults at once at random places, which follow from the seed.
    ///
    /// - Parameters:
    ///   - runs: how many runs.
    ///   - faults: how many faults a run has.
    public static func noise(runs: Int, faults: Int = 3) -> Exploration {
        Exploration(.noise(runs: runs, faults: faults))
    }

    /// One run alone, as a report names it. It fails when the run passes and nothing of the line has happened in it.
    public static func replay(_ replay: FaultScript) -> Exploration { Exploration(.replay(replay)) }

    /// What is tried, such as `losses, bad answers`; the words are those of a report's attempts.
    public var description: String { parts.map(\.name).joined(separator: ", ") }

    /// Both, one after the other.
    public static func + (one: Exploration, other: Exploration) -> Exploration {
        Exploration(parts: one.parts + other.parts)
    }
}

extension Exploration.Part {
    /// What is tried, as a report counts it.
    var name: String {
        switch self {
        case .losses: "losses"
        case .tears: "tears"
        case .answers: "bad answers"
        case .noise: "noise"
        case .replay: "replay"
        case .slips: "slips"
        case .cancels: "cancels"
        case .busy: "busy"
        case .seconds: "second tags"
        case .backgrounds: "backgrounds"
        case .lossPairs: "pairs of losses"
        }
    }

    /// Whether it says that nothing is tried.
    var isEmpty: Bool { if case .noise(let runs, _) = self { runs <= 0 } else { false } }

    /// The runs that follow from the run without faults. Of pairs, the first halves: how far the tag gets after it came back
    /// shows when they are run.
    func runs(after course: Exploration.Course, seed: UInt64) throws(FieldError) -> [FaultScript] {
        let exchanges = course.answered.count
        func each(_ kind: FaultScript.Kind, _ count: Int) -> [FaultScript] {
            (0..<count).map { FaultScript([FaultScript.Step(kind: kind, place: $0 + 1)], seed: seed) }
        }
        switch self {
        case .losses: return each(.loss, exchanges) + each(.gone, course.connections)
        case .tears:
            return (0..<course.writes).flatMap { write in
                [FaultScript.Kind.old, .new, .mixed].map {
                    FaultScript([FaultScript.Step(kind: $0, place: write + 1)], seed: seed)
                }
            }
        case .answers:
            // Where nobody answered there is nothing to replace.
            return course.answered.indices.filter { course.answered[$0] }.flatMap { exchange in
                [FaultScript.Kind.silence, .nak, .flip].map {
                    FaultScript([FaultScript.Step(kind: $0, place: exchange + 1)], seed: seed)
                }
            }
        case .slips(let absence):
            let milliseconds = absence.map { FaultScript.milliseconds(of: $0) }
            return (0..<exchanges).map {
                FaultScript([FaultScript.Step(kind: .slip, place: $0 + 1, absence: milliseconds)], seed: seed)
            }
        case .lossPairs: return each(.slip, exchanges)
        case .cancels: return each(.cancel, exchanges)
        case .busy: return each(.busy, course.sessions)
        case .seconds: return each(.second, exchanges)
        case .backgrounds: return each(.background, exchanges)
        case .noise(let count, let faults):
            guard exchanges > 0 else { return [] }
            var generator = SplitMix64(seed: seed)
            return (0..<max(0, count)).map { _ in
                let steps = (0..<max(1, faults)).map { _ in
                    FaultScript.Step(
                        kind: [.loss, .silence, .nak, .flip].randomElement(using: &generator) ?? .loss,
                        place: Int.random(in: 1...exchanges, using: &generator)
                    )
                }
                return FaultScript(steps, seed: seed)
            }
        case .replay(let replay):
            if let unreadable = replay.unreadable {
                throw FieldError(.badReplay, "\"\(unreadable)\" replays nothing. \(FaultScript.help)")
            }
            return [replay]
        }
    }
}
