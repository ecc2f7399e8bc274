// SPDX-License-Identifier: Apache-2.0
import PropertyTesting
import Testing

@Suite struct `Rules for random cases` {
    @Test func `Broken rule: reported with the simplest case that breaks it, and its seed`() async throws {
        let error = await #expect(throws: BrokenRule.self) {
            try await checkRule(cases: 100, of: { $0.array(count: 0...20) { $0.int(in: 0...1000) } }) { numbers in
                numbers.contains { $0 >= 100 } ? "A number is too large." : nil
            }
        }
        let text = try #require(error?.description)
        #expect(text.contains("[100]\nA number is too large."), "\(text)")
        #expect(text.contains("PROPERTY_SEED=1"))
    }

    @Test func `Rule that throws: counts as broken`() async {
        struct Failure: Error {}
        await #expect(throws: BrokenRule.self) {
            try await checkRule(cases: 1, of: { $0.int(in: 0...1) }) { _ in throw Failure() }
        }
    }

    @Test func `Rule that holds: tried on each case; the cases differ, and are the same in each run`() async throws {
        var runs: [[[UInt8]]] = []
        for _ in 0..<2 {
            var cases: [[UInt8]] = []
            try await checkRule(cases: 50, of: { $0.bytes(count: 3...3) }) { bytes in
                cases.append(bytes)
                return nil
            }
            runs.append(cases)
        }
        #expect(runs[0].count == 50 && runs[0] == runs[1])
        #expect(Set(runs[0]).count > 45)
    }

    @Test func `Random numbers: each of the range, and no other`() async throws {
        var found: Set<Int> = []
        try await checkRule(cases: 200, of: { $0.int(in: -2...3) }) { number in
            found.insert(number)
            return nil
        }
        #expect(found == Set(-2...3))
    }
}
