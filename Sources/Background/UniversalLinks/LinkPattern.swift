// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A pattern in a rule for one component of a URL: bytes, `?` for one character, `*` for any number of characters, and
/// variables with several values.
///
/// The pattern and the text are compared from left to right. On a mismatch, the last star takes one more byte. If there
/// is no variable between two stars, only the later star must be tried again, so the number of steps is at most the
/// length of the text times the length of the longest part between stars. Variables whose values fit in several ways
/// may need many more steps; ``MatchWork`` limits these.
struct LinkPattern: Sendable {
    /// An element of a pattern, or of a variable's value.
    enum Piece: Sendable, Hashable {
        case byte(UInt8)
        case oneCharacter
        /// A star. `replacesLast` means that the star before it need not be tried again.
        case anything(replacesLast: Bool)
        /// Any value of a variable, given by the index of the variable in ``variables``.
        case oneOf(Int)
    }

    private let pieces: [Piece]
    /// The values of the variables in the pattern. An undefined variable has no values, so it matches nothing.
    private let variables: [[[Piece]]]
    /// Whether this is a path pattern that ends in `/*`, so that it also matches the path without `/*`.
    private let takesParent: Bool

    /// - Parameters:
    ///   - isPath: whether the pattern is for a path. Then slashes at the start and end are ignored, and `/*` at the
    ///     end also matches the path without it.
    ///   - ignoresCase: whether the pattern is compared with texts in lower case.
    init(_ text: String, isPath: Bool = false, ignoresCase: Bool = false, variables: SubstitutionVariables) {
        var bytes = (ignoresCase ? Self.foldedPattern(text) : Array(text.utf8))[...]
        if isPath {
            bytes = bytes.drop { $0 == 0x2F }
            while bytes.last == 0x2F { bytes.removeLast() }
            if !bytes.isEmpty { bytes = [0x2F] + bytes }
        }
        var used: [[[Piece]]] = []
        pieces = Self.pieces(bytes) { name in
            used.append(variables.values(of: name, ignoringCase: ignoresCase) ?? [])
            return used.count - 1
        }
        self.variables = used
        let isOpen = if case .anything = pieces.last { true } else { false }
        takesParent = isPath && isOpen && pieces.dropLast().last == .byte(0x2F)
    }

