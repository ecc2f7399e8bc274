// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import SystemLibrary
import TagLink
import TestThreads
import Testing

@testable import SimulatorDriver

@Suite struct `A socket of lines` {
    @Test func `A wait begins without the calls to wake it that came before`() throws {
        let pair = try SocketPair()
        defer {
            close(pair.reader)
            close(pair.simulator)
        }
        let interrupt = Interrupt()
        var socket = LineSocket(pair.reader, interrupt: interrupt)
        interrupt.raise()
        let isFilled = try socket.fill(before: .now, nil)
        var polled = pollfd(fd: interrupt.descriptor, events: Int16(POLLIN), revents: 0)
        // Otherwise later waits would not let the processor rest.
        #expect(unsafe poll(&polled, 1, 0) == 0)
        #expect(!isFilled)
    }

    @Test(.ownThreads, .timeLimit(.minutes(1)), arguments: [false, true])
    func `A line that has begun is sent to its end, though it is cancelled, and none is begun after that`(
        isCancelledBefore: Bool
    ) throws {
        let pair = try SocketPair()
        defer {
            close(pair.reader)
            close(pair.simulator)
        }
        let interrupt = Interrupt()
        let cancellation = Cancellation(interrupt)
        let socket = LineSocket(pair.reader, interrupt: interrupt)
        // Several times as long as what a socket holds.
        let line = [UInt8](repeating: 0x61, count: 2_000_000)
        if isCancelledBefore {
            for size in [4096, 1] { while unsafe send(pair.reader, line, size, Int32(MSG_NOSIGNAL)) > 0 {} }
            cancellation.cancel()
            #expect(throws: LinkError(.cancelled, "")) {
                try socket.send(line, before: .now + .seconds(60), cancellation)
            }
            return
        }
        let received = Locked(0)
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [count = line.count] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            var total = 0
            while total < count {
                let part = unsafe read(pair.simulator, &buffer, buffer.count)
                guard part > 0 else { break }
                // The line has begun, and most of it has no room yet.
                if total == 0 { cancellation.cancel() }
                total += part
            }
            received.withLock { [total] in $0 = total }
            isDone.signal()
        }
        try socket.send(line, before: .now + .seconds(60), cancellation)
        isDone.wait()
        #expect(received.withLock { $0 } == line.count)
    }
}
