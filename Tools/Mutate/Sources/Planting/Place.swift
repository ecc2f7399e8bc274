// SPDX-License-Identifier: Apache-2.0

/// A place in a source file where one small bug can be planted.
///
/// Offsets count bytes from the start of the file.
public struct Place: Sendable, Equatable, Codable {
    /// What stands in `replacement` where the number of the mutant goes.
    public static let number = "\u{1}"

    /// What kind of bug it is, which the reports show and the sample is spread over.
    public var kind: Kind
    /// The line of the place, counted from 1.
    public var line: Int
    /// The range of bytes that `replacement` takes the place of. It is empty where a statement is inserted.
    public var start: Int
    public var end: Int
    /// Source that does what the original does until the mutant is switched on.
    public var replacement: String
    /// The original and the mutated source, to show.
    public var before: String
    public var after: String
    /// The innermost statement around the place: at most one place of a statement is planted in one build, so that no
    /// expression gets too hard for the type checker.
    public var statementStart: Int
    /// The member or function around the place: where the compiler complains with no place near, those of the declaration go.
    public var declarationStart: Int
    public var declarationEnd: Int
    /// How likely the place is chosen beside others of its kind: corner branches are preferred, tables come last.
    public var weight: Double

    /// The kinds of bugs.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        case comparison, logic, arithmetic, bits, literal, condition, branch, statement, exit, order, arguments, range,
            fallback
        case member, element, result, synchronization
    }
}
