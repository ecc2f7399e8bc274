// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import PCSCDriver

@Suite(.timeLimit(.minutes(1))) struct CallLimitTests {
    @Test func `A call with a shorter limit than the one before is cut in its own time`() async throws {
        let (cuts, continuation) = AsyncStream.makeStream(of: Void.self)
        let limit = CallLimit(milliseconds: 3_600_000) { continuation.yield() }
        defer { limit.finish() }
        var next = cuts.makeAsyncIterator()
        for _ in 0..<20 {
            try limit.begin()
            // The thread that watches sleeps until the first limit, an hour, once it has looked.
            usleep(2000)
            #expect(limit.end() == nil)
            try limit.begin(within: 1)
            _ = await next.next(isolation: nil)
            #expect(limit.end() == .timeout)
        }
    }

    @Test func `A call that came back is not cut, nor one twice`() async throws {
        let (cuts, continuation) = AsyncStream.makeStream(of: Void.self)
        let limit = CallLimit(milliseconds: 3_600_000) { continuation.yield() }
        defer { limit.finish() }
        limit.cancel()
        try limit.begin()
        #expect(limit.end() == nil)
        limit.cancel()
        try limit.begin()
        limit.cancel()
        limit.cancel()
        #expect(limit.end() == .timeout)
        limit.interrupt()
        #expect(throws: SmartCardError.self) { try limit.begin() }
        limit.resume()
        try limit.begin()
        limit.interrupt()
        #expect(limit.end() == .cancelled)
        continuation.finish()
        var count = 0
        for await _ in cuts { count += 1 }
        #expect(count == 2)
    }
}
