// SPDX-License-Identifier: Apache-2.0
import TagLink

/// An active plan of faults, which counts exchanges and writes.
struct ArmedFaults: Sendable {
    private var faults: [Fault]
    private var random: SplitMix64
    /// The number of exchanges since the plan was armed.
    private(set) var exchanges = 0
    /// The number of writes among them.
    private(set) var writes = 0

    init(_ plan: FaultPlan) {
        faults = plan.faults
        random = SplitMix64(seed: plan.seed)
    }

    /// Returns the closures to call before the next exchange, each only once.
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
    /// - Returns: the faults that may happen in it; nil for none.
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

    mutating func countWrite() {
        writes += 1
    }
}

struct FaultyExchange {
    private let random: UInt64
    private var effects: [Fault.Effect] = []
    /// The effects that only happen if the exchange is a write.
    private var effectsOfWrite: [Fault.Effect] = []
    private(set) var injectedFault: InjectedFault?
    private(set) var swapsTags = false
    /// Whether a tag resets and stays in the field when it lacks the power for a write; otherwise all tags are gone.
    private(set) var keepsTags = false

    init(random: UInt64) {
        self.random = random
    }

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

    /// Applies the changes of the field before the request is sent.
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
    /// The same torn write, with random choices that differ for each fault of a plan.
    fileprivate func seeded(_ random: UInt64) -> TornWrite {
        if case .mixed(let seed) = self { .mixed(seed: seed ^ random) } else { self }
    }
}
