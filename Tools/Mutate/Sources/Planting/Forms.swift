// SPDX-License-Identifier: Apache-2.0

/// The forms in which a bug is planted. Each keeps what the compiler infers about types and initialization in most places.
///
/// The functions are declared at the end of a file with places: `dev/mutate` adds them.
enum Form {
    private static let on = "__mutantIsOn(\(Place.number))"

    /// One expression or the other. Both are there, so they are of one type.
    static func choice(_ mutated: String, _ original: String) -> String { "(\(on) ? \(mutated) : \(original))" }
    /// A condition that is negated.
    static func negated(_ condition: String) -> String { "__mutantFlips(\(Place.number), \(condition))" }
    /// A condition that always holds. It is still evaluated.
    static func held(_ condition: String) -> String { "__mutantHolds(\(Place.number), \(condition))" }
    /// A condition that never holds. It is still evaluated.
    static func failed(_ condition: String) -> String { "__mutantFails(\(Place.number), \(condition))" }
    /// A number that is one less.
    static func lessened(_ value: String) -> String { "__mutantLessens(\(Place.number), \(value))" }
    /// A statement that is left out.
    static func dropped(_ statement: String) -> String { "if !\(on) { \(statement) }" }
    /// One statement, or some, in place of others.
    static func statement(_ mutated: String, _ original: String) -> String {
        "if \(on) { \(mutated) } else { \(original) }"
    }
    /// A statement that is added.
    static func added(_ statement: String) -> String { "if \(on) { \(statement) }" }
}
