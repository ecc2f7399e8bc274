// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The faults to inject in a field. A plan has the same effect in every run.
///
/// Plans are values; combine them with `+`. The `every…` functions return one plan for each exchange or write that a
/// fault can hit, for a test that tries them all.
public struct FaultPlan: Sendable, CustomStringConvertible {
    /// The faults, in any order. If several apply to an exchange, all of them happen.
    public var faults: [Fault]
    /// The seed that selects wrong bits and the bits of a torn page.
    public var seed: UInt64

    /// Creates a plan.
    public init(_ faults: [Fault] = [], seed: UInt64 = 0) {
        self.faults = faults
        self.seed = seed
    }

    /// Whether the plan has no faults.
    public var isEmpty: Bool { faults.isEmpty }

    /// Returns the same faults with another seed.
    public func seeded(_ seed: UInt64) -> FaultPlan { FaultPlan(faults, seed: seed) }

    /// Combines two plans, with the seed of the first one.
    public static func + (one: FaultPlan, other: FaultPlan) -> FaultPlan {
        FaultPlan(one.faults + other.faults, seed: one.seed)
    }

    public var description: String {
        faults.isEmpty ? "no fault" : faults.map(\.description).joined(separator: ", ")
    }

    // MARK: Plans of one fault

    /// The tag leaves before exchange `k`, counted from 0.
    public static func loss(atExchange k: Int) -> FaultPlan { FaultPlan([Fault(.loss, at: .exchange(k))]) }

    /// The power is cut right after the `k`-th write command was programmed, or before the first write if `k` is 0. The
    /// reader never receives the acknowledgement.
    public static func tear(afterWrite k: Int) -> FaultPlan {
        k <= 0 ? tear(duringWrite: 1, leaving: .old) : tear(duringWrite: k, leaving: .new)
    }

    /// The power is cut while the `k`-th write command, counted from 1, is being programmed.
    public static func tear(duringWrite k: Int, leaving rest: TornWrite) -> FaultPlan {
        FaultPlan([Fault(.powerCut(rest), at: .write(k))])
    }

    /// A tag at the edge of the field. It can be read, but lacks the power to be written.
    public static let weakField = FaultPlan([Fault(.brownOut, at: .everyWrite)])

    /// The given effect at exchange `k`, counted from 0.
    public static func effect(_ effect: Fault.Effect, atExchange k: Int) -> FaultPlan {
        FaultPlan([Fault(effect, at: .exchange(k))])
    }

    // MARK: All plans of a kind

    /// One plan for each of the first `count` exchanges, in which the tag is lost.
    public static func everyLoss(inExchanges count: Int) -> [FaultPlan] {
        (0..<count).map { loss(atExchange: $0) }
    }

    /// One plan per tear in `count` write commands: before the first, after each, and during each with each of `rests`.
    public static func everyTear(inWrites count: Int, leaving rests: [TornWrite] = []) -> [FaultPlan] {
        (0...count).map { tear(afterWrite: $0) }
            + (1..<(count + 1)).flatMap { write in rests.map { tear(duringWrite: write, leaving: $0) } }
    }

    /// One plan for each of `effects` at each of the first `count` exchanges.
    public static func every(_ effects: [Fault.Effect], inExchanges count: Int) -> [FaultPlan] {
        (0..<count).flatMap { exchange in effects.map { effect($0, atExchange: exchange) } }
    }

    /// A plan with `count` faults at random exchanges, as in a noisy field. The same seed gives the same plan.
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

/// A fault that happens at a certain exchange or write.
public struct Fault: Sendable, CustomStringConvertible {
    /// The effect of a fault.
    public enum Effect: Sendable {
        /// All tags leave the field before they receive the request.
        case loss
        /// The tag receives the request and performs it, but the reader does not receive the answer.
        case mute
        /// The tag does not receive the request.
        case deaf
        /// One bit of the answer is wrong. Parity detects this, except in an answer of a few bits.
        case bitError
        /// The tag refuses the command with this 4-bit code, and changes its state as after any refusal.
        case refusal(UInt8)
        /// The answer has this many additional bytes, with a correct checksum.
        case tooLong(by: Int)
        /// The answer lacks this many bytes, with a correct checksum. If no byte remains, the reader receives nothing.
        case tooShort(by: Int)
        /// The tag answers this much later.
        case delay(Airtime)
        /// Before the request, this tag replaces all others.
        case swap(any VirtualTag)
        /// The power is cut while the tag programs its memory. The reader receives nothing, and all tags leave.
        case powerCut(TornWrite)
        /// The power is too low to program the memory. The tag resets, but keeps its memory and stays in the field.
        case brownOut
        /// Before the request, this closure is called once, on the caller's thread and without holding locks. It may
        /// bring and remove tags. If it cancels the task of the exchange, nothing is sent.
        case call(@Sendable () -> Void)
    }

    /// The moment at which a fault happens.
    public enum Trigger: Sendable, Hashable {
        /// At an exchange, counted from 0.
        case exchange(Int)
        /// At a command that programs the tag's memory, counted from 1.
        case write(Int)
        /// At each command that programs the tag's memory.
        case everyWrite
    }

