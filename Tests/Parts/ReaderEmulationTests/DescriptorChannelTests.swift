// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import ReaderEmulation

/// Checks what a server's connection does where there is no room: for its watch, or for its bytes.
@Suite(.timeLimit(.minutes(2))) struct `A server's connection` {
    private static func pair() -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// Calls something while the process can open no descriptor.
    private static func withoutDescriptors<Value>(_ body: () -> Value) -> Value {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(7), &limit)
        let before = limit.rlim_cur
        limit.rlim_cur = 0
        #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
        defer {
            limit.rlim_cur = before
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
        }
        return body()
    }

    /// In a process of its own, since other tests open descriptors too.
    @Test(.ownThreads) func `ends at once where the process can open no more, and both sides hear of it`() async {
        await #expect(processExitsWith: .success) {
            let (own, other) = Self.pair()
            let queue = DispatchQueue(label: "connection")
            let hasEnded = Locked(false)
            let channel = Self.withoutDescriptors {
                DescriptorChannel(own, queue: queue, onBytes: { _ in }, onEnd: { hasEnded.withLock { $0 = true } })
            }
            // The queue has done by then what came before.
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                queue.async { continuation.resume() }
            }
            #expect(hasEnded.withLock { $0 })
            #expect(RawConnection(descriptor: other).endsInSilence(within: 30_000))
            // Nothing goes to what has its number by then.
            let (next, peer) = Self.pair()
            #expect(next == own && !channel.send([1]))
            #expect(RawConnection(descriptor: peer).receive(1, within: 0).isEmpty)
        }
    }

    @Test(.ownThreads) func `that was closed sends nothing, whatever its number means by then`() async {
        await #expect(processExitsWith: .success) {
            let (own, other) = Self.pair()
            let queue = DispatchQueue(label: "connection")
            let channel = DescriptorChannel(own, queue: queue, onBytes: { _ in }, onEnd: {})
            channel.close()
            #expect(RawConnection(descriptor: other).endsInSilence(within: 30_000))
            let (next, peer) = Self.pair()
            #expect(next == own && !channel.send([1]))
            #expect(RawConnection(descriptor: peer).receive(1, within: 0).isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `passes on what comes byte by byte, and hears that its other side is gone`(hasUnread: Bool) async {
        let (own, other) = Self.pair()
        let (heard, hearing) = AsyncStream.makeStream(of: [UInt8].self)
        var events = heard.makeAsyncIterator()
        let channel = DescriptorChannel(
            own,
            queue: DispatchQueue(label: "connection"),
            onBytes: { hearing.yield($0) },
            onEnd: { hearing.yield([]) }
        )
        for byte: UInt8 in 1...3 {
            #expect(RawConnection(descriptor: other).send([byte]))
            #expect(await events.next() == [byte])
        }
        // Without it, the end is an error.
        if hasUnread { #expect(channel.send([1])) }
        close(other)
        #expect(await events.next() == [])
        withExtendedLifetime(channel) {}
    }

    @Test func `sends all to an other side that takes it slowly`() async {
        let (own, other) = Self.pair()
        let channel = DescriptorChannel(own, queue: DispatchQueue(label: "connection"), onBytes: { _ in }, onEnd: {})
        // More than the system holds for the other side.
        let much = [UInt8](repeating: 1, count: 1 << 19)
        let (isSent, received) = await callDriver {
            let received = Locked(0)
            let isDone = DispatchSemaphore(value: 0)
            // On a thread of its own at once: the channel gives up where nothing is taken for long.
            Thread.detachNewThread {
                let count = RawConnection(descriptor: other).receive(1 << 19, within: 30_000).count
                received.withLock { $0 = count }
                isDone.signal()
            }
            let isSent = channel.send(much)
            isDone.wait()
            return (isSent, received.withLock { $0 })
        }
        #expect(isSent && received == much.count)
        close(other)
        withExtendedLifetime(channel) {}
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
        // Takes some bytes again and again. So it does not end because the other side takes none for long.
        var taken = 0
        while await callDriver({ isDone.wait(timeout: .now() + .milliseconds(200)) == .timedOut }), taken < 1 << 24 {
            taken += await callDriver { RawConnection(descriptor: other).receive(1 << 18, within: 100).count }
        }
        // Ends it in any case.
        close(other)
        #expect(isSent.withLock { $0 } == false)
    }

    @Test func `gives up an other side that takes no bytes for long, and one that is gone at once`() async {
        let (own, other) = Self.pair()
        let channel = DescriptorChannel(
            own,
            queue: DispatchQueue(label: "connection"),
            sendLimit: 100,
            onBytes: { _ in },
            onEnd: {}
        )
        // More than the system holds for the other side.
        let much = [UInt8](repeating: 1, count: 1 << 24)
        #expect(await callDriver { !channel.send(much) })
        // What it had room for is there.
        #expect(await callDriver { RawConnection(descriptor: other).receive(1 << 10).count } == 1 << 10)
        close(other)
        #expect(await callDriver { !channel.send(much) })
        withExtendedLifetime(channel) {}
    }

    @Test func `sends the end of a frame before the next one, which is whole or missing`() async {
        let (own, other) = Self.pair()
        let channel = DescriptorChannel(
            own,
            queue: DispatchQueue(label: "connection"),
            sendLimit: 50,
            onBytes: { _ in },
            onEnd: {}
        )
        // So that a frame need not be large.
        var size: Int32 = 4096
        let length = socklen_t(MemoryLayout<Int32>.size)
        #expect(unsafe setsockopt(own, SOL_SOCKET, SO_SNDBUF, &size, length) == 0)
        let much = [UInt8](repeating: 1, count: 1 << 16)
        #expect(await callDriver { !channel.send(much) })
        // There is no room for any of it, nor for the end of the one before.
        #expect(await callDriver { !channel.send([2, 2]) })
        var received: [UInt8] = []
        var isSent = false
        while !isSent, received.count < much.count {
            let part = await callDriver { RawConnection(descriptor: other).receive(1 << 17, within: 0) }
            guard !part.isEmpty else { break }
            received += part
            isSent = await callDriver { channel.send([3, 3]) }
        }
        received += await callDriver { RawConnection(descriptor: other).receive(1 << 17, within: 0) }
        #expect(isSent && received == much + [3, 3])
        close(other)
        withExtendedLifetime(channel) {}
    }
}
