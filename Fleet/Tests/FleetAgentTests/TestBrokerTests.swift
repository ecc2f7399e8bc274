// SPDX-License-Identifier: Apache-2.0
import FleetTestSupport
import Testing

@Suite("Whether a broker of the tests listens", .timeLimit(.minutes(1)))
struct TestBrokerTests {
    @Test("A port that takes no more connections is not waited for")
    func full() async throws {
        let closed = try LocalListener(isOpen: false)
        #expect(!TestBroker.isListening(closed.port))
        let listener = try LocalListener()
        try await waitWhile(!TestBroker.isListening(listener.port))
        // Nobody accepts them, so that there is room for a few alone.
        var count = 0
        while count < 1000, TestBroker.isListening(listener.port) { count += 1 }
        #expect(count < 1000)
    }
}
