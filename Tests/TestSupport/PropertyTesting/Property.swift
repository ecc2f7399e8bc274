// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A case in which a rule does not hold: the simplest that was found.
package struct BrokenRule: Error, CustomStringConvertible {
    /// The case in words, the problem, and how to run the case again.
    package let description: String
}

/// Checks a rule on random cases, and reports the simplest that breaks it.
///
/// The cases are the same in each run. The environment variable `PROPERTY_SEED` chooses others.
///
/// - Parameters:
///   - cases: the number of cases.
///   - make: makes a case.
///   - problem: returns what is wrong with a case; nil when the rule holds. A thrown error also breaks the rule.
/// - Throws: ``BrokenRule``.
package func checkRule<Case>(
    cases: Int,
    of make: (inout Draws) -> Case,
    problem: (Case) async throws -> String?
) async throws {
    let seed = unsafe getenv("PROPERTY_SEED").flatMap { unsafe UInt64(String(cString: $0)) } ?? 1
    for number in 0..<UInt64(cases) {
        var draws = Draws(seed: seed &+ number &* 0xD1B5_4A32_D192_ED03)
        let value = make(&draws)
        guard let first = await words(value, problem) else { continue }
        var simplest = Found(numbers: draws.drawn, words: "\(value)\n\(first)")
        var attempts = 500
        while attempts > 0, let simpler = await simplify(simplest, &attempts, make, problem) { simplest = simpler }
        throw BrokenRule(
            description: """
                The rule is broken by case \(number) of seed \(seed), made simpler:
                \(simplest.words)
                Run it again with PROPERTY_SEED=\(seed).
                """
        )
    }
}

/// A case that breaks the rule.
private struct Found {
    var numbers: [UInt64]
    var words: String
}

/// Returns the first simpler case that breaks the rule too; nil when there is none.
private func simplify<Case>(
    _ found: Found,
    _ attempts: inout Int,
    _ make: (inout Draws) -> Case,
    _ problem: (Case) async throws -> String?
) async -> Found? {
    for numbers in simpler(found.numbers) {
        guard attempts > 0 else { return nil }
        attempts -= 1
        var draws = Draws(replaying: numbers)
        let value = make(&draws)
        // What was really drawn is shorter than what was offered where a smaller number made fewer elements.
        guard isSimpler(draws.drawn, than: found.numbers), let words = await words(value, problem) else { continue }
        return Found(numbers: draws.drawn, words: "\(value)\n\(words)")
    }
    return nil
}

private func words<Case>(_ value: Case, _ problem: (Case) async throws -> String?) async -> String? {
    do {
        return try await problem(value)
    } catch {
        return "It throws \(error)."
    }
}

private func isSimpler(_ numbers: [UInt64], than others: [UInt64]) -> Bool {
    numbers.count < others.count || numbers.count == others.count && numbers.lexicographicallyPrecedes(others)
}

/// What to try in place of the numbers of a case, the shortest first.
private func simpler(_ numbers: [UInt64]) -> [[UInt64]] {
    var result: [[UInt64]] = []
    var length = numbers.count / 2
    while length > 0 {
        for start in stride(from: 0, through: numbers.count - length, by: max(1, length / 2)) {
            result.append(Array(numbers[..<start] + numbers[(start + length)...]))
            // An array that loses elements has a smaller count, too.
            for place in max(0, start - 2)..<start where numbers[place] > 0 {
                var shorter = numbers
                shorter[place] -= 1
                shorter.removeSubrange(start..<start + length)
                result.append(shorter)
            }
        }
        length /= 2
    }
    for (place, number) in numbers.enumerated() where number > 0 {
        for smaller in Set([0, number / 2, number - 1]).sorted() {
            var changed = numbers
            changed[place] = smaller
            result.append(changed)
        }
    }
    return result
}
