// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Something that goes wrong once, at a certain exchange or write.
public struct Fault: Sendable, CustomStringConvertible {
    /// What goes wrong.
    public enum Effect: Sendable {
        /// All tags leave the field before they hear the request.
        case loss
        /// The tag hears the request and acts on it; the reader does not hear the answer.
        case mute
        /// The tag does not hear the request.
        case deaf
        /// One bit of the answer is wrong. In whole octets the parity tells; in an answer of a few bits nothing does.
        case bitError
        /// The tag refuses the command with this 4-bit code, and falls back as after any refusal.
        case refusal(UInt8)
        /// The answer has this many octets too many, with a right checksum.
        case tooLong(by: Int)
        /// The answer has this many octets too few, with a right checksum; with none left it is not heard.
        case tooShort(by: Int)
        /// The tag answers this much later.
        case delay(Airtime)
        /// Before the request, this tag is put in the place of all others.
        case swap(any VirtualTag)
        /// The power goes while the tag programs its memory: the reader hears nothing, and all tags are gone.
        case powerCut(TornWrite)
        /// The power is too low to program the memory: the tag resets, its memory is as before, and it stays.
        case brownOut
        /// Before the request, this is called once, on the caller's thread and outside of locks. It may bring tags and take
        /// them away. When it cancels the task that makes the exchange, nothing is sent.
        case call(@Sendable () -> Void)
    }

    /// When it goes wrong.
    public enum Trigger: Sendable, Hashable {
        /// At an exchange, counted from 0.
        case exchange(Int)
        /// At a command that programs the tag's memory, counted from 1.
        case write(Int)
        /// At each command that programs the tag's memory.
        case everyWrite
    }

    /// When it goes wrong.
    public var trigger: Trigger
    /// What goes wrong.
    public var effect: Effect

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - effect: what goes wrong.
    ///   - trigger: when it does. A `powerCut` or `brownOut` at an exchange that programs nothing does nothing; a `loss` at a write
    ///     comes right after it; `deaf` and `swap` come before a request and can't be tied to a write, so they do
    ///     nothing there. The same goes for `call`.
    public init(_ effect: Effect, at trigger: Trigger) {
        self.effect = effect
        self.trigger = trigger
    }

    public var description: String {
        let effect: String =
            switch effect {
            case .swap: "swap"
            case .call: "call"
            default: String(describing: effect)
            }
        return switch trigger {
        case .exchange(let count): "\(effect) at exchange \(count)"
        case .write(let count): "\(effect) at write \(count)"
        case .everyWrite: "\(effect) at every write"
        }
    }
}

/// What goes wrong in a field, and when: any number of faults, the same in every run.
///
/// Plans are values: they add up with `+`, and the `every…` functions enumerate all places in which one fault can
/// happen, for a test that goes through them.
public struct FaultPlan: Sendable, CustomStringConvertible {
    /// The faults, in any order. Where several meet in an exchange, all of them happen.
    public var faults: [Fault]
    /// Where the wrong bits, and the bits of a torn page, come from.
    public var seed: UInt64

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - faults: the faults.
    ///   - seed: where random choices come from.
    public init(_ faults: [Fault] = [], seed: UInt64 = 0) {
        self.faults = faults
        self.seed = seed
    }

    /// Whether nothing goes wrong.
    public var isEmpty: Bool { faults.isEmpty }

    /// The same faults with other random choices.
    public func seeded(_ seed: UInt64) -> FaultPlan {
        FaultPlan(faults, seed: seed)
    }

    /// Both plans at once, with the seed of the first.
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

    /// The power goes right after the `k`-th write command has been programmed; its acknowledgement is never heard.
    ///
    /// - Parameter k: how many writes are programmed. 0: the power goes before the first one is.
    public static func tear(afterWrite k: Int) -> FaultPlan {
        k <= 0 ? tear(duringWrite: 1, leaving: .old) : tear(duringWrite: k, leaving: .new)
    }

    /// The power goes while the `k`-th write command, counted from 1, is being programmed.
    public static func tear(duringWrite k: Int, leaving rest: TornWrite) -> FaultPlan {
        FaultPlan([Fault(.powerCut(rest), at: .write(k))])
    }

    /// A tag at the edge of the field: it can be read, and has not the power to be written.
    public static let weakField = FaultPlan([Fault(.brownOut, at: .everyWrite)])

    /// One effect at exchange `k`, counted from 0.
    public static func effect(_ effect: Fault.Effect, atExchange k: Int) -> FaultPlan {
        FaultPlan([Fault(effect, at: .exchange(k))])
    }

    // MARK: All plans of a kind

    /// The loss of the tag at each of the first `count` exchanges.
    public static func everyLoss(inExchanges count: Int) -> [FaultPlan] {
        (0..<count).map { loss(atExchange: $0) }
    }

    /// Every tear of `count` write commands: before the first, after each, and within each as `rests` say.
    public static func everyTear(inWrites count: Int, leaving rests: [TornWrite] = []) -> [FaultPlan] {
        (0...count).map { tear(afterWrite: $0) }
            + (1..<(count + 1)).flatMap { write in rests.map { tear(duringWrite: write, leaving: $0) } }
    }

    /// Every one of `effects` at each of the first `count` exchanges.
    public static func every(_ effects: [Fault.Effect], inExchanges count: Int) -> [FaultPlan] {
        (0..<count).flatMap { exchange in effects.map { effect($0, atExchange: exchange) } }
    }

    /// Faults at random exchanges, the same for the same seed: a noisy field.
    ///
    /// - Parameters:
    ///   - seed: where the choices come from.
    ///   - effects: what may go wrong.
    ///   - exchanges: how many exchanges the faults are spread over.
    ///   - count: how many faults there are.
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
