// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Decides which faults happen in each exchange, based on the switches and on earlier exchanges.
struct FieldFaults: Sendable {
    /// What to do with the field's faults before the next exchange.
    enum Plan: Sendable, Equatable {
        /// Keep the faults that are armed.
        case unchanged
        /// Arm these faults for one exchange.
        case faults([Kind])
    }

    /// A fault in one exchange.
    enum Kind: Sendable, Hashable {
        case loss, mute, damage, brownOut, tear
    }

    /// The exchanges and writes since the switch was set or a tag arrived.
    private var exchanges = 0
    private var writes = 0
    private var isArmed = false
    private var random: UInt64
    private(set) var seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        random = seed
    }

    /// Restarts the count after a tag has arrived, or `leave_after` was set.
    mutating func resetExchangeCount() { exchanges = 0 }

    /// Restarts the count after `tear_write` was set.
    mutating func resetWriteCount() { writes = 0 }

    /// How many exchanges and writes are left of a number that is counted from the start.
    func exchangesLeft(of count: Int) -> Int { max(0, count - exchanges) }
    func writesLeft(of write: Int) -> Int { max(1, write - writes) }

    /// Decides the faults of the next exchange.
    mutating func next(_ switches: Switches) -> Plan {
        var kinds: [Kind] = []
        if let limit = switches.leaveAfter, exchanges >= limit { kinds.append(.loss) }
        if switches.weakField { kinds.append(.brownOut) }
        if let write = switches.tearWrite, writes + 1 >= write { kinds.append(.tear) }
        if switches.noise > 0, draw() < switches.noise { kinds.append(draw() < 0.5 ? .mute : .damage) }
        exchanges += 1
        defer { isArmed = !kinds.isEmpty }
        return kinds.isEmpty && !isArmed ? .unchanged : .faults(kinds)
    }

    /// Counts an exchange that programmed a tag's memory.
    mutating func countWrite() { writes += 1 }

    /// The next pseudorandom number from 0 to 1. The seed determines the sequence.
    private mutating func draw() -> Double {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / Double(1 << 53)
    }
}

extension FaultPlan {
    /// Creates the plan for one exchange.
    init(_ kinds: [FieldFaults.Kind], seed: UInt64) {
        self.init(
            kinds.map { kind in
                switch kind {
                case .loss: Fault(.loss, at: .exchange(0))
                case .mute: Fault(.mute, at: .exchange(0))
                case .damage: Fault(.bitError, at: .exchange(0))
                case .brownOut: Fault(.brownOut, at: .everyWrite)
                case .tear: Fault(.powerCut(.mixed(seed: seed)), at: .write(1))
                }
            },
            seed: seed
        )
    }
}
