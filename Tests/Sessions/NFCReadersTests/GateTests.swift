// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import NFCTestKit
import TagLink
import Testing

@testable import NFCReaders  // the gate's messages and its server are internal

/// The gate between apps and the service that reads in the background, over its socket.
@Suite(.timeLimit(.minutes(1))) struct GateTests {
    /// A service, and the events that it gets.
    private final class Service {
        let folder: Folder
        let gate: ReaderGate
        let server: ReaderGateServer
        private var wanted: AsyncStream<Set<ReaderGate.Purpose>>.Iterator
        private var reported: AsyncStream<[[UInt8]]>.Iterator

        init() throws {
            folder = try Folder()
            gate = ReaderGate(path: folder.path + "/nfc/background")
            let (purposes, wants) = AsyncStream.makeStream(of: Set<ReaderGate.Purpose>.self)
            let (tags, reports) = AsyncStream.makeStream(of: [[UInt8]].self)
            server = try ReaderGateServer(gate) {
                reports.yield($0)
            } onChange: {
                wants.yield($0)
            }
            (wanted, reported) = (purposes.makeAsyncIterator(), tags.makeAsyncIterator())
        }

        func wants() async -> Set<ReaderGate.Purpose>? { await wanted.next(isolation: #isolation) }
        func reports() async -> [[UInt8]]? { await reported.next(isolation: #isolation) }
    }

    /// A program that sends its own messages to the gate.
    private final class Program {
        let descriptor: Int32

        init(_ gate: ReaderGate, _ bytes: [UInt8] = []) throws {
            descriptor = try #require(PrivateSocket.connect(gate.path))
            if !bytes.isEmpty { say(bytes) }
        }

        deinit { close(descriptor) }

        func say(_ bytes: [UInt8]) { ReaderGate.send(bytes, to: descriptor) }

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

    private static let session: UInt8 = 0x52
    private static let card: UInt8 = 0x43
    private static let tag: UInt8 = 0x54
    private static let granted: [UInt8] = [0x59]

    // MARK: Messages

    private static let whole: [UInt8] = [session, tag, 4, 1, 2, 3, 4, tag, 0, tag, 2, 9, 8]
    private static let messages: [GateMessages.Message] = [
        .purpose(.session), .tag([1, 2, 3, 4]), .tag([]), .tag([9, 8]),
    ]

    @Test func `messages of programs: parsed the same however the bytes are split; an incomplete one is not returned`()
    {
        for cut in 0...Self.whole.count {
            var reader = GateMessages()
            #expect(reader.take(Self.whole[..<cut]) + reader.take(Self.whole[cut...]) == Self.messages)
        }
        var reader = GateMessages()
        #expect(Self.whole.flatMap { reader.take([$0]) } == Self.messages)
        var cut = GateMessages()
        #expect(cut.take(Self.whole.dropLast()) == Self.messages.dropLast())
    }

    @Test(arguments: [[0x00], [session, session], [card, tag, 11], [tag, 1, 1], [session, tag, 255]] as [[UInt8]])
    func `invalid message of a program: the program is disconnected and no longer wants the reader`(bytes: [UInt8])
        async throws
    {
        var reader = GateMessages()
        #expect(reader.take(bytes).last == .invalid && reader.take(Self.whole) == [])
        let service = try Service()
        let program = try Program(service.gate, bytes)
        #expect(program.hears() == [])
        #expect(await service.wants() == [])
    }

    // MARK: The service

    @Test func `reader gate: a grant answers each waiting program once, and no program that has not stated a purpose`()
        async throws
    {
        let service = try Service()
        let (one, other) = (try Program(service.gate, [Self.session]), try Program(service.gate))
        #expect(await service.wants() == [.session])
        service.server.grant()
        #expect(one.hears() == Self.granted && !other.hasAnswer)
        other.say([Self.card])
        #expect(await service.wants() == [.session, .card])
        service.server.grant()
        #expect(other.hears() == Self.granted && !one.hasAnswer)
    }

    @Test func `reader gate: the wanted purposes are those of all open connections, and shrink as they close`()
        async throws
    {
        let service = try Service()
        var programs: [Program] = []
        let wants: [(UInt8, Set<ReaderGate.Purpose>)] = [
            (Self.session, [.session]), (Self.session, [.session]), (Self.card, [.session, .card]),
        ]
        for (byte, wanted) in wants {
            programs.append(try Program(service.gate, [byte]))
            #expect(await service.wants() == wanted)
        }
        for wanted in [[.session], [.session], []] as [Set<ReaderGate.Purpose>] {
            programs.removeLast()
            #expect(await service.wants() == wanted)
        }
    }

    @Test func `second server at the same gate, or a gate whose folder can't be made: init throws with a reason`()
        throws
    {
        let service = try Service()
        for gate in [service.gate, ReaderGate(path: "/dev/null/background")] {
            let error = #expect(throws: ReaderGateServer.Failure.self) { try ReaderGateServer(gate) { _ in } }
            #expect(error?.reason.isEmpty == false)
        }
    }

    @Test func `service that ends: its programs are disconnected, and another service can open the same gate`()
        async throws
    {
        var service: Service? = try Service()
        let (gate, folder) = try (#require(service?.gate), #require(service?.folder))
        let program = try Program(gate, [Self.session])
        #expect(await service?.wants() == [.session])
        service = nil
        #expect(program.hears() == [])
        // The socket is closed on the server's queue.
        while (try? ReaderGateServer(gate) { _ in }) == nil { await Task.yield() }
        withExtendedLifetime(folder) {}
    }

    // MARK: Apps

    @Test func `claim: waits for the grant, reports tag UIDs to the service, and gives the reader back when released`()
        async throws
    {
        let service = try Service()
        func hold() async throws {
            let (gate, clock) = (service.gate, ManualClock())
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
            // Nothing is left of the wait.
            #expect(clock.scheduledEventCount == 0)
            held.note([[1, 2, 3, 4], Array(1...10), Array(1...11), []])
            // One that is longer than any identifier is left out.
            var reported: [[UInt8]] = []
            while reported.count < 3 { reported += await service.reports() ?? [] }
            #expect(reported == [[1, 2, 3, 4], Array(1...10), []])
        }
        try await hold()
        #expect(await service.wants() == [])
    }

    @Test func `claim that the service does not answer: ends after two seconds; without a service: nil at once`()
        async throws
    {
        let service = try Service()
        let (gate, clock) = (service.gate, ManualClock())
        async let claim = gate.claim(for: .session, clock: clock)
        #expect(await service.wants() == [.session])
        while clock.scheduledEventCount == 0 { await Task.yield() }
        clock.advance(by: .milliseconds(1_999))
        #expect(clock.scheduledEventCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await claim != nil)
        let nowhere = ReaderGate(path: "/tmp/no-such-folder/background")
        #expect(await nowhere.claim(for: .session, clock: ManualClock()) == nil)
        #expect(nowhere.folder == "/tmp/no-such-folder" && nowhere.name == "background")
    }
}
