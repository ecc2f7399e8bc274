// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCTestKit
import Testing

/// The value of a flow, in both language modes.
@Suite(.timeLimit(.minutes(10))) struct FlowValueTests {
    private static func read(_ field: TestField) async throws -> String {
        let link: Result<String, any Error> = try await field.completion("read") { LinkReader(queue: .main).begin($0) }
        return try link.get()
    }

    @Test func `flow of several statements that ends with a generic call: its value is compared`() async throws {
        let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com"))
        let report = try await explore(.replay("silence@8"), near: tag, invariants: [.sameResult]) { field in
            #expect(field.tags.count == 1)
            return try await field.twice { try await Self.read(field) }
        }
        #expect(report.unchecked.isEmpty)
    }
}
