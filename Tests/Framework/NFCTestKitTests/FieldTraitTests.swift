// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import Testing

/// The field that the trait puts around a test.
@Suite(.timeLimit(.minutes(5))) struct `The trait of a field` {
    @Test func `It has the tags, the app and the seed that are given`() async throws {
        let test = try #require(Test.current)
        let names = try await withField("NTAG215", "NTAG213", seed: 7) { $0.tags.map(\.description) }
        let app = AppProperties(infoPlist: ["NFCReaderUsageDescription": "Cards are read."])
        let trait: FieldTrait = .field("NTAG215", "NTAG213", app: app, seed: 7)
        try await trait.provideScope(for: test, testCase: Test.Case.current) {
            let field = try #require(TestField.current)
            #expect(field.seed == 7 && field.tags.map(\.description) == names)
            #expect(field.environment.app?.infoPlist == ["NFCReaderUsageDescription": "Cards are read."])
        }
    }

    @Test func `A suite gets no field, since each of its tests does`() async throws {
        let test = try #require(Test.current)
        let trait: FieldTrait = .field("NTAG215")
        let scoped = NFCEnvironment.scoped
        try await trait.provideScope(for: test, testCase: nil) { #expect(NFCEnvironment.scoped === scoped) }
    }
}
