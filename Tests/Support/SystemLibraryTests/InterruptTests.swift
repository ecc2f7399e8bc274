// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import SystemLibrary
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A thread that waits` {
    private func isReadable(_ descriptor: Int32) -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, 0) == 1
    }

    @Test(arguments: [1, 64, 65, 200, 100_000]) func `is woken by an interrupt, until that is cleared`(count: Int) {
        let interrupt = Interrupt()
        #expect(interrupt.descriptor >= 0 && !isReadable(interrupt.descriptor))
        interrupt.clear()
        for _ in 0..<2 {
            // So many that the pipe is full do not block.
            for _ in 0..<count { interrupt.raise() }
            #expect(isReadable(interrupt.descriptor))
            interrupt.clear()
            #expect(!isReadable(interrupt.descriptor))
        }
    }

    @Test(.ownThreads) func `is woken by a cancellation, which stays`() {
        let interrupt = Interrupt()
        for _ in 0..<200 {
            // Another operation of the thread is not cancelled with the one before.
            let cancellation = Cancellation(interrupt)
            #expect(!cancellation.isCancelled && !isReadable(interrupt.descriptor))
            let thread = Thread { cancellation.cancel() }
            thread.start()
            // Asked again and again, so that this thread sees the wake-up as soon as there is one.
            while !isReadable(interrupt.descriptor) {}
            #expect(cancellation.isCancelled)
            interrupt.clear()
            #expect(cancellation.isCancelled)
        }
    }

    @Test(.ownThreads) func `has no interrupt left when its descriptors are used up`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            let interrupt = Interrupt()
            #expect(interrupt.descriptor == -1)
            interrupt.raise()
            interrupt.clear()
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Text that is written` {
    @Test(.ownThreads) func `is written whole, also when the reader is slower, while the writer sleeps`() throws {
        let pipe = try #require(DescriptorPipe(blocks: false))
        _ = fcntl(pipe.reader, F_SETFL, 0)
        let writer = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        let isAsleep = Mutex(false)
        let text = String(repeating: "Grüße\n", count: 100_000)
        let received = Mutex<[UInt8]>([])
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            // The writer has begun, and soon there is no more room. Who tries again and again is never asleep.
            var poller = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, -1)
            let end = ContinuousClock.now + .seconds(20)
            while !isAsleep.withLock({ $0 }), ContinuousClock.now < end {
                let status = try? String(contentsOfFile: "/proc/\(writer)/stat", encoding: .utf8)
                if status?.split(separator: ")").last?.hasPrefix(" S ") == true { isAsleep.withLock { $0 = true } }
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe read(pipe.reader, &buffer, buffer.count)
                guard count > 0 else { break }
                received.withLock { $0 += buffer.prefix(count) }
            }
            isDone.signal()
        }
        thread.start()
        #expect(OutputDescriptor(pipe.writer).write(text) == nil)
        #expect(OutputDescriptor(pipe.writer).write("") == nil)
        close(pipe.writer)
        isDone.wait()
        close(pipe.reader)
        #expect(received.withLock { $0 == Array(text.utf8) })
        #expect(isAsleep.withLock { $0 })
        #expect(
            OutputDescriptor.standardOutput.fileDescriptor == 1 && OutputDescriptor.standardError.fileDescriptor == 2
        )
    }

    @Test(.ownThreads) func `is dropped when nobody reads it, and the reason is known`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_IGN)
            let pipe = DescriptorPipe()
            close(pipe?.reader ?? -1)
            #expect(OutputDescriptor(pipe?.writer ?? -1).write("x") == EPIPE)
            #expect(OutputDescriptor(-1).write("x") == EBADF)
            #expect(OutputDescriptor(-1).write("") == nil)
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Descriptors of a program` {
    @Test(.ownThreads) func `reach it under the next numbers that are free here, in whatever order they are copied`()
        async
    {
        await #expect(processExitsWith: .success) {
            // The order in which a dictionary is walked is another one each time.
            for _ in 0..<5 {
                let pipes = (0..<6).compactMap { _ in DescriptorPipe() }
                #expect(pipes.count == 6)
                let first = fcntl(2, F_DUPFD_CLOEXEC, 3)
                close(first)
                let texts = try NumberedPipes.texts(through: pipes, from: first)
                #expect(texts == (first..<first + 6).map { "\($0)\n" })
            }
        }
    }
}
