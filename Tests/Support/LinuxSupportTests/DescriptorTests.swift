// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import LinuxSupport
import ProgramTesting
import Synchronization
import TestThreads
import Testing

/// Pipes, watches and interrupts of a thread, and other small parts of the system.
@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
    private static var openCount: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    }

    /// Sets how many descriptors the process may have.
    private static func limit(_ count: rlim_t) {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = count
        #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, 0) == 1
    }

    @Test func `Pipe: both ends are closed in started programs, and block only if wanted`() throws {
        for blocks in [true, false] {
            let pipe = try #require(DescriptorPipe(blocks: blocks))
            defer { for end in [pipe.reader, pipe.writer] { close(end) } }
            for end in [pipe.reader, pipe.writer] {
                #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0 && (fcntl(end, F_GETFL) & O_NONBLOCK == 0) == blocks)
            }
            #expect(unsafe write(pipe.writer, "ab", 2) == 2)
            var bytes = [UInt8](repeating: 0, count: 4)
            #expect(unsafe Glibc.read(pipe.reader, &bytes, 4) == 2 && bytes == [0x61, 0x62, 0, 0])
        }
    }

    @Test func `Folder names: sorted, up to a limit`() throws {
        let folder = try TestFolder()
        for index in 0..<250 { try Data().write(to: URL(fileURLWithPath: folder.path("\(index)"))) }
        let all = try #require(FolderNames.read(folder.path))
        #expect(all == (0..<250).map(String.init).sorted())
        #expect(FolderNames.read(folder.path, limit: 2)?.count == 2 && FolderNames.read(folder.path, limit: 0) == [])
        #expect(FolderNames.read(folder.path) { $0 > "98" } == ["99"])
        #expect(FolderNames.read("/proc/self/stat") == nil)
    }

    // MARK: Watches of descriptors

    /// A connection's own end, which does not block, and the other one.
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
    @Test func `Read watch: hears the end of each connection on its queue, however soon after the last bytes`()
        async throws
    {
        let (queue, key) = (DispatchQueue(label: "watched"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        for round in 0..<200 {
            let (own, other) = Self.pair()
            let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
            let heard = Mutex(0)
            let watch = try #require(
                ReadWatch(own, queue: queue) {
                    let count = Self.read(own)
                    let isOnQueue = DispatchQueue.getSpecific(key: key) == true
                    if count > 0, isOnQueue { heard.withLock { $0 += count } }
                    return count > 0 || count < 0 && errno == EAGAIN
                } onClose: {
                    close(own)
                    continuation.yield(DispatchQueue.getSpecific(key: key) == true ? heard.withLock { $0 } : -1)
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

    /// In a process of its own, whose descriptors are counted.
    @Test(.ownThreads) func `Read watch, cancelled or freed: silent, closes once, leaves no descriptor`() async {
        await #expect(processExitsWith: .success) {
            let queue = DispatchQueue(label: "watched")
            let before = try Self.openCount
            for round in 0..<100 {
                let (own, other) = Self.pair()
                let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
                let calls = Mutex(0)
                var watch = ReadWatch(own, queue: queue) {
                    calls.withLock { $0 += 1 }
                    return Self.read(own) > 0
                } onClose: {
                    close(own)
                    continuation.yield(round)
                    continuation.finish()
                }
                #expect(watch != nil)
                if round % 2 == 0 { for _ in 0..<2 { watch?.cancel() } } else { watch = nil }
                var byte: UInt8 = 1
                _ = unsafe send(other, &byte, 1, Int32(MSG_NOSIGNAL))
                var closed: [Int] = []
                for await round in ends { closed.append(round) }
                #expect(closed == [round] && calls.withLock { $0 } == 0)
                close(other)
            }
            // The libraries below open a few for themselves, at a time of their own.
            #expect(try Self.openCount < before + 50)
        }
    }

    @Test(.ownThreads) func `No descriptors left: pipes, watches and lifelines are nil, and can be made again later`()
        async
    {
        await #expect(processExitsWith: .success) {
            let pipe = try #require(DescriptorPipe())
            Self.limit(0)
            #expect(Lifeline(script: ":", words: []) == nil && FolderWatch("/") == nil && DescriptorPipe() == nil)
            let watch = ReadWatch(pipe.reader, queue: .main) {
                true
            } onClose: {
            }
            #expect(watch == nil)
            let interrupt = Interrupt()
            interrupt.raise()
            interrupt.clear()
            #expect(interrupt.descriptor == -1)
            Self.limit(1000)
            try #require(Lifeline(script: ":", words: [])).cut()
        }
    }

    // MARK: Threads

    @Test func `Interrupt: readable until it is cleared, however often it was raised`() {
        for count in [1, 64, 65, 200, 100_000] {
            let interrupt = Interrupt()
            #expect(interrupt.descriptor >= 0 && !Self.isReadable(interrupt.descriptor))
            interrupt.clear()
            for _ in 0..<2 {
                // So many that the pipe is full do not block.
                for _ in 0..<count { interrupt.raise() }
                #expect(Self.isReadable(interrupt.descriptor))
                interrupt.clear()
                #expect(!Self.isReadable(interrupt.descriptor))
            }
        }
    }

    @Test(.ownThreads)
    func `Cancellation: set before the waiting thread wakes, and still set after the interrupt is cleared`() {
        let interrupt = Interrupt()
        for _ in 0..<30 {
            let cancellation = Cancellation(interrupt)
            #expect(!cancellation.isCancelled && !Self.isReadable(interrupt.descriptor))
            let thread = Thread { cancellation.cancel() }
            thread.start()
            while !Self.isReadable(interrupt.descriptor) {}
            #expect(cancellation.isCancelled)
            interrupt.clear()
            #expect(cancellation.isCancelled)
        }
    }

    private actor Counter {
        nonisolated let executor: QueueExecutor
        private(set) var count = 0

        init(_ executor: QueueExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        func add() -> Bool {
            count += 1
            return executor.isCurrent
        }

        nonisolated func addNow() -> Bool { assumeIsolated { $0.add() } }
    }

    @Test(.ownThreads)
    func `Queue executor: an actor's jobs run on its queue one at a time, assumeIsolated elsewhere ends the process`()
        async
    {
        for knowsCallers in [true, false] {
            let counter = Counter(QueueExecutor(target: nil, knowsCallers: knowsCallers))
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { await counter.add() } }
                for await isCurrent in group { #expect(isCurrent == knowsCallers) }
            }
            #expect(await counter.count == 100)
            #expect(!counter.executor.isCurrent)
        }
        await #expect(processExitsWith: .failure) { _ = Counter(QueueExecutor(target: nil)).addNow() }
    }

    @Test func `Work for later: done after its pause, not before`() async {
        let pause = Duration.milliseconds(30)
        let began = ContinuousClock.now
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            runOnMain(after: pause) { continuation.resume() }
        }
        #expect(began.duration(to: .now) >= pause)
    }

    // MARK: Text, memory, variables

    @Test(.ownThreads)
    func `Text to a descriptor: a slow reader gets all of the text, without a reader the error is EPIPE`() async throws
    {
        let pipe = try #require(DescriptorPipe(blocks: false))
        let text = String(repeating: "Grüße\n", count: 100_000)
        let received = Task.detached {
            // The reader blocks, and the writer does not.
            _ = fcntl(pipe.reader, F_SETFL, 0)
            return FileHandle(fileDescriptor: pipe.reader, closeOnDealloc: true).readDataToEndOfFile()
        }
        for text in [text, ""] { #expect(OutputDescriptor(pipe.writer).write(text) == nil) }
        close(pipe.writer)
        #expect(await received.value == Data(text.utf8))
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_IGN)
            let pipe = DescriptorPipe()
            close(pipe?.reader ?? -1)
            #expect(OutputDescriptor(pipe?.writer ?? -1).write("x") == EPIPE)
            #expect(OutputDescriptor(-1).write("x") == EBADF && OutputDescriptor(-1).write("") == nil)
            unsafe setenv("NFC_EMPTY", "", 1)
            #expect(EnvironmentVariable.value("NFC_EMPTY") == "" && EnvironmentVariable.value("NFC_NONE") == nil)
        }
    }
}
