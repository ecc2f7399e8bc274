// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A fault that happens once, at a certain exchange or write.
public struct Fault: Sendable, CustomStringConvertible {
    /// The effect of a fault.
    public enum Effect: Sendable {
        /// All tags leave the field before they receive the request.
        case loss
        /// The tag receives the request and performs it, but the reader does not receive the answer.
        case mute
        /// The tag does not receive the request.
        case deaf
        /// One bit of the answer is wrong. In complete bytes the parity shows this. In an answer of a few bits nothing
        /// shows it.
        case bitError
        /// The tag refuses the command with this 4-bit code, and changes its state like after any refusal.
        case refusal(UInt8)
        /// The answer has this many additional bytes, with a correct checksum.
        case tooLong(by: Int)
        /// The answer lacks this many bytes, with a correct checksum. An empty answer is not received.
        case tooShort(by: Int)
        /// The tag answers this much later.
        case delay(Airtime)
        /// Before the request, this tag replaces all others.
        case swap(any VirtualTag)
        /// The power is cut while the tag programs its memory. The reader receives nothing, and all tags are gone.
        case powerCut(TornWrite)
        /// The power is too low to program the memory. The tag resets, keeps its memory and stays.
        case brownOut
        /// Before the request, this closure is called once, on the caller's thread and outside of locks. It may bring
        /// and remove tags. If it cancels the task of the exchange, nothing is sent.
        case call(@Sendable () -> Void)
    }

    /// When a fault happens.
    public enum Trigger: Sendable, Hashable {
        /// At an exchange, counted from 0.
        case exchange(Int)
        /// At a command that programs the tag's memory, counted from 1.
        case write(Int)
        /// At each command that programs the tag's memory.
        case everyWrite
    }

    /// When the fault happens.
    public var trigger: Trigger
    /// The effect of the fault.
    public var effect: Effect

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - effect: the effect of the fault.
    ///   - trigger: when it happens. At an exchange that programs nothing, `powerCut` and `brownOut` have no effect. At
    ///     a write, a `loss` happens right after it; `deaf`, `swap` and `call` have no effect, because they happen
    ///     before a request.
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
