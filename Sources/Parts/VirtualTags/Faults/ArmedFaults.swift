// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A plan of faults with the exchanges and writes counted since it was armed.
struct ArmedFaults: Sendable {
    private var faults: [Fault]
    private var random: SplitMix64
    /// How many exchanges have begun since the plan was armed.
    private(set) var exchanges = 0
    /// How many of them were writes.
    private(set) var writes = 0
    /// How many calls are left to make: most plans have none.
    private var calls: Int

    init(_ plan: FaultPlan) {
        faults = plan.faults
        random = SplitMix64(seed: plan.seed)
        calls = plan.faults.count(where: \.isCall)
    }

    /// What is to be called before the next exchange; each only once.
    mutating func takeCalls() -> [@Sendable () -> Void] {
        guard calls > 0 else { return [] }
        var taken: [@Sendable () -> Void] = []
        faults.removeAll { fault in
            guard case .call(let call) = fault.effect, fault.trigger == .exchange(exchanges) else { return false }
            taken.append(call)
            return true
        }
        calls -= taken.count
        return taken
    }

    /// Begins the next exchange.
    ///
    /// - Returns: what may go wrong in it, or nil.
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
            default:
                continue
            }
        }
        return faulty
    }

    mutating func countWrite() {
        writes += 1
    }
}

/// What goes wrong in one exchange.
struct FaultyExchange {
    private let random: UInt64
    private var effects: [Fault.Effect] = []
    /// Effects that happen only if the exchange turns out to be a write.
    private var effectsOfWrite: [Fault.Effect] = []
    private(set) var disturbance: Disturbance?
    private(set) var swapsTags = false
    /// Whether a tag whose write fails for want of power resets and stays; else all tags are gone.
    private(set) var keepsTags = false

    init(random: UInt64) {
        self.random = random
    }

    mutating func add(_ effect: Fault.Effect) {
        switch effect {
        case .powerCut(let rest): disturbance = .powerCut(rest.seeded(random))
        case .brownOut:
            disturbance = .powerCut(.old)
            keepsTags = true
        case .refusal(let code): disturbance = .refusal(code)
        default: effects.append(effect)
        }
    }

    mutating func addForWrite(_ effect: Fault.Effect) {
        switch effect {
        case .powerCut, .brownOut: add(effect)
        case .loss: add(.powerCut(.new))
        case .refusal(let code): disturbance = .writeRefusal(code)
        default: effectsOfWrite.append(effect)
        }
    }

    /// What happens to the field before the request is sent.
    mutating func changeTags(in state: inout FieldState) {
        for effect in effects {
            switch effect {
            case .loss:
                state.removeAllTags()
            case .swap(let tag):
                state.removeAllTags()
                tag.losePower()
                state.add(tag)
                swapsTags = true
            default:
                continue
            }
        }
    }

    /// Whether the tags hear nothing of the request.
    var isDeaf: Bool {
        effects.contains { if case .deaf = $0 { true } else { false } }
    }

    /// What happens to the answer on its way.
    mutating func changeAnswer(_ answer: inout FieldAnswer, _ technology: Technology) {
        for effect in answer.isWrite ? effects + effectsOfWrite : effects {
            guard case .frame(var frame) = answer.reply else { return }
            switch effect {
            case .mute:
                answer.reply = .silence
            case .bitError:
                answer.reply = damage(frame)
            case .tooLong(let count):
                frame = Frame(frame.bytes + Array(repeating: 0, count: max(0, count)), checksum: frame.checksum)
                answer.reply = .frame(frame)
            case .tooShort(let count):
                frame = Frame(Array(frame.bytes.dropLast(max(0, count))), checksum: frame.checksum)
                answer.reply = frame.bytes.isEmpty ? .silence : .frame(frame)
            case .delay(let time):
                answer.workTime += time
            default:
                continue
            }
        }
    }

    private func damage(_ frame: Frame) -> FieldAnswer.Reply {
        guard frame.bitCount < 8, let octet = frame.bytes.first else { return .damaged }
        let bit = UInt8(random % UInt64(frame.bitCount))
        return .frame(Frame(bits: [octet ^ 1 << bit], validBitsInLastByte: frame.validBitsInLastByte))
    }
}

extension Fault {
    fileprivate var isCall: Bool {
        if case .call = effect { true } else { false }
    }
}

extension TornWrite {
    /// The same, with random choices that differ from fault to fault of a plan.
    fileprivate func seeded(_ random: UInt64) -> TornWrite {
        if case .mixed(let seed) = self { .mixed(seed: seed ^ random) } else { self }
    }
}
