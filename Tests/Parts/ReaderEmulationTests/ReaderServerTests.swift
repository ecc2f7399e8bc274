// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage
import ReaderEmulation
import TagLink
import Testing

/// Checks what a reader and its program learn of the driver in pcscd.
@Suite(.timeLimit(.minutes(2))) struct `The program behind a reader's socket` {
    /// A reader that reports its calls, and finds a card at each look.
    private struct Firmware: ReaderFirmware {
        let calls: AsyncStream<String>.Continuation

        mutating func look() async -> EmulatedReader.Change {
            calls.yield("look")
            return EmulatedReader.Change(hasFound: true)
        }

        mutating func lookAnew() async -> EmulatedReader.Change {
            calls.yield("look anew")
            return EmulatedReader.Change()
        }

        mutating func setPower(_ power: EmulatedReader.Power) async -> EmulatedReader.Reply { .noCard }
        mutating func transmit(_ apdu: [UInt8]) async -> EmulatedReader.Reply { .failed }
        mutating func control(_ code: UInt32, _ data: [UInt8]) async -> EmulatedReader.Reply { .unsupported }
        /// One byte, and as many more as the number says.
        func attribute(_ tag: UInt32) -> EmulatedReader.Reply { .done([UInt8](repeating: 1, count: 1 + Int(tag))) }
        mutating func hostLeft() { calls.yield("host left") }
    }

    /// What the field calls when a card may have come.
    private struct Presence: Sendable {
        var handler: (@Sendable () -> Void)?
    }

    private let folder: PrivateFolder
    private let calls: AsyncStream<String>
    private let presence: Locked<Presence>
    private let server: ReaderServer

    init() throws {
        let (calls, continuation) = AsyncStream.makeStream(of: String.self)
        let folder = try PrivateFolder.random("ocn-server")
        let presence = Locked(Presence())
        server = try ReaderServer(
            in: folder,
            reader: Firmware(calls: continuation),
            observePresence: { handler in
                presence.withLock { $0.handler = handler }
                return nil
            },
            onNotice: { continuation.yield("\($0)") }
        )
        (self.folder, self.calls, self.presence) = (folder, calls, presence)
    }

    /// The next calls of the reader and notices of its program.
    private static func next(
        _ count: Int,
        of heard: inout AsyncStream<String>.Iterator,
        isolation: isolated (any Actor)? = #isolation
    ) async -> [String] {
        var calls: [String] = []
        while calls.count < count, let call = await heard.next(isolation: isolation) { calls.append(call) }
        return calls
    }

    private func end(_ serving: Task<Void, Never>) async {
        server.stop()
        await serving.value
        folder.removeIfEmpty()
    }

    @Test func `hears that a driver comes and goes, and the reader that its host has left`() async throws {
        let serving = server.start()
        var heard = calls.makeAsyncIterator()
        for _ in 0..<2 {
            let driver = try await RawConnection.meet(folder)
            #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
            driver.end()
            #expect(await Self.next(2, of: &heard) == ["host left", "disconnected"])
        }
        // A driver that breaks the protocol is no host any more.
        let rude = try await RawConnection.meet(folder)
        #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
        #expect(rude.send(RawConnection.header("Z", 1)))
        #expect(await Self.next(1, of: &heard) == ["host left"])
        #expect(await callDriver { rude.endsInSilence(within: 30_000) })
        rude.end()
        await end(serving)
    }

    @Test func `has one driver at a time, and turns another one away at once`() async throws {
        let serving = server.start()
        let driver = try await RawConnection.meet(folder)
        let other = RawConnection(descriptor: try #require(PrivateSocket.connect(folder.path + "/reader.sock")))
        #expect(await callDriver { other.endsInSilence(within: 30_000) })
        other.end()
        // The first one is served as before.
        #expect(driver.send(RawConnection.header("G", 7, 4) + [0, 0, 0, 0]))
        #expect(await callDriver { driver.receive(8) } == RawConnection.header("R", 7, 2) + [0, 1])
        driver.end()
        await end(serving)
    }

    @Test func `has its answers passed on with their length, however long they are`() async throws {
        let serving = server.start()
        let driver = try await RawConnection.meet(folder)
        // The answer has its status before its bytes.
        #expect(driver.send(RawConnection.header("G", 7, 4) + [0, 0, 1, 0]))
        let short = Array(RawConnection.header("R", 7).prefix(4)) + [1, 2, 0] + [UInt8](repeating: 1, count: 0x0101)
        #expect(await callDriver { driver.receive(6 + 0x0102) } == short)
        #expect(driver.send(RawConnection.header("G", 8, 4) + [0, 1, 2, 1]))
        let long = Array(RawConnection.header("R", 8).prefix(3)) + [1, 2, 3]
        #expect(await callDriver { driver.receive(6) } == long)
        driver.end()
        await end(serving)
    }

    @Test func `has its socket until it is freed, though it was never started`() async throws {
        func another() throws(EmulationError) -> ReaderServer {
            let (_, calls) = AsyncStream.makeStream(of: String.self)
            let firmware = Firmware(calls: calls)
            return try ReaderServer("other.sock", in: folder, reader: firmware, observePresence: { _ in nil })
        }
        var first: ReaderServer? = try another()
        #expect(throws: EmulationError.self) { _ = try another() }
        #expect(first != nil)
        first = nil
        // The socket is closed on the queue of the reader that is gone.
        var second = try? another()
        for _ in 0..<5000 where second == nil {
            try await Task.sleep(for: .milliseconds(2))
            second = try? another()
        }
        #expect(second != nil)
        second = nil
        try folder.remove("other.sock")
        await end(server.start())
    }

    @Test func `leaves a file that is in the place of its socket, and says so`() async throws {
        try folder.write("other.sock", [])
        let (_, calls) = AsyncStream.makeStream(of: String.self)
        let error = #expect(throws: EmulationError.self) {
            try ReaderServer(
                "other.sock",
                in: folder,
                reader: Firmware(calls: calls),
                observePresence: { _ in nil }
            )
        }
        #expect(error?.reason.contains("other.sock is in the place of a socket.") == true)
        try folder.remove("other.sock")
        await end(server.start())
    }

    @Test func `unplugs the reader without a word, and plugs it in again`() async throws {
        let serving = server.start()
        var heard = calls.makeAsyncIterator()
        let driver = try await RawConnection.meet(folder)
        #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
        server.setPlugged(false)
        #expect(await Self.next(2, of: &heard) == ["host left", "disconnected"])
        #expect(await callDriver { driver.endsInSilence(within: 30_000) })
        driver.end()
        #expect(PrivateSocket.connect(folder.path + "/reader.sock") == nil)
        for _ in 0..<2 { server.setPlugged(true) }
        let again = try await RawConnection.meet(folder)
        #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
        again.end()
        #expect(await Self.next(2, of: &heard) == ["host left", "disconnected"])
        await end(serving)
    }

    @Test func `is told when what has happened in the field is reported to pcscd, and only then`() async throws {
        let serving = server.start()
        var heard = calls.makeAsyncIterator()
        let happens = try #require(presence.withLock { $0.handler })
        let (settled, mark) = AsyncStream.makeStream(of: Void.self)
        var marks = settled.makeAsyncIterator()
        // Without a driver nobody is told of a card.
        happens()
        server.whenSettled { mark.yield() }
        await marks.next()
        let driver = try await RawConnection.meet(folder)
        #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
        happens()
        server.whenSettled { mark.yield() }
        await marks.next()
        #expect(await Self.next(1, of: &heard) == ["look"])
        #expect(await callDriver { driver.receive(6) } == RawConnection.header("I"))
        driver.end()
        await end(serving)
    }

    @Test func `takes no host for one that has not answered the greeting`() async throws {
        let serving = server.start()
        var heard = calls.makeAsyncIterator()
        let happens = try #require(presence.withLock { $0.handler })
        let (settled, mark) = AsyncStream.makeStream(of: Void.self)
        var marks = settled.makeAsyncIterator()
        let early = RawConnection(descriptor: try #require(PrivateSocket.connect(folder.path + "/reader.sock")))
        #expect(await callDriver { early.receive(7) } == RawConnection.header("H", 0, 1) + [2])
        happens()
        server.whenSettled { mark.yield() }
        await marks.next()
        early.end()
        // It has not been looked for a card, and no host has left.
        let driver = try await RawConnection.meet(folder)
        #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
        driver.end()
        await end(serving)
    }

    @Test(arguments: [1, 3] as [UInt8])
    func `turns away a driver of another version, which is no host`(version: UInt8) async throws {
        let serving = server.start()
        var heard = calls.makeAsyncIterator()
        let other = RawConnection(descriptor: try #require(PrivateSocket.connect(folder.path + "/reader.sock")))
        await callDriver {
            #expect(other.receive(7) == RawConnection.header("H", 0, 1) + [2])
            #expect(other.send(RawConnection.header("H", 0, 1) + [version]))
            #expect(other.endsInSilence(within: 30_000))
        }
        other.end()
        // Its reader was not asked for a card, and nobody was told of a host.
        server.stop()
        await serving.value
        #expect(await Self.next(1, of: &heard) == ["host left"])
        folder.removeIfEmpty()
    }

    @Test func `takes its card and itself away when it ends, and its reader hears of that`() async throws {
        let serving = server.start()
        var heard = calls.makeAsyncIterator()
        let driver = try await RawConnection.meet(folder)
        #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
        server.stop()
        await serving.value
        #expect(await Self.next(1, of: &heard) == ["host left"])
        #expect(await callDriver { driver.receive(12) } == RawConnection.header("O") + RawConnection.header("B"))
        #expect(await callDriver { driver.endsInSilence(within: 30_000) })
        #expect(unsafe access(folder.path + "/reader.sock", F_OK) != 0)
        driver.end()
        folder.removeIfEmpty()
    }

    @Test func `gives a driver its whole time for the greeting, also when another one has just left`() async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: String.self)
        let place = try PrivateFolder.random("ocn-server")
        let server = try ReaderServer(
            in: place,
            reader: Firmware(calls: continuation),
            observePresence: { _ in nil },
            greetingLimit: 0.5,
            onNotice: { continuation.yield("\($0)") }
        )
        let serving = server.start()
        var heard = calls.makeAsyncIterator()
        let driver = try await RawConnection.meet(place)
        #expect(await Self.next(2, of: &heard) == ["look anew", "connected"])
        // Most of the time of that one.
        try await Task.sleep(for: .milliseconds(300))
        driver.end()
        #expect(await Self.next(2, of: &heard) == ["host left", "disconnected"])
        let start = ContinuousClock.now
        let silent = RawConnection(descriptor: try #require(PrivateSocket.connect(place.path + "/reader.sock")))
        #expect(await callDriver { silent.receive(7) } == RawConnection.header("H", 0, 1) + [2])
        #expect(await callDriver { silent.endsInSilence(within: 30_000) })
        #expect(ContinuousClock.now - start > .milliseconds(400))
        silent.end()
        server.stop()
        await serving.value
        place.removeIfEmpty()
        await end(self.server.start())
    }

    @Test func `keeps a driver that has answered the greeting, however long it stays`() async throws {
        let (_, calls) = AsyncStream.makeStream(of: String.self)
        let place = try PrivateFolder.random("ocn-server")
        let server = try ReaderServer(
            in: place,
            reader: Firmware(calls: calls),
            observePresence: { _ in nil },
            greetingLimit: 0.1
        )
        let serving = server.start()
        let driver = try await RawConnection.meet(place)
        // Longer than the limit.
        try await Task.sleep(for: .milliseconds(300))
        #expect(driver.send(RawConnection.header("G", 7, 4) + [0, 0, 0, 0]))
        #expect(await callDriver { driver.receive(8) } == RawConnection.header("R", 7, 2) + [0, 1])
        driver.end()
        server.stop()
        await serving.value
        place.removeIfEmpty()
        await end(self.server.start())
    }
}
