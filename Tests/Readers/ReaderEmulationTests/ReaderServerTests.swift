// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import LinuxSupport
import TagLink
import TestThreads
import Testing
import VirtualTags

@testable import ReaderEmulation  // sockets and channels of a server are internal

/// The socket at which a reader's program talks to the driver in pcscd.
@Suite(.timeLimit(.minutes(2))) struct ReaderServerTests {
    /// A reader that reports its calls, and finds a card at each look.
    private struct Firmware: ReaderFirmware {
        let calls: AsyncStream<String>.Continuation

        mutating func look() async -> EmulatedReader.Change {
            calls.yield("look")
            return EmulatedReader.Change(hasFound: true)
        }

        mutating func hostConnected() async -> EmulatedReader.Change {
            calls.yield("look anew")
            return EmulatedReader.Change()
        }

        mutating func setPower(_ power: EmulatedReader.Power) async -> EmulatedReader.Reply { .noCard }
        mutating func transmit(_ apdu: [UInt8]) async -> EmulatedReader.Reply { .noCard }
        mutating func control(_ code: UInt32, _ data: [UInt8]) async -> EmulatedReader.Reply { .unsupported }
        /// One byte, and as many more as the number says.
        func attribute(_ tag: UInt32) -> EmulatedReader.Reply { .done([UInt8](repeating: 1, count: 1 + Int(tag))) }
        mutating func hostDisconnected() { calls.yield("host left") }
    }

    /// A server that runs, and what its reader and its program have heard.
    private final class Bench {
        let folder: PrivateFolder
        let server: ReaderServer
        private let serving: Task<Void, Never>
        private var heard: AsyncStream<String>.Iterator
        private let presence: Locked<(@Sendable () -> Void)?>

        init(greetingLimit: TimeInterval? = nil) throws {
            let (calls, continuation) = AsyncStream.makeStream(of: String.self)
            let presence = Locked<(@Sendable () -> Void)?>(nil)
            folder = try .random("ocn-server")
            server = try ReaderServer(
                in: folder,
                reader: Firmware(calls: continuation),
                observePresence: { handler in
                    presence.withLock { $0 = handler }
                    return nil
                },
                greetingLimit: greetingLimit ?? 5,
                onNotice: { continuation.yield("\($0)") }
            )
            (heard, self.presence) = (calls.makeAsyncIterator(), presence)
            serving = server.start()
        }

        /// Expects the next calls and notices.
        func expect(_ calls: String..., at location: SourceLocation = #_sourceLocation) async {
            for call in calls {
                let next = await heard.next(isolation: #isolation)
                #expect(next == call, sourceLocation: location)
            }
        }

        /// Something changes in the field, and the reader has looked.
        func change() async {
            presence.withLock { $0 }?()
            await withCompletion { done in server.whenSettled { done(()) } }
        }

        func meet() async throws -> RawConnection {
            let driver = try await RawConnection.meet(folder)
            await expect("look anew", "connected")
            return driver
        }

        func end() async {
            server.stop()
            await serving.value
            folder.removeIfEmpty()
        }
    }

    @Test func `one driver at a time: served after its greeting; others are turned away until it hangs up`()
        async throws
    {
        let bench = try Bench()
        await bench.change()
        let early = try RawConnection.connect(bench.folder)
        #expect(await callDriver { early.receive(7) } == RawConnection.greeting)
        // Nothing is reported before the driver's greeting.
        await bench.change()
        early.end()
        for _ in 0..<2 {
            let driver = try await bench.meet()
            let other = try RawConnection.connect(bench.folder)
            #expect(await callDriver { other.endsInSilence() })
            other.end()
            await bench.change()
            await bench.expect("look")
            #expect(await callDriver { driver.receive(6) } == RawConnection.header("I"))
            // The length of an answer has four bytes.
            #expect(driver.send(RawConnection.header("G", 7, 4) + [0, 1, 2, 1]))
            #expect(await callDriver { driver.receive(6) } == RawConnection.header("R", 7).prefix(2) + [0, 1, 2, 3])
            #expect(await callDriver { driver.receive(0x1_0203).count } == 0x1_0203)
            driver.end()
            await bench.expect("host left", "disconnected")
        }
        await bench.end()
    }

    @Test func `unplugged: the connection ends, and plugged in again the driver may connect`() async throws {
        let bench = try Bench()
        let driver = try await bench.meet()
        bench.server.setPlugged(false)
        await bench.expect("host left", "disconnected")
        #expect(await callDriver { driver.endsInSilence() })
        driver.end()
        #expect(PrivateSocket.connect(bench.folder.path + "/reader.sock") == nil)
        for _ in 0..<2 { bench.server.setPlugged(true) }
        let again = try await bench.meet()
        again.end()
        await bench.expect("host left", "disconnected")
        await bench.end()
    }

    @Test func `stopped: the card and the reader are reported gone, and the socket is removed`() async throws {
        let bench = try Bench()
        let driver = try await bench.meet()
        await bench.end()
        await bench.expect("host left")
        #expect(await callDriver { driver.receive(12) } == RawConnection.header("O") + RawConnection.header("B"))
        #expect(await callDriver { driver.endsInSilence() })
        #expect(unsafe access(bench.folder.path + "/reader.sock", F_OK) != 0)
        driver.end()
    }

    @Test func `greeting: a driver that sends another version, another message or nothing is turned away`() async throws
    {
        for reply in [
            RawConnection.header("H", 0, 1) + [1], RawConnection.header("H", 0, 1) + [3],
            RawConnection.header("P", 1, 1) + [1], [],
        ] {
            let bench = try Bench(greetingLimit: reply.first == UInt8(ascii: "H") ? 30 : 0.1)
            let other = try RawConnection.connect(bench.folder)
            #expect(await callDriver { other.receive(7) } == RawConnection.greeting)
            _ = other.send(reply)
            #expect(await callDriver { other.endsInSilence() }, "\(reply)")
            other.end()
            // It was no host.
            await bench.end()
            await bench.expect("host left")
        }
    }

    @Test func `malformed message: ends the connection`() async throws {
        let bench = try Bench()
        for message in [
            // A byte or much too long, of an unknown kind, incomplete, and a repeated greeting.
            "54010001001D", "5401FFFFFFFF", "54017FFFFFFF", "5A0100000000", "500100000000", "50010000000109",
            "430100000003010203", "470100000003010203", "480100000000", "48010000000102",
        ] {
            let driver = try await bench.meet()
            #expect(driver.send([UInt8](hex: message)))
            #expect(await callDriver { driver.endsInSilence() }, "\(message)")
            driver.end()
            await bench.expect("host left", "disconnected")
        }
        await bench.end()
    }

    @Test func `socket: has mode 0600; a reader is refused if a socket or file of its name exists`() async throws {
        let bench = try Bench()
        var status = stat()
        #expect(unsafe lstat(bench.folder.path + "/reader.sock", &status) == 0 && status.st_mode & 0o7777 == 0o600)
        // Neither a reader's socket nor a file in its place is replaced.
        try bench.folder.write("other.sock", [])
        for name in ["reader.sock", "other.sock"] {
            #expect(throws: EmulationError.self, "\(name)") {
                let firmware = Firmware(calls: AsyncStream.makeStream(of: String.self).continuation)
                _ = try ReaderServer(name, in: bench.folder, reader: firmware, observePresence: { _ in nil })
            }
        }
        try bench.folder.remove("other.sock")
        await bench.end()
    }

    // MARK: Its parts

    /// Connects to a socket as another user, whose number the connection has from then on.
    private static func connect(_ path: String, as user: uid_t) -> RawConnection? {
        guard seteuid(user) == 0 else { return nil }
        defer { _ = seteuid(0) }
        return PrivateSocket.connect(path).map(RawConnection.init)
    }

    /// In a process of its own, which is another user's for a moment.
    @Test(.ownThreads, .enabled(if: geteuid() == 0, "needs root")) func `the socket: another user is turned away`()
        async
    {
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
            // The socket looks at the user when this process is root again.
            queue.suspend()
            let other = Self.connect(path, as: 65_534)
            queue.resume()
            // In some places other users can't reach the temporary folder.
            if let other { #expect(other.endsInSilence()) }
            #expect(admitted.withLock { $0 } == 0)
            socket.remove()
            folder.removeIfEmpty()
        }
    }

    /// Both ends of a connection.
    private static func pair() -> (own: Int32, other: RawConnection) {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], RawConnection(descriptor: ends[1]))
    }

    @Test
    func
        `channel: send fails if the peer takes nothing; the rest of a begun frame is sent before the next frame`()
        async
    {
        let (own, other) = Self.pair()
        let queue = DispatchQueue(label: "connection")
        let channel = DescriptorChannel(own, queue: queue, sendLimit: 50, onBytes: { _ in }, onEnd: {})
        // So that a frame need not be large.
        var size: Int32 = 4096
        #expect(unsafe setsockopt(own, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0)
        let much = [UInt8](repeating: 1, count: 1 << 16)
        #expect(await callDriver { !channel.send(much) })
        // The rest of a frame that was begun goes before the next one.
        var (received, isSent) = ([UInt8](), false)
        while !isSent, received.count < much.count {
            let part = await callDriver { other.receive(1 << 17, within: 0) }
            guard !part.isEmpty else { break }
            received += part
            isSent = await callDriver { channel.send([3, 3]) }
        }
        received += await callDriver { other.receive(1 << 17, within: 0) }
        #expect(isSent && received == much + [3, 3])
        other.end()
        #expect(await callDriver { !channel.send(much) })
        withExtendedLifetime(channel) {}
    }

}
