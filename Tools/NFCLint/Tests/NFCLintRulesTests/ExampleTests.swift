// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// The examples of each rule are its tests.
@Suite struct ExampleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var rule: Rule
        var number: Int
        var example: Example

        var testDescription: String { "\(rule.id), example \(number)" }
    }

    static func cases(_ examples: KeyPath<Rule, [Example]>) -> [Case] {
        Rules.all.flatMap { rule in
            rule[keyPath: examples].enumerated().map { Case(rule: rule, number: $0.offset, example: $0.element) }
        }
    }

    /// The project of an example; the content of a tag is passed as an option.
    private func project(_ example: Case) -> Project {
        let images = Set(example.example.files.map(\.path).filter { $0.hasSuffix(".ndef") })
        return Project(MemoryFiles(example.example), options: ProjectOptions(images: images))
    }

    @Test(arguments: cases(\.bad))
    func `A bad example has a finding of its rule`(_ example: Case) {
        let findings = Linter([example.rule]).check(project(example))
        #expect(findings.contains { $0.id == example.rule.id })
    }

    @Test(arguments: cases(\.good))
    func `A good example has no finding of its rule`(_ example: Case) {
        let findings = Linter([example.rule]).check(project(example))
        #expect(findings == [])
    }

    @Test func `Every rule has examples, and its own id`() {
        for rule in Rules.all {
            #expect(!rule.bad.isEmpty && !rule.good.isEmpty, "\(rule.id)")
        }
        #expect(Set(Rules.all.map(\.id)).count == Rules.all.count)
        #expect(Rules.all.map(\.id) == Rules.all.map(\.id).sorted())
    }
}
