// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import PrivateStorage
import TagLink
import Testing

@testable import ReaderEmulation

@Suite(.timeLimit(.minutes(2))) struct `A socket at which a reader listens` {
    @Test func `is gone once it is removed, and who waits at it is turned away`() async throws {
        let folder = try PrivateFolder.random("ocn-socket")
        defer {
            try? folder.remove("reader.sock")
            folder.removeIfEmpty()
        }
        let path = folder.path + "/reader.sock"
        let queue = DispatchQueue(label: "socket")
        let admitted = Locked(0)
        let socket = try ListeningSocket("reader.sock", in: folder, queue: queue) { connection in
            admitted.withLock { $0 += 1 }
            close(connection)
        }
        // Nobody is admitted until the queue goes on.
        queue.suspend()
        let waiting = PrivateSocket.connect(path)
        socket.remove()
        queue.resume()
        #expect(unsafe access(path, F_OK) != 0)
        let driver = try #require(waiting)
        defer { close(driver) }
        let hearsTheEnd = await callDriver {
            var line = pollfd(fd: driver, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&line, 1, 30_000) > 0 && line.revents & Int16(POLLHUP) != 0
        }
        #expect(hearsTheEnd)
        #expect(admitted.withLock { $0 } == 0)
        // A reader keeps its first socket, so it has to stop listening before it is freed.
        withExtendedLifetime(socket) {}
    }
}
