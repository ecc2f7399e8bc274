// SPDX-License-Identifier: Apache-2.0

/// A compiled pattern: literal bytes, `?` for one character, `*` for any number of characters, and sets of
/// alternatives.
///
/// It follows all alternatives at once, with one bit for each state. The time is proportional to the length of the text
/// times the length of the pattern, divided by 64, so no pattern is slow. This is the Shift-And method of Baeza-Yates
/// and Gonnet, with loops for `*` and jumps for alternatives.
struct PatternAutomaton: Sendable {
    /// The jumps around a set of alternatives. The numbers are states; later sets have higher numbers.
    private struct Alternatives: Sendable {
        var entry: Int
        var starts: [Int]
        var ends: [Int]
        var exit: Int
    }

    /// The most states of one pattern. A longer one matches nothing.
    static let maximumStates = 1 << 14

    /// The number of states.
    let stateCount: Int
    private let words: Int
    /// For each byte value the states that it leads to, in `words` words.
    private var reached: [UInt64]
    /// The states that remain active for any byte: those before a `*`.
    private var loops: [UInt64]
    /// The states that remain active for a byte that continues a character: those reached by `?`.
    private var continues: [UInt64]
    private var accepting: [UInt64]
    private var alternatives: [Alternatives] = []
    /// The number of steps for each byte of a text.
    private(set) var stepsPerByte = 1

    /// An element of a pattern.
    enum Piece: Hashable, Sendable {
        case byte(UInt8)
        case oneCharacter
        case anything
        case oneOf([[Piece]])
    }

    /// Compiles a pattern.
    ///
    /// - Parameters:
    ///   - pieces: the pattern.
    ///   - ignoresCase: whether ASCII letters match in either case.
    ///   - takesParent: whether a pattern that ends in `/*` also matches the path before it.
    /// - Returns: nil when it has more than ``maximumStates`` states.
    init?(_ pieces: [Piece], ignoresCase: Bool, takesParent: Bool) {
        let count = Self.stateCount(pieces)
        guard count <= Self.maximumStates else { return nil }
        stateCount = count
        words = (count + 63) / 64
        reached = Array(repeating: 0, count: 256 * words)
        loops = Array(repeating: 0, count: words)
        continues = loops
        accepting = loops
        var next = 1
        let end = add(pieces, at: 0, &next, ignoresCase)
        Self.insert(end, into: &accepting)
        if takesParent, pieces.suffix(2) == [.byte(0x2F), .anything] { Self.insert(end - 1, into: &accepting) }
        stepsPerByte = words + alternatives.reduce(0) { $0 + 2 + $1.ends.count }
    }

    private static func stateCount(_ pieces: [Piece]) -> Int {
        var count = 1
        for piece in pieces {
            switch piece {
            case .byte, .oneCharacter: count += 1
            case .anything: break
            case .oneOf(let values):
                count += 1
                for value in values {
                    count += stateCount(value)
                    if count > maximumStates { return count }
                }
            }
        }
        return count
    }

    /// Adds pieces after a state.
    ///
    /// - Returns: the state after them.
    private mutating func add(_ pieces: [Piece], at start: Int, _ next: inout Int, _ ignoresCase: Bool) -> Int {
        var state = start
        for piece in pieces {
            switch piece {
            case .byte(let byte):
                state = next
                next += 1
                reach(state, by: byte)
                if ignoresCase, (0x41...0x5A).contains(byte & 0xDF), byte < 0x80 { reach(state, by: byte ^ 0x20) }
            case .oneCharacter:
                state = next
                next += 1
                // The bytes 80 to BF continue a UTF-8 character and never start one.
                for byte in UInt8.min...UInt8.max where byte & 0xC0 != 0x80 { reach(state, by: byte) }
                Self.insert(state, into: &continues)
            case .anything:
                Self.insert(state, into: &loops)
            case .oneOf(let values):
                var set = Alternatives(entry: state, starts: [], ends: [], exit: 0)
                for value in values {
                    // A state that no byte leads to, so that the previous value can't continue into this one.
                    let first = next
                    next += 1
                    set.starts.append(first)
                    set.ends.append(add(value, at: first, &next, ignoresCase))
                }
                state = next
                next += 1
                set.exit = state
                alternatives.append(set)
            }
        }
        return state
    }

    private mutating func reach(_ state: Int, by byte: UInt8) {
        reached[Int(byte) * words + state >> 6] |= 1 << UInt64(state & 63)
    }

    private static func insert(_ state: Int, into set: inout [UInt64]) {
        set[state >> 6] |= 1 << UInt64(state & 63)
    }

    private static func contains(_ state: Int, _ set: [UInt64]) -> Bool {
        set[state >> 6] >> UInt64(state & 63) & 1 == 1
    }

    /// Returns whether the pattern matches a whole text.
    func matches(_ text: ArraySlice<UInt8>) -> Bool {
        if words == 1, alternatives.isEmpty { return matchesInOneWord(text) }
        var active = [UInt64](repeating: 0, count: words)
        active[0] = 1
        jump(&active)
        for byte in text {
            let row = Int(byte) * words
            let isContinuation = byte & 0xC0 == 0x80
            var carry: UInt64 = 0
            var isAlive: UInt64 = 0
            for word in 0..<words {
                let shifted = active[word] << 1 | carry
                carry = active[word] >> 63
                let stays = isContinuation ? loops[word] | continues[word] : loops[word]
                active[word] = shifted & reached[row + word] | active[word] & stays
                isAlive |= active[word]
            }
            if isAlive == 0 { return false }
            if !alternatives.isEmpty { jump(&active) }
        }
        return zip(active, accepting).contains { $0 & $1 != 0 }
    }

    private func matchesInOneWord(_ text: ArraySlice<UInt8>) -> Bool {
        var active: UInt64 = 1
        for byte in text {
            let stays = byte & 0xC0 == 0x80 ? loops[0] | continues[0] : loops[0]
            active = active << 1 & reached[Int(byte)] | active & stays
            if active == 0 { return false }
        }
        return active & accepting[0] != 0
    }

    /// Enters and leaves alternatives. The sets are in the order of their states, so one pass is enough.
    private func jump(_ active: inout [UInt64]) {
        for set in alternatives {
            if Self.contains(set.entry, active) { for start in set.starts { Self.insert(start, into: &active) } }
            if set.ends.contains(where: { Self.contains($0, active) }) { Self.insert(set.exit, into: &active) }
        }
    }
}
