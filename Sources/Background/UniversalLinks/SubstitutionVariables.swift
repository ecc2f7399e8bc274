// SPDX-License-Identifier: Apache-2.0
import Foundation

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
