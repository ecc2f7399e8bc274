// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import TagLink
import TestThreads
import Testing

@testable import ReaderEmulation

/// Checks what a server's connection does where there is no room: for its watch, or for its bytes.
@Suite(.timeLimit(.minutes(2))) struct `A server's connection` {
    private static func pair() -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// Sets how many descriptors the process may have.
    private static func limit(_ count: Int32) {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = rlim_t(count)
        #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
    }

    /// In a process of its own, since other tests open descriptors too.
    @Test(.ownThreads) func `ends at once where the process can open no more, and both sides hear of it`() async {
        await #expect(processExitsWith: .success) {
            let (own, other) = Self.pair()
            let queue = DispatchQueue(label: "connection")
            let hasEnded = Locked(false)
            Self.limit(0)
            let channel = DescriptorChannel(
                own,
                queue: queue,
                onBytes: { _ in },
                onEnd: { hasEnded.withLock { $0 = true } }
            )
            Self.limit(1000)
            // The queue has done by then what came before.
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                queue.async { continuation.resume() }
            }
            #expect(hasEnded.withLock { $0 })
            #expect(RawConnection(descriptor: other).endsInSilence(within: 30_000))
            #expect(!channel.send([1]))
        }
    }

    @Test func `that is closed while its other side takes no bytes sends no more`() async {
        let (own, other) = Self.pair()
        let queue = DispatchQueue(label: "connection")
        let channel = DescriptorChannel(own, queue: queue, onBytes: { _ in }, onEnd: {})
        let isSent = Locked<Bool?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        // On the queue, like a server's answers, so that the descriptor stays open meanwhile.
        queue.async {
            // More than the system holds for the other side.
            let isWhole = channel.send([UInt8](repeating: 1, count: 1 << 24))
            isSent.withLock { $0 = isWhole }
            isDone.signal()
        }
        // It has begun.
        #expect(await callDriver { RawConnection(descriptor: other).receive(1, within: 30_000) } == [1])
        channel.close()
        #expect(await callDriver { isDone.wait(timeout: .now() + .seconds(30)) == .success })
        // Ends it in any case.
        close(other)
        #expect(isSent.withLock { $0 } == false)
    }
}
