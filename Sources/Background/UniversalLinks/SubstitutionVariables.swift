// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The values for `$(name)` in a pattern (Apple, applinks.SubstitutionVariables).
struct SubstitutionVariables: Sendable {
    private var values: [String: [[PatternAutomaton.Piece]]]

    /// Creates the variables of a file. The predefined variables are included. A variable of the file replaces a
    /// predefined one with the same name.
    init(_ own: [String: [String]] = [:]) {
        values = own.filter { Self.isName($0.key) }.mapValues { $0.map(Self.pieces) }
    }

    /// Returns whether a pattern can refer to a variable with this name.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains { [0x24, 0x28, 0x29].contains($0) }
    }

    /// The alternatives of a variable; nil when it is not defined.
    subscript(name: String) -> [[PatternAutomaton.Piece]]? {
        values[name] ?? Self.predefined[name]
    }

    /// Returns whether a variable is predefined.
    static func isPredefined(_ name: String) -> Bool { predefined[name] != nil }

    /// Returns the pieces of a value. It may have wildcards, but no variables.
    private static func pieces(_ value: String) -> [PatternAutomaton.Piece] {
        value.utf8.map { byte in
            switch byte {
            case 0x2A: .anything
            case 0x3F: .oneCharacter
            default: .byte(byte)
            }
        }
    }

    private static let predefined: [String: [[PatternAutomaton.Piece]]] = {
        let upper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { [PatternAutomaton.Piece.byte($0)] }
        let lower = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { [PatternAutomaton.Piece.byte($0)] }
        let digit = (UInt8(ascii: "0")...UInt8(ascii: "9")).map { [PatternAutomaton.Piece.byte($0)] }
        // This list has more regions than a phone's, which has no numeric ones. The two-letter regions are the same.
        let regions = Locale.Region.isoRegions.map(\.identifier).filter { code in
            code.utf8.count == 2 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        }
        let languages = Locale.LanguageCode.isoLanguageCodes.map(\.identifier)
        return [
            "alpha": upper + lower,
            "upper": upper,
            "lower": lower,
            "alnum": upper + lower + digit,
            "digit": digit,
            "xdigit": digit + upper[..<6] + lower[..<6],
            "region": regions.map(pieces),
            "lang": languages.map(pieces),
        ]
    }()
}
