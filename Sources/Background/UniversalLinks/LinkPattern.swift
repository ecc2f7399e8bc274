// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The compiled pattern of a rule for one component of a URL.
struct LinkPattern: Sendable {
    private enum Engine: Sendable {
        case everything
        case nothing
        case literal([UInt8])
        /// A literal, followed by anything. For a path that ends in `/*`, the literal without its slash matches too.
        case prefix([UInt8], takesParent: Bool)
        case automaton(PatternAutomaton)
    }

    private let engine: Engine
    /// The number of states of the pattern; 0 for patterns that need no automaton.
    let stateCount: Int
    /// The first bytes of every text that matches, up to the number that is compared at once; empty when case is
    /// ignored.
    let fixedBeginning: [UInt8]

    /// How a pattern is read and compared.
    struct Options {
        var ignoresCase = false
        /// Whether the pattern is for a path: slashes at the start and end are ignored, and `/*` at the end also
        /// matches the path before it.
        var isPath = false
        var variables = SubstitutionVariables()
    }

    /// Compiles a pattern.
    ///
    /// A pattern with an undefined variable matches nothing, and neither does one that is too long.
    init(_ text: String, _ options: Options) {
        guard let pieces = Self.pieces(text, options) else {
            engine = .nothing
            stateCount = 0
            fixedBeginning = []
            return
        }
        let literal = pieces.prefix { if case .byte = $0 { true } else { false } }.map { piece -> UInt8 in
            if case .byte(let byte) = piece { byte } else { 0 }
        }
        let rest = pieces[literal.count...]
        // The path before `/*` matches too, without its slash.
        let takesParent = options.isPath && literal.last == 0x2F && rest.elementsEqual([.anything])
        fixedBeginning =
            options.ignoresCase
            ? [] : Array((takesParent ? literal.dropLast() : literal).prefix(CompiledRules.Beginning.length))
        if pieces == (options.isPath ? [.byte(0x2F), .anything] : [.anything]) {
            engine = .everything
        } else if rest.isEmpty, !options.ignoresCase {
            engine = .literal(literal)
        } else if rest.elementsEqual([.anything]), !options.ignoresCase {
            engine = .prefix(literal, takesParent: takesParent)
        } else if let automaton = PatternAutomaton(
            pieces,
            ignoresCase: options.ignoresCase,
            takesParent: options.isPath
        ) {
            engine = .automaton(automaton)
            stateCount = automaton.stateCount
            return
        } else {
            engine = .nothing
        }
        stateCount = 0
    }

    /// Whether the pattern matches every text.
    var matchesEverything: Bool {
        if case .everything = engine { true } else { false }
    }

    /// The number of steps for each byte of a text.
    var stepsPerByte: Int {
        switch engine {
        case .everything, .nothing: 0
        case .literal, .prefix: 1
        case .automaton(let automaton): automaton.stepsPerByte
        }
    }

    /// Returns whether the pattern matches a text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - work: the remaining work. When it is not enough, the result is false.
    func matches(_ text: ArraySlice<UInt8>, _ work: inout MatchWork) -> Bool {
        let steps = stepsPerByte * text.count
        guard work.spend(steps) else { return false }
        return switch engine {
        case .everything: true
        case .nothing: false
        case .literal(let bytes): text.elementsEqual(bytes)
        case .prefix(let bytes, let takesParent):
            text.starts(with: bytes) || takesParent && text.elementsEqual(bytes.dropLast())
        case .automaton(let automaton): automaton.matches(text)
        }
    }

    // MARK: Reading

