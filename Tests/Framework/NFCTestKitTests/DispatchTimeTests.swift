// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NFCTestKit

/// What a test's code waits for, as the number that libdispatch has for a moment.
@Suite struct `A moment of libdispatch` {
    /// Returns the time from now to a moment, on a thread that has read no clock before.
    private static func duration(until moment: @escaping @Sendable () -> UInt64) async -> Duration? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: VirtualDelay.duration(until: moment())) }
        }
    }

    /// The time of a clock, in nanoseconds.
    private static func now(_ clock: clockid_t) -> UInt64 {
        var now = timespec()
        unsafe clock_gettime(clock, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    @Test func `That never comes has no time, and one that is over has none left`() async {
        #expect(await Self.duration { .max } == nil)
        for moment in [0, 1, 1 << 63 | 1, 0 &- 1_000_000_000] as [UInt64] {
            #expect(await Self.duration { moment } == .zero, "\(moment)")
        }
    }

    @Test(arguments: [(500_000_000, 10_000_000), (5_000_000, 1_000_000)] as [(UInt64, UInt64)])
    func `Is as far away as was meant a moment ago, by each clock`(time: UInt64, step: UInt64) async throws {
        let moments: [@Sendable () -> UInt64] = [
            { VirtualDelay.time(after: Int64(time)) }, { Self.now(CLOCK_MONOTONIC) + time },
            { 1 << 63 | (Self.now(CLOCK_BOOTTIME) + time) }, { 0 &- (Self.now(CLOCK_REALTIME) + time) },
        ]
        for (clock, moment) in moments.enumerated() {
            var isExact = false
            // A busy machine may take longer to ask, and then it is a step less.
            for _ in 0..<100 where !isExact {
                let duration = try #require(await Self.duration(until: moment))
                let nanoseconds = UInt64(duration / .nanoseconds(1))
                #expect(nanoseconds <= time && nanoseconds.isMultiple(of: step), "\(clock): \(duration)")
                isExact = nanoseconds == time
            }
            #expect(isExact, "\(clock)")
        }
    }
}
