// SPDX-License-Identifier: Apache-2.0

/// The faults in a field, the same in every run.
///
/// Plans are values. Add them with `+`. The `every…` functions list all places where one fault can happen, for a test
/// that tries each of them.
public struct FaultPlan: Sendable, CustomStringConvertible {
    /// The faults, in any order. If several apply to an exchange, all of them happen.
    public var faults: [Fault]
    /// The seed for wrong bits and the bits of a torn page.
    public var seed: UInt64

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - faults: the faults.
    ///   - seed: the seed for random choices.
    public init(_ faults: [Fault] = [], seed: UInt64 = 0) {
        self.faults = faults
        self.seed = seed
    }

    /// Whether the plan has no faults.
    public var isEmpty: Bool { faults.isEmpty }

    /// Returns the same faults with another seed.
    public func seeded(_ seed: UInt64) -> FaultPlan {
        FaultPlan(faults, seed: seed)
    }

    /// Combines two plans, with the seed of the first one.
    public static func + (one: FaultPlan, other: FaultPlan) -> FaultPlan {
        FaultPlan(one.faults + other.faults, seed: one.seed)
    }

    public var description: String {
        faults.isEmpty ? "no fault" : faults.map(\.description).joined(separator: ", ")
    }

    // MARK: Plans of one fault

    /// The tag leaves before exchange `k`, counted from 0.
    public static func loss(atExchange k: Int) -> FaultPlan {
        FaultPlan([Fault(.loss, at: .exchange(k))])
    }

    /// The power is cut right after the `k`-th write command was programmed. Its acknowledgement is never received.
    ///
    /// - Parameter k: the number of writes that are programmed; 0 to cut the power before the first one.
    public static func tear(afterWrite k: Int) -> FaultPlan {
        k <= 0 ? tear(duringWrite: 1, leaving: .old) : tear(duringWrite: k, leaving: .new)
    }

    /// The power is cut while the `k`-th write command, counted from 1, is being programmed.
    public static func tear(duringWrite k: Int, leaving rest: TornWrite) -> FaultPlan {
        FaultPlan([Fault(.powerCut(rest), at: .write(k))])
    }

    /// A tag at the edge of the field. It can be read, but lacks the power to be written.
    public static let weakField = FaultPlan([Fault(.brownOut, at: .everyWrite)])

    /// One effect at exchange `k`, counted from 0.
    public static func effect(_ effect: Fault.Effect, atExchange k: Int) -> FaultPlan {
        FaultPlan([Fault(effect, at: .exchange(k))])
    }

    // MARK: All plans of a kind

    /// A loss of the tag at each of the first `count` exchanges.
    public static func everyLoss(inExchanges count: Int) -> [FaultPlan] {
        (0..<count).map { loss(atExchange: $0) }
    }

    /// Every tear in `count` write commands: before the first, after each, and within each with each of `rests`.
    public static func everyTear(inWrites count: Int, leaving rests: [TornWrite] = []) -> [FaultPlan] {
        (0...count).map { tear(afterWrite: $0) }
            + (1..<(count + 1)).flatMap { write in rests.map { tear(duringWrite: write, leaving: $0) } }
    }

    /// Each of `effects` at each of the first `count` exchanges.
    public static func every(_ effects: [Fault.Effect], inExchanges count: Int) -> [FaultPlan] {
        (0..<count).flatMap { exchange in effects.map { effect($0, atExchange: exchange) } }
    }

    /// Faults at random exchanges, like in a noisy field. They are the same for the same seed.
    ///
    /// - Parameters:
    ///   - seed: the seed for the choices.
    ///   - effects: the possible effects.
    ///   - exchanges: the number of exchanges to choose from.
    ///   - count: the number of faults.
    public static func random(seed: UInt64, of effects: [Fault.Effect], inExchanges exchanges: Int, count: Int)
        -> FaultPlan
    {
        var generator = SplitMix64(seed: seed)
        guard exchanges > 0, !effects.isEmpty else { return FaultPlan(seed: seed) }
        let faults = (0..<max(0, count)).map { _ in
            let effect = effects[Int.random(in: 0..<effects.count, using: &generator)]
            return Fault(effect, at: .exchange(Int.random(in: 0..<exchanges, using: &generator)))
        }
        return FaultPlan(faults, seed: seed)
    }
}