    /// The moment at which the fault happens.
    public var trigger: Trigger
    /// The effect of the fault.
    public var effect: Effect

    /// Creates a fault.
    ///
    /// At an exchange that programs nothing, `powerCut` and `brownOut` have no effect. At a write, a `loss` happens
    /// right after the write; `deaf`, `swap` and `call` have no effect, because they happen before a request.
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

/// A plan of faults in use, which counts exchanges and writes.
struct ArmedFaults: Sendable {
    private var faults: [Fault]
    private var random: SplitMix64
    /// The number of exchanges since the plan was armed.
    private(set) var exchanges = 0
    /// The number of writes among these exchanges.
    private(set) var writes = 0

    init(_ plan: FaultPlan) {
        faults = plan.faults
        random = SplitMix64(seed: plan.seed)
    }

    /// Returns the closures to call before the next exchange, and removes them from the plan.
    mutating func takeCalls() -> [@Sendable () -> Void] {
        var taken: [@Sendable () -> Void] = []
        faults.removeAll { fault in
            guard case .call(let call) = fault.effect, fault.trigger == .exchange(exchanges) else { return false }
            taken.append(call)
            return true
        }
        return taken
    }

    /// Starts the next exchange.
    ///
    /// - Returns: the faults that may happen in this exchange; nil for none.
    mutating func next() -> FaultyExchange? {
        defer { exchanges += 1 }
        var faulty: FaultyExchange?
        for fault in faults {
            switch fault.trigger {
            case .exchange(exchanges):
                faulty = faulty ?? FaultyExchange(random: random.next())
                faulty?.add(fault.effect)
            case .write(writes + 1), .everyWrite:
                faulty = faulty ?? FaultyExchange(random: random.next())
                faulty?.addForWrite(fault.effect)
            default: break
            }
        }
        return faulty
    }

    mutating func countWrite() { writes += 1 }
}

struct FaultyExchange {
    private let random: UInt64
    private var effects: [Fault.Effect] = []
    /// The effects that only happen if the exchange is a write.
    private var effectsOfWrite: [Fault.Effect] = []
    private(set) var injectedFault: InjectedFault?
    private(set) var swapsTags = false
    /// Whether a power failure during a write merely resets the tags. If false, it removes all tags from the field.
    private(set) var keepsTags = false

    init(random: UInt64) { self.random = random }

    mutating func add(_ effect: Fault.Effect) {
        switch effect {
        case .powerCut(let rest): injectedFault = .powerCut(rest.seeded(random))
        case .brownOut:
            injectedFault = .powerCut(.old)
            keepsTags = true
        case .refusal(let code): injectedFault = .refusal(code)
        default: effects.append(effect)
        }
    }

    mutating func addForWrite(_ effect: Fault.Effect) {
        switch effect {
        case .powerCut, .brownOut: add(effect)
        case .loss: add(.powerCut(.new))
        case .refusal(let code): injectedFault = .writeRefusal(code)
        default: effectsOfWrite.append(effect)
        }
    }

    /// Applies the faults that change the tags before the request is sent.
    mutating func changeTags(in state: inout FieldState) {
        for effect in effects {
            switch effect {
            case .loss: state.removeAllTags()
            case .swap(let tag):
                state.removeAllTags()
                tag.losePower()
                state.add(tag)
                swapsTags = true
            default: break
            }
        }
    }

    var isDeaf: Bool { effects.contains { if case .deaf = $0 { true } else { false } } }

    mutating func changeAnswer(_ answer: inout FieldAnswer) {
        for effect in answer.isWrite ? effects + effectsOfWrite : effects {
            if case .delay(let time) = effect { answer.workTime += time }
            guard case .frame(var frame) = answer.reply else { continue }
            switch effect {
            case .mute: answer.reply = .silence
            case .bitError: answer.reply = damage(frame)
            case .tooLong(let count):
                frame = Frame(frame.bytes + Array(repeating: 0, count: max(0, count)), checksum: frame.checksum)
                answer.reply = .frame(frame)
            case .tooShort(let count):
                frame = Frame(Array(frame.bytes.dropLast(max(0, count))), checksum: frame.checksum)
                answer.reply = frame.bytes.isEmpty ? .silence : .frame(frame)
            default: break
            }
        }
    }

    private func damage(_ frame: Frame) -> FieldAnswer.Reply {
        guard frame.bitCount < 8, let byte = frame.bytes.first else { return .damaged }
        let bit = UInt8(random % UInt64(frame.bitCount))
        return .frame(Frame(bits: [byte ^ 1 << bit], validBitsInLastByte: frame.validBitsInLastByte))
    }
}

extension TornWrite {
    /// Returns this torn write, with random choices that differ for each fault of a plan.
    fileprivate func seeded(_ random: UInt64) -> TornWrite {
        if case .mixed(let seed) = self { .mixed(seed: seed ^ random) } else { self }
    }
}
