// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// Which faults a flow is run with, one after the other.
public struct Exploration: Sendable {
    private enum Part: Sendable {
        case losses, tears, answers
        case noise(runs: Int, faults: Int)
        case replay(FaultScript)
    }

    private var parts: [Part]

    /// Every way in which a tag can be lost: ``losses``, then ``tears``, then ``badAnswers``.
    public static let everyLoss = Exploration(parts: [.losses, .tears, .answers])
    /// The tag leaves at the first exchange, the second, and so on to the last.
    public static let losses = Exploration(parts: [.losses])
    /// The power goes in each write, and the memory holds what it held before, what was written, or bits of both.
    public static let tears = Exploration(parts: [.tears])
    /// Each answer is replaced by silence, by a refusal, and by one with a flipped bit; the tag stays.
    public static let badAnswers = Exploration(parts: [.answers])

    /// Several faults at once at random places, which follow from the seed.
    ///
    /// - Parameters:
    ///   - runs: how many runs.
    ///   - faults: how many faults a run has.
    public static func noise(runs: Int, faults: Int = 3) -> Exploration {
        Exploration(parts: [.noise(runs: runs, faults: faults)])
    }

    /// One run alone, as a report names it.
    public static func replay(_ replay: FaultScript) -> Exploration { Exploration(parts: [.replay(replay)]) }

    /// Both, one after the other.
    public static func + (one: Exploration, other: Exploration) -> Exploration {
        Exploration(parts: one.parts + other.parts)
    }

    /// The runs, when a run without faults made these exchanges and so many writes.
    func runs(answered: [Bool], writes: Int, seed: UInt64) throws(FieldError) -> [FaultScript] {
        var runs: [FaultScript] = []
        for part in parts {
            switch part {
            case .losses: runs += answered.indices.map { single(.loss, $0 + 1, seed) }
            case .tears:
                guard writes > 0 else { continue }
                runs += (1...writes).flatMap { write in
                    [FaultScript.Kind.old, .new, .mixed].map { single($0, write, seed) }
                }
            case .answers:
                // Where nobody answered there is nothing to replace.
                runs += answered.indices.filter { answered[$0] }.flatMap { exchange in
                    [FaultScript.Kind.silence, .nak, .flip].map { single($0, exchange + 1, seed) }
                }
            case .noise(let count, let faults):
                guard !answered.isEmpty else { continue }
                var generator = SplitMix64(seed: seed)
                for _ in 0..<max(0, count) {
                    let steps = (0..<max(1, faults)).map { _ in
                        FaultScript.Step(
                            kind: [.loss, .silence, .nak, .flip].randomElement(using: &generator) ?? .loss,
                            place: Int.random(in: 1...answered.count, using: &generator)
                        )
                    }
                    runs.append(FaultScript(steps, seed: seed))
                }
            case .replay(let replay):
                if let unreadable = replay.unreadable {
                    throw FieldError(
                        .badReplay,
                        """
                        "\(unreadable)" replays nothing. Write loss@N, silence@N, nak@N, flip@N or tear@N:old (new, \
                        mixed), joined by +, and #SEED behind them.
                        """
                    )
                }
                runs.append(replay)
            }
        }
        return runs
    }

    private func single(_ kind: FaultScript.Kind, _ place: Int, _ seed: UInt64) -> FaultScript {
        FaultScript([FaultScript.Step(kind: kind, place: place)], seed: seed)
    }
}
