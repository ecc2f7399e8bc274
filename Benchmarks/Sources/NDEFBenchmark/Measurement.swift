// SPDX-License-Identifier: Apache-2.0

/// How many messages a second something does.
struct Measurement: Sendable {
    /// What was measured, as a key.
    var name: String
    /// What was measured, for people.
    var title: String
    /// The best round, in messages a second.
    var best: Double
    /// The round in the middle.
    var median: Double

    /// Measures.
    ///
    /// - Parameters:
    ///   - rounds: how many times; the best is taken, because the machine has other things to do.
    ///   - messages: how many messages one call does.
    ///   - body: does them, and gives a number that depends on all of the work so that none is left out.
    static func run(
        _ name: String,
        _ title: String,
        rounds: Int,
        messages: Int,
        _ body: () throws -> Int
    ) rethrows -> Measurement {
        // How many calls take about 50 ms.
        var calls = 1
        while true {
            let time = try duration(calls, body)
            if time > .milliseconds(20) { break }
            calls *= 2
        }
        var rates: [Double] = []
        for _ in 0..<rounds {
            let time = try duration(calls, body)
            rates.append(Double(calls * messages) / (time / .seconds(1)))
        }
        rates.sort()
        return Measurement(name: name, title: title, best: rates[rates.count - 1], median: rates[rates.count / 2])
    }

    private static func duration(_ calls: Int, _ body: () throws -> Int) rethrows -> Duration {
        let start = ContinuousClock.now
        var sum = 0
        for _ in 0..<calls { sum &+= try body() }
        let time = ContinuousClock.now - start
        blackHole(sum)
        return time
    }

    /// Takes a value where the compiler can't see it.
    @inline(never)
    private static func blackHole(_ value: Int) {
        if value == .min { print("") }
    }
}