    /// Parses a pattern or a value. `variable` returns the index of the variable with a name; nil if the text can't
    /// contain variables.
    static func pieces(_ text: ArraySlice<UInt8>, variable: (String) -> Int? = { _ in nil }) -> [Piece] {
        var pieces: [Piece] = []
        var hasStar = false
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case 0x2A:
                // Consecutive stars mean the same as one star.
                if case .anything = pieces.last { continue }
                pieces.append(.anything(replacesLast: hasStar))
                hasStar = true
            case 0x3F: pieces.append(.oneCharacter)
            case 0x24 where rest.first == 0x28:
                let name = rest.dropFirst().prefix { $0 != 0x29 }
                if name.endIndex < rest.endIndex, let index = variable(String(decoding: name, as: UTF8.self)) {
                    pieces.append(.oneOf(index))
                    hasStar = false
                    rest = rest[(name.endIndex + 1)...]
                } else {
                    pieces.append(.byte(byte))
                }
            default: pieces.append(.byte(byte))
            }
        }
        return pieces
    }

    // MARK: Comparing

    private struct Cursor {
        var piece = 0
        /// If the piece is a variable: the index of the value, and the position in that value.
        var value = 0
        var valuePiece = 0
        var text = 0
        /// Whether the piece before is a star, which can take one more byte.
        var isAfterStar = false
    }

    /// Returns whether the pattern matches a whole text. False if the work is used up.
    func matches(_ text: [UInt8], _ work: inout MatchWork) -> Bool {
        var cursor = Cursor()
        var alternatives: [Cursor] = []
        while work.spend(1) {
            let isAtEnd = cursor.text == text.count
            if cursor.piece == pieces.count, isAtEnd || cursor.isAfterStar { return true }
            if takesParent, isAtEnd, cursor.piece == pieces.count - 2 { return true }
            if cursor.piece < pieces.count, advance(&cursor, in: text, &alternatives) { continue }
            guard let other = alternatives.popLast() else { return false }
            cursor = other
            if other.isAfterStar { Self.tryLater(other, in: text, &alternatives) }
        }
        return false
    }

    /// Moves past one piece. Returns false if the text differs from the piece.
    private func advance(_ cursor: inout Cursor, in text: [UInt8], _ alternatives: inout [Cursor]) -> Bool {
        guard case .oneOf(let index) = pieces[cursor.piece] else {
            guard Self.take(pieces[cursor.piece], &cursor, in: text, &alternatives) else { return false }
            cursor.piece += 1
            if cursor.isAfterStar { Self.tryLater(cursor, in: text, &alternatives) }
            return true
        }
        guard cursor.value < variables[index].count else { return false }
        let value = variables[index][cursor.value]
        if cursor.valuePiece == 0 {
            alternatives.append(Cursor(piece: cursor.piece, value: cursor.value + 1, text: cursor.text))
        }
        guard cursor.valuePiece < value.count else {
            cursor = Cursor(piece: cursor.piece + 1, text: cursor.text)
            return true
        }
        guard Self.take(value[cursor.valuePiece], &cursor, in: text, &alternatives) else { return false }
        cursor.valuePiece += 1
        if cursor.isAfterStar { Self.tryLater(cursor, in: text, &alternatives) }
        return true
    }

    /// Moves past the bytes of a piece that is not a variable.
    private static func take(
        _ piece: Piece,
        _ cursor: inout Cursor,
        in text: [UInt8],
        _ alternatives: inout [Cursor]
    ) -> Bool {
        cursor.isAfterStar = false
        switch piece {
        case .anything(let replacesLast):
            if replacesLast { alternatives.removeLast() }
            cursor.isAfterStar = true
        case .byte(let byte):
            guard cursor.text < text.count, text[cursor.text] == byte else { return false }
            cursor.text += 1
        case .oneCharacter:
            // The bytes 80 to BF continue a UTF-8 character and never start one.
            guard cursor.text < text.count, text[cursor.text] & 0xC0 != 0x80 else { return false }
            repeat { cursor.text += 1 } while cursor.text < text.count && text[cursor.text] & 0xC0 == 0x80
        case .oneOf: return false
        }
        return true
    }

    /// Stores an alternative in which the star before the cursor takes one more byte.
    private static func tryLater(_ cursor: Cursor, in text: [UInt8], _ alternatives: inout [Cursor]) {
        guard cursor.text < text.count else { return }
        var later = cursor
        later.text += 1
        alternatives.append(later)
    }

    // MARK: Case

    /// Returns a text in lower case. Each character becomes exactly one character.
    static func folded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        guard bytes.contains(where: { $0 >= 0x80 }) else {
            return bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        }
        var result = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let lower = scalar.properties.lowercaseMapping.unicodeScalars
            result.unicodeScalars.append(lower.count == 1 ? lower.first ?? scalar : scalar)
        }
        return Array(result.utf8)
    }

    /// Returns a pattern in lower case, with the names of variables unchanged.
    private static func foldedPattern(_ text: String) -> [UInt8] {
        var rest = Array(text.utf8)[...]
        var result: [UInt8] = []
        while let start = rest.firstRange(of: "$(".utf8), let end = rest[start.upperBound...].firstIndex(of: 0x29) {
            result += folded(rest[..<start.lowerBound]) + rest[start.lowerBound...end]
            rest = rest[(end + 1)...]
        }
        return result + folded(rest)
    }
}

/// The values for `$(name)` in a pattern (Apple, applinks.SubstitutionVariables).
struct SubstitutionVariables: Sendable {
    private var values: [ExactText: [[LinkPattern.Piece]]] = [:]
    private var foldedValues: [ExactText: [[LinkPattern.Piece]]] = [:]

    /// Creates the variables of a file, in addition to the predefined variables. A variable in the file replaces the
    /// predefined variable with the same name.
    init(_ own: [AssociationFile.Variable]) {
        for variable in own where Self.isName(variable.name) {
            set(ExactText(variable.name), variable.values)
        }
    }

    private init() {}

    private mutating func set(_ name: ExactText, _ texts: [String]) {
        // A value may contain wildcards, but no variables.
        values[name] = texts.map { LinkPattern.pieces(Array($0.utf8)[...]) }
        foldedValues[name] = texts.map { LinkPattern.pieces(LinkPattern.folded($0.utf8)[...]) }
    }

    static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains { [0x24, 0x28, 0x29].contains($0) }
    }

    func values(of name: String, ignoringCase: Bool) -> [[LinkPattern.Piece]]? {
        let name = ExactText(name)
        return ignoringCase
            ? foldedValues[name] ?? Self.predefined.foldedValues[name] : values[name] ?? Self.predefined.values[name]
    }

    static func isPredefined(_ name: String) -> Bool { predefined.values[ExactText(name)] != nil }

    private static let predefined: SubstitutionVariables = {
        let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".map(String.init)
        let lower = upper.map { $0.lowercased() }
        let digits = (0...9).map(String.init)
        var result = SubstitutionVariables()
        result.set("alpha", upper + lower)
        result.set("upper", upper)
        result.set("lower", lower)
        result.set("alnum", upper + lower + digits)
        result.set("digit", digits)
        result.set("xdigit", digits + upper[..<6] + lower[..<6])
        // Foundation's list also has numeric regions of three digits, which a phone's list lacks. The regions with two
        // letters are the same.
        result.set("region", Locale.Region.isoRegions.map(\.identifier).filter { $0.utf8.count == 2 })
        result.set("lang", Locale.LanguageCode.isoLanguageCodes.map(\.identifier))
        return result
    }()
}
