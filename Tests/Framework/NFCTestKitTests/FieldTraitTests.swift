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

    @Test func `What a test function throws goes on to the testing library`() async throws {
        let test = try #require(Test.current)
        let trait: FieldTrait = .field("NTAG215")
        await #expect(throws: FieldError(.noButton, "")) {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                throw FieldError(.noButton, "There is none.")
            }
        }
    }

    @Test func `On a reader its limit is real time, and the test function is cancelled`() async throws {
        let test = try #require(Test.current)
        let trait = {
            var trait: FieldTrait = .field(limit: .milliseconds(20))
            trait.reader = .reader(.field(VirtualField()))
            return trait
        }()
        let error = await #expect(throws: FieldError.self) {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                try await Task.sleep(for: .seconds(1000))
            }
        }
        #expect(error?.code == .neverEnds && error?.reason.contains("its limit is 0 s") == true)
    }

    @Test func `A suite gets no field, since each of its tests does`() async throws {
        let test = try #require(Test.current)
        let trait: FieldTrait = .field("NTAG215")
        let scoped = NFCEnvironment.scoped
        try await trait.provideScope(for: test, testCase: nil) { #expect(NFCEnvironment.scoped === scoped) }
    }
}

/// A suite whose trait is for each of its tests.
@Suite(.field("NTAG215", seed: 4711), .timeLimit(.minutes(5))) struct `A suite with a field` {
    @Test func `Each test is in a field`() { #expect(isInField) }

    struct `A suite inside it` {
        @Test func `Each test is in a field`() { #expect(isInField) }
    }
}

/// Whether the caller is in a field of the suite with a field.
private var isInField: Bool {
    guard let field = TestField.current, NFCEnvironment.scoped === field.environment else { return false }
    return field.seed == 4711 && field.tags.count == 1
}
