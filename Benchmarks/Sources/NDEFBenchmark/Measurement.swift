// SPDX-License-Identifier: Apache-2.0

/// The rate of an operation in messages per second.
struct Measurement: Sendable {
    /// The name of the operation, as a key.
    var name: String
    /// The name of the operation, for people.
    var title: String
    /// The best round, in messages per second.
    var best: Double
    /// The median round.
    var median: Double

    /// Measures an operation.
    ///
    /// - Parameters:
    ///   - rounds: the number of rounds. The best and the median are kept, because the machine may have other work.
    ///   - messages: the number of messages that one call of `body` handles.
    ///   - body: the operation. Returns a number that depends on all of its work, so that the compiler can't remove
    ///     any of it.
    static func run(
        _ name: String,
        _ title: String,
        rounds: Int,
        messages: Int,
        _ body: () throws -> Int
    ) rethrows -> Measurement {
        // The number of calls in a round, doubled until a round takes more than 20 ms.
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

    /// Uses a value in a way that the compiler can't remove.
    @inline(never)
    private static func blackHole(_ value: Int) {
        if value == .min { print("") }
    }
}
