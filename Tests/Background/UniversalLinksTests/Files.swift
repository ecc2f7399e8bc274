// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

// Association files of a few words, for all suites.

/// A file with these entries.
func associationFile(entries: String, other: String = "") throws -> AssociationFile {
    try AssociationFile(parsing: Data(#"{"applinks":{\#(other)"details":\#(entries)}}"#.utf8))
}

/// A file whose one entry is for the app T.a.
func associationFile(rules: String, list: String = "components", other: String = "") throws -> AssociationFile {
    try associationFile(entries: #"[{"appIDs":["T.a"],"\#(list)":[\#(rules)]}]"#, other: other)
}

func link(_ path: String) throws -> LinkURL { try LinkURL("https://h.example\(path)") }

/// Whether the app T.a opens a link of a file with these rules.
func opens(_ rules: String, _ path: String, variables: String = "{}") throws -> Bool {
    let file = try associationFile(rules: rules, other: #""substitutionVariables":\#(variables),"#)
    return LinkMatcher(file).answer(try link(path), installed: ["T.a"]).app == "T.a"
}

/// A line of a table: `+` or `-`, what it is about, and a word at its end.
struct Row: Sendable, CustomTestStringConvertible {
    var isPositive: Bool
    var subject: String
    /// The last word; a full stop stands for none.
    var last: String
    var testDescription: String { "\(subject) \(last)" }

    /// Reads a table. Empty lines, and lines that begin with a number sign, are for the reader.
    static func table(_ text: String) -> [Row] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let words = line.split(separator: " ")
            let last = String(words.last ?? "")
            return Row(
                isPositive: line.hasPrefix("+"),
                subject: words.dropFirst().dropLast().joined(separator: " "),
                last: last == "." ? "" : last
            )
        }
    }
}
