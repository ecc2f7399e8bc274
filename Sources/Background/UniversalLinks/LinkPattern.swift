// SPDX-License-Identifier: Apache-2.0

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
