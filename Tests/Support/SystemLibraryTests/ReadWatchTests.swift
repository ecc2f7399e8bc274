// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization
import SystemLibrary
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A watch of a descriptor` {
    private let queue = DispatchQueue(label: "watched")

    private static func pair() -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    private static func read(_ descriptor: Int32) -> Int {
        var buffer = [UInt8](repeating: 0, count: 64)
        return unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }

    /// A `DispatchSource` would miss an end that comes right after the last bytes.
    @Test func `It hears the end of each connection, however soon it comes after the last bytes`() async throws {
        for round in 0..<2000 {
            let (own, other) = Self.pair()
            let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
            let heard = Mutex(0)
            let watch = try #require(
                ReadWatch(own, queue: queue) {
                    let count = Self.read(own)
                    if count > 0 { heard.withLock { $0 += count } }
                    return count > 0 || count < 0 && errno == EAGAIN
                } onClose: {
                    close(own)
                    continuation.yield(heard.withLock { $0 })
                    continuation.finish()
                }
            )
            var byte: UInt8 = 1
            #expect(unsafe write(other, &byte, 1) == 1)
            for _ in 0..<(round % 100) { sched_yield() }
            close(other)
            var iterator = ends.makeAsyncIterator()
            #expect(await iterator.next() == 1)
            withExtendedLifetime(watch) {}
        }
    }

    @Test func `It is silent when it is cancelled, and closes the descriptor once`() async throws {
        for _ in 0..<200 {
            let (own, other) = Self.pair()
            let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
            let calls = Mutex(0)
            let watch = ReadWatch(own, queue: queue) {
                calls.withLock { $0 += 1 }
                return Self.read(own) > 0
            } onClose: {
                close(own)
                continuation.yield()
                continuation.finish()
            }
            watch?.cancel()
            watch?.cancel()
            var byte: UInt8 = 1
            _ = unsafe send(other, &byte, 1, Int32(MSG_NOSIGNAL))
            var count = 0
            for await _ in ends { count += 1 }
            #expect(count == 1)
            #expect(calls.withLock { $0 } == 0)
            close(other)
        }
    }

    @Test func `It calls its handlers on the queue that it was given`() async throws {
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let (own, other) = Self.pair()
        let (calls, continuation) = AsyncStream.makeStream(of: Bool.self)
        let watch = try #require(
            ReadWatch(own, queue: queue) {
                continuation.yield(DispatchQueue.getSpecific(key: key) == true)
                return Self.read(own) > 0
            } onClose: {
                continuation.yield(DispatchQueue.getSpecific(key: key) == true)
                close(own)
                continuation.finish()
            }
        )
        close(other)
        var areOnQueue: [Bool] = []
        for await isOnQueue in calls { areOnQueue.append(isOnQueue) }
        #expect(areOnQueue == [true, true])
        withExtendedLifetime(watch) {}
    }

    @Test func `It ends when it is cancelled or released, even if no more data come`() async throws {
        for isLetGoOf in [false, true] {
            let (own, other) = Self.pair()
            defer { close(other) }
            let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
            var watch = ReadWatch(own, queue: queue) {
                true
            } onClose: {
                close(own)
                continuation.finish()
            }
            if isLetGoOf { watch = nil } else { watch?.cancel() }
            for await _ in ends {}
            withExtendedLifetime(watch) {}
        }
    }
}