    private static func pieces(_ text: String, _ options: Options) -> [PatternAutomaton.Piece]? {
        var bytes = (options.ignoresCase ? folded(text) : Array(text.utf8))[...]
        if options.isPath {
            bytes = bytes.drop { $0 == 0x2F }
            while bytes.last == 0x2F { bytes.removeLast() }
            if !bytes.isEmpty { bytes = [0x2F] + bytes }
        }
        var pieces: [PatternAutomaton.Piece] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == 0x24, bytes[(index + 1)...].first == 0x28,
                let end = bytes[(index + 2)...].firstIndex(of: 0x29)
            {
                let name = String(decoding: bytes[(index + 2)..<end], as: UTF8.self)
                guard let values = options.variables.alternatives(of: name, ignoringCase: options.ignoresCase) else {
                    return nil
                }
                pieces.append(.oneOf(values))
                index = end + 1
                continue
            }
            switch byte {
            // Consecutive stars are the same as one.
            case 0x2A: if pieces.last != .anything { pieces.append(.anything) }
            case 0x3F: pieces.append(.oneCharacter)
            default: pieces.append(.byte(byte))
            }
            index += 1
        }
        return pieces
    }

    /// Returns a pattern with its letters outside ASCII in lower case, except in the names of variables.
    private static func folded(_ text: String) -> [UInt8] {
        var rest = Array(text.utf8)[...]
        guard rest.contains(where: { $0 >= 0x80 }) else { return Array(rest) }
        var result: [UInt8] = []
        while let start = rest.firstRange(of: "$(".utf8), let end = rest[start.upperBound...].firstIndex(of: 0x29) {
            result += CompiledRules.folded(Array(rest[..<start.lowerBound]))
            result += rest[start.lowerBound...end]
            rest = rest[(end + 1)...]
        }
        return result + CompiledRules.folded(Array(rest))
    }
}

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

/// The values for `$(name)` in a pattern (Apple, applinks.SubstitutionVariables).
struct SubstitutionVariables: Sendable {
    private var values: [ExactText: [[PatternAutomaton.Piece]]] = [:]
    /// The same with the letters outside ASCII in lower case. The automaton handles ASCII letters.
    private var foldedValues: [ExactText: [[PatternAutomaton.Piece]]] = [:]

    /// Creates the variables of a file. The predefined variables are included. A variable of the file replaces a
    /// predefined one with the same name.
    init(_ own: [AssociationFile.Variable] = []) {
        for variable in own where Self.isName(variable.name) {
            let texts = variable.values.map { Array($0.utf8) }
            values[ExactText(variable.name)] = texts.map(Self.pieces)
            foldedValues[ExactText(variable.name)] = texts.map { Self.pieces(CompiledRules.folded($0)) }
        }
    }

    /// Returns whether a pattern can refer to a variable with this name.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains { [0x24, 0x28, 0x29].contains($0) }
    }

    /// Returns the alternatives of a variable; nil when it is not defined.
    func alternatives(of name: String, ignoringCase: Bool) -> [[PatternAutomaton.Piece]]? {
        let name = ExactText(name)
        return (ignoringCase ? foldedValues : values)[name] ?? Self.predefined[name]
    }

    /// Returns whether a variable is predefined.
    static func isPredefined(_ name: String) -> Bool { predefined[ExactText(name)] != nil }

    /// Returns the pieces of a value. It may have wildcards, but no variables.
    private static func pieces(_ value: [UInt8]) -> [PatternAutomaton.Piece] {
        value.map { byte in
            switch byte {
            case 0x2A: .anything
            case 0x3F: .oneCharacter
            default: .byte(byte)
            }
        }
    }

    private static let predefined: [ExactText: [[PatternAutomaton.Piece]]] = {
        let upper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { [PatternAutomaton.Piece.byte($0)] }
        let lower = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { [PatternAutomaton.Piece.byte($0)] }
        let digit = (UInt8(ascii: "0")...UInt8(ascii: "9")).map { [PatternAutomaton.Piece.byte($0)] }
        // This list has more regions than a phone's, which has no numeric ones: these have three digits. The others have two
        // letters, and are the same.
        let regions = Locale.Region.isoRegions.map(\.identifier).filter { $0.utf8.count == 2 }
        let languages = Locale.LanguageCode.isoLanguageCodes.map(\.identifier)
        return [
            "alpha": upper + lower,
            "upper": upper,
            "lower": lower,
            "alnum": upper + lower + digit,
            "digit": digit,
            "xdigit": digit + upper[..<6] + lower[..<6],
            "region": regions.map { pieces(Array($0.utf8)) },
            "lang": languages.map { pieces(Array($0.utf8)) },
        ]
    }()
}
