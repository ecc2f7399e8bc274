// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// A session that is made away from the test's task, in each way that apps have.
@Suite(.timeLimit(.minutes(10))) struct PlaceTests {
    /// Reads in a way, and looks at what was read, and in which field.
    private func read(_ way: Way, number: Int) async throws {
        let link = "https://example.com/\(way.rawValue)/\(number)"
        try await withField(.product("NTAG215", holding: .uri(link)), grace: .seconds(60)) { field in
            let reader = LinkReader(queue: number.isMultiple(of: 2) ? .main : nil)
            let found: Result<String, any Error> = try await field.completion("read") { done in
                way.perform { reader.begin(done) }
            }
            #expect(try found.get() == link)
            #expect(reader.fields.count == 3 && reader.fields.allSatisfy { $0 === field })
            #expect(field.now < .seconds(10))
            await field.settle()
        }
    }

    @Test(arguments: Way.allCases, 0..<2)
    func `session from any queue, thread or task, beside other tests: has its test's field`(
        way: Way,
        number: Int
    ) async throws {
        try await read(way, number: number)
    }

    @Suite(.serialized, .timeLimit(.minutes(10))) struct OneAfterTheOther {
        @Test(arguments: Way.allCases)
        func `session from any queue, thread or task, one test after the other: has its test's field`(
            way: Way
        ) async throws {
            try await PlaceTests().read(way, number: 5)
        }
    }
}
