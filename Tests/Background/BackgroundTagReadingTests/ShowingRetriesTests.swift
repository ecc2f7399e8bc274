// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Checks when a notification that was refused is tried again.
@Suite struct ShowingRetriesTests {
    @Test func `Each try waits twice as long, and there are only so many`() {
        var retries = ShowingRetries()
        var delays: [Duration] = []
        while delays.count < 100, let delay = retries.failed() {
            // Notifications that fail in the meantime are retried at the same time.
            #expect(retries.failed() == nil)
            delays.append(delay)
            retries.began()
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    @Test func `What is shown makes the next failure the first`() {
        var retries = ShowingRetries()
        for _ in 0..<20 {
            _ = retries.failed()
            retries.began()
        }
        #expect(retries.failed() == nil)
        retries.succeeded()
        #expect(retries.failed() == .seconds(1))
    }

    @Test func `What is shown while a try is planned plans no second one beside it`() {
        var retries = ShowingRetries()
        #expect(retries.failed() == .seconds(1))
        retries.succeeded()
        #expect(retries.failed() == nil)
        retries.began()
        #expect(retries.failed() == .seconds(1))
    }
}
