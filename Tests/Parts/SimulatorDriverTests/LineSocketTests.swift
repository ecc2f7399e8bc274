// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
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
}
