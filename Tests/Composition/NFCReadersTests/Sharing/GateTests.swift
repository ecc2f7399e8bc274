// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCRuntime
import NFCTestKit
import PrivateStorage
import TagLink
import Testing

@testable import NFCReaders

/// Checks the gate between apps and the service that reads in the background, over its socket.
@Suite(.timeLimit(.minutes(1))) struct `The gate of the service that reads in the background` {
    /// A service, and the events that it gets.
    private final class Service {
        let folder = NSTemporaryDirectory() + "gate-\(UUID().uuidString.prefix(8))"
        let gate: ReaderGate
        let server: ReaderGateServer
        private var wanted: AsyncStream<Set<ReaderGate.Purpose>>.Iterator
        private var reported: AsyncStream<[[UInt8]]>.Iterator

        init() throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            gate = ReaderGate(path: folder + "/nfc/background")
            let (purposes, wants) = AsyncStream.makeStream(of: Set<ReaderGate.Purpose>.self)
            let (tags, reports) = AsyncStream.makeStream(of: [[UInt8]].self)
            server = try ReaderGateServer(gate) {
                reports.yield($0)
            } onChange: {
                wants.yield($0)
            }
            (wanted, reported) = (purposes.makeAsyncIterator(), tags.makeAsyncIterator())
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func wants() async -> Set<ReaderGate.Purpose>? { await wanted.next(isolation: #isolation) }
        func reports() async -> [[UInt8]]? { await reported.next(isolation: #isolation) }
    }

    /// A program that sends its own messages to the gate.
    private final class Program {
        let descriptor: Int32

        init(_ gate: ReaderGate) throws { descriptor = try #require(PrivateSocket.connect(gate.path)) }

        deinit { close(descriptor) }

        func say(_ bytes: [UInt8]) { ReaderGate.send(bytes, to: descriptor) }

        /// Says a byte out of band, and waits until the service has looked: it has found nothing to read.
        ///
        /// - Returns: false on a system without such bytes.
        func saysOutOfBand() async -> Bool {
            let byte: [UInt8] = [0]
            guard unsafe send(descriptor, byte, 1, Int32(MSG_OOB | MSG_NOSIGNAL)) == 1 else {
                return false
            }
            var unread: CInt = 1
            while unsafe ioctl(descriptor, UInt(TIOCOUTQ), &unread) == 0, unread > 0 { await Task.yield() }
            return true
        }

        /// What the service says next; nothing when it has closed the connection.
        func hears() -> [UInt8] {
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 10_000)
            var buffer = [UInt8](repeating: 0, count: 8)
            let count = unsafe read(descriptor, &buffer, buffer.count)
            return Array(buffer.prefix(max(count, 0)))
        }

        /// Whether the service has something for it now.
        var hasAnswer: Bool {
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&poller, 1, 0) > 0
        }
    }

    @Test func `Each who wants the reader is answered once, when the service has given it up`() async throws {
        let service = try Service()
        let (one, other) = (try Program(service.gate), try Program(service.gate))
        one.say([0x52])
        #expect(await service.wants() == [.session])
        // Who has not said what for is not answered.
        service.server.grant()
        #expect(one.hears() == [0x59])
        #expect(!other.hasAnswer)
        other.say([0x43])
        #expect(await service.wants() == [.session, .card])
        service.server.grant()
        #expect(other.hears() == [0x59])
        #expect(!one.hasAnswer)
    }

    @Test func `The reader is wanted for what the connections that are open say`() async throws {
        let service = try Service()
        var programs: [Program] = []
        let wants: [(UInt8, Set<ReaderGate.Purpose>)] = [
            (0x52, [.session]), (0x52, [.session]), (0x43, [.session, .card]),
        ]
        for (byte, wanted) in wants {
            programs.append(try Program(service.gate))
            programs.last?.say([byte])
            #expect(await service.wants() == wanted)
        }
        for wanted in [[.session], [.session], []] as [Set<ReaderGate.Purpose>] {
            programs.removeLast()
            #expect(await service.wants() == wanted)
        }
    }

    @Test func `Tags are heard of whole, in order, and before the reader is free`() async throws {
        let service = try Service()
        var program: Program? = try Program(service.gate)
        program?.say([0x52])
        #expect(await service.wants() == [.session])
        program?.say([0x54, 4, 1, 2])
        program?.say([3, 4])
        #expect(await service.reports() == [[1, 2, 3, 4]])
        program?.say([0x54, 10] + Array(1...10) + [0x54, 0])
        program = nil
        #expect(await service.reports() == [Array(1...10), []])
        #expect(await service.wants() == [])
    }

    @Test(arguments: [[0x00], [0x52, 0x00], [0x43, 0x54, 11]] as [[UInt8]])
    func `A program with an invalid message is disconnected`(nonsense: [UInt8]) async throws {
        let service = try Service()
        let program = try Program(service.gate)
        program.say(nonsense)
        #expect(program.hears() == [])
        #expect(await service.wants() == [])
    }

    @Test func `A program is not disconnected when there is nothing to read after all`() async throws {
        let service = try Service()
        let program = try Program(service.gate)
        guard await program.saysOutOfBand() else { return }
        program.say([0x52])
        #expect(await service.wants() == [.session])
        service.server.grant()
        #expect(program.hears() == [0x59])
    }

    @Test func `Too many programs are disconnected, and there is room again when some have left`()
        async throws
    {
        let service = try Service()
        var programs: [Program] = []
        for _ in 0..<ReaderGateServer.maximumConnections {
            programs.append(try Program(service.gate))
            programs.last?.say([0x52])
            #expect(await service.wants() == [.session])
        }
        let late = try Program(service.gate)
        #expect(late.hears() == [])
        programs.removeLast()
        #expect(await service.wants() == [.session])
        let next = try Program(service.gate)
        next.say([0x43])
        #expect(await service.wants() == [.session, .card])
    }

    @Test func `One service has a gate, and it is closed with the service`() async throws {
        let service = try Service()
        #expect { try ReaderGateServer(service.gate) { _ in } } throws: { error in
            (error as? ReaderGateServer.Failure)?.reason.isEmpty == false && "\(error)".hasSuffix(".")
        }
        // In the place of a folder there is a file.
        #expect(throws: ReaderGateServer.Failure.self) {
            try ReaderGateServer(ReaderGate(path: "/dev/null/background")) { _ in }
        }
    }

    @Test func `A service that ends closes its gate and its connections`() async throws {
        var service: Service? = try Service()
        let gate = try #require(service?.gate)
        let program = try Program(gate)
        program.say([0x52])
        #expect(await service?.wants() == [.session])
        service = nil
        #expect(program.hears() == [])
        #expect(PrivateSocket.connect(gate.path) == nil)
    }

    @Test func `A claim waits for the answer, and returns the reader when it is released`() async throws {
        let service = try Service()
        try await Self.hold(service)
        #expect(await service.wants() == [])
    }

    /// Takes the reader, reports tags, and releases it.
    private static func hold(_ service: Service) async throws {
        let gate = service.gate
        let clock = ManualClock()
        let isHeld = Locked(false)
        async let claim = {
            defer { isHeld.withLock { $0 = true } }
            return await gate.claim(for: .card, clock: clock)
        }()
        #expect(await service.wants() == [.card])
        while clock.scheduledEventCount == 0, !isHeld.withLock({ $0 }) { await Task.yield() }
        #expect(!isHeld.withLock { $0 })
        service.server.grant()
        let held = try #require(await claim)
        // Nothing is left of the wait: the answer, which stays unread, wakes nobody any more.
        #expect(clock.scheduledEventCount == 0)
        #expect(try #require(held as? GateClaim).answer?.isCancelled == true)
        held.note([[1, 2, 3, 4], Array(1...10), Array(1...11), []])
        // One that is longer than any identifier is left out.
        var reported: [[UInt8]] = []
        while reported.count < 3 { reported += await service.reports() ?? [] }
        #expect(reported == [[1, 2, 3, 4], Array(1...10), []])
    }

    @Test func `A service that does not answer is waited for no longer than two seconds`() async throws {
        let service = try Service()
        let gate = service.gate
        let clock = ManualClock()
        async let claim = gate.claim(for: .session, clock: clock)
        #expect(await service.wants() == [.session])
        while clock.scheduledEventCount == 0 { await Task.yield() }
        clock.advance(by: .milliseconds(1_999))
        #expect(clock.scheduledEventCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await claim != nil)
    }

    @Test func `Without a service nothing is claimed, and a session looks at once`() async throws {
        let gate = ReaderGate(path: "/tmp/no-such-folder/background")
        #expect(await gate.claim(for: .session, clock: ManualClock()) == nil)
        #expect(gate.folder == "/tmp/no-such-folder" && gate.name == "background")
    }

    @Test func `A gate whose service has ended is open to the next one`() async throws {
        let folder = NSTemporaryDirectory() + "gate-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let gate = ReaderGate(path: folder + "/nfc/background")
        var server: ReaderGateServer? = try ReaderGateServer(gate) { _ in }
        close(try #require(PrivateSocket.connect(gate.path)))
        withExtendedLifetime(server) {}
        server = nil
        // The socket is closed on the server's queue.
        while server == nil {
            await Task.yield()
            server = try? ReaderGateServer(gate) { _ in }
        }
        close(try #require(PrivateSocket.connect(gate.path)))
        withExtendedLifetime(server) {}
    }
}
