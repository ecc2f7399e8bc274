// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import PrivateStorage
import TagLink
import TestThreads
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

    /// Connects to a socket as another user. The connection has that user's number from then on.
    private static func connect(_ path: String, as user: uid_t) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard seteuid(user) == 0 else { return nil }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard seteuid(0) == 0, status == 0 else { return nil }
        return descriptor
    }

    /// In a process of its own, which is another user's for a moment.
    @Test(.ownThreads, .enabled(if: geteuid() == 0, "needs root"))
    func `turns away another user, though anybody can reach it`() async {
        await #expect(processExitsWith: .success) {
            let folder = try PrivateFolder.random("ocn-socket")
            let path = folder.path + "/reader.sock"
            let queue = DispatchQueue(label: "socket")
            let admitted = Locked(0)
            let socket = try ListeningSocket("reader.sock", in: folder, queue: queue) { connection in
                admitted.withLock { $0 += 1 }
                close(connection)
            }
            #expect(unsafe chmod(folder.path, 0o755) == 0 && chmod(path, 0o666) == 0)
            queue.suspend()
            let other = Self.connect(path, as: 65_534)
            queue.resume()
            // In some places other users can't reach the temporary folder.
            if let other { #expect(RawConnection(descriptor: other).endsInSilence(within: 30_000)) }
            #expect(admitted.withLock { $0 } == 0)
            socket.remove()
            folder.removeIfEmpty()
        }
    }
}
