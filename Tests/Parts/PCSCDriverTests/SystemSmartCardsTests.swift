// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver

/// Checks how calls to libpcsclite from several threads are put in order.
@Suite("The calls to libpcsclite")
struct SystemSmartCardsTests {
    @Test("close one context or card at a time", .ownThreads)
    func oneAtATime() async {
        let cards = SystemSmartCards { _ in .counting }
        let card = SmartCardHandle(handle: 1, activeProtocol: 2, answerToReset: [])
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    if number % 2 == 0 { cards.releaseContext(number) } else { cards.disconnect(card, .leave) }
                }
            }
        }
        #expect(Closings.counts.withLock { $0 } == Closings.Counts(now: 0, most: 1, all: 8))
    }

    /// A socket that takes two connections, as a service does: it hangs up on a probe, and waits for the end of the
    /// library's.
    private static func service() throws -> Socket {
        let socket = try Socket()
        let service = Thread {
            close(socket.accept())
            let peer = socket.accept()
            var byte: UInt8 = 0
            _ = unsafe read(peer, &byte, 1)
            close(peer)
        }
        service.start()
        return socket
    }

    @Test("are ended by the end of their context's connection, or by the library where that is not known", .ownThreads)
    func abandons() async throws {
        let socket = try Self.service()
        await #expect(processExitsWith: .success) { [path = socket.path as String] in
            _ = unsafe setenv("PCSCLITE_CSOCK_NAME", path, 1)
            let cards = SystemSmartCards { _ in .connecting }
            let context = try cards.establishContext(WaitCut())
            let own = Connecting.state.withLock { $0.descriptor }
            #expect(context == 5 && own >= 0)
            let copies = ServiceSocket.connections().subtracting([own])
            let copy = try #require(copies.first)
            #expect(copies.count == 1 && fcntl(copy, F_GETFD) & FD_CLOEXEC != 0)
            var byte: UInt8 = 0
            #expect(unsafe recv(own, &byte, 1, Int32(MSG_DONTWAIT)) == -1)
            cards.abandon(context)
            #expect(unsafe recv(own, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
            cards.releaseContext(context)
            #expect(fcntl(copy, F_GETFD) == -1 && fcntl(own, F_GETFD) != -1)
            // Another context's connection is not known.
            cards.abandon(9)
            try await waitWhile(Connecting.state.withLock { $0.cancelled.isEmpty })
            #expect(Connecting.state.withLock { $0.cancelled } == [9])
        }
    }

    @Test("are ended while they wait for the service to take their connection", .ownThreads)
    func connects() async throws {
        let socket = try Self.service()
        await #expect(processExitsWith: .success) { [path = socket.path as String] in
            _ = unsafe setenv("PCSCLITE_CSOCK_NAME", path, 1)
            Connecting.state.withLock { $0.isSilent = true }
            let cut = WaitCut()
            let cutter = Thread {
                waitWhile(Connecting.state.withLock { $0.descriptor } == -1)
                cut.cut()
            }
            cutter.start()
            let error = #expect(throws: SmartCardError.self) {
                _ = try SystemSmartCards { _ in .connecting }.establishContext(cut)
            }
            #expect(error?.code == .noService && error?.call == "SCardEstablishContext")
            // Nothing is left but what the library has.
            let own = Connecting.state.withLock { $0.descriptor }
            #expect(ServiceSocket.connections().subtracting([own]).isEmpty)
        }
    }
}

/// The connection of the connecting library.
private enum Connecting {
    struct State {
        var descriptor: Int32 = -1
        /// Whether the library waits for an answer to its connection.
        var isSilent = false
        /// The contexts whose calls were cancelled.
        var cancelled: [Int] = []
    }

    static let state = Locked(State())

    static func connect() -> Int {
        let descriptor = Socket.connect(ServiceSocket.path)
        let isSilent = state.withLock { state in
            state.descriptor = descriptor
            return state.isSilent
        }
        guard isSilent else { return 0 }
        var byte: UInt8 = 0
        _ = unsafe read(descriptor, &byte, 1)
        // SCARD_E_NO_SERVICE
        return 0x8010_001D
    }
}

/// The calls of the counting library that close a context or a card.
private enum Closings {
    struct Counts: Equatable {
        /// The calls in progress.
        var now = 0
        /// The most that were in progress at one time.
        var most = 0
        /// All calls.
        var all = 0
    }

    static let counts = Locked(Counts())

    static func count() -> Int {
        counts.withLock { counts in
            counts.now += 1
            counts.all += 1
            counts.most = max(counts.most, counts.now)
        }
        usleep(2000)
        counts.withLock { $0.now -= 1 }
        return 0
    }
}

extension PCSCLite {
    /// A library whose calls take a moment, and count how many there are at a time.
    fileprivate static var counting: PCSCLite {
        unsafe PCSCLite(
            establish: { _, _, _, _ in 0 },
            release: { _ in Closings.count() },
            cancel: { _ in 0 },
            list: { _, _, _, _ in 0 },
            statusChange: { _, _, _, _ in 0 },
            connect: { _, _, _, _, _, _ in 0 },
            reconnect: { _, _, _, _, _ in 0 },
            disconnect: { _, _ in Closings.count() },
            status: { _, _, _, _, _, _, _ in 0 },
            transmit: { _, _, _, _, _, _, _ in 0 },
            control: { _, _, _, _, _, _, _ in 0 },
            attribute: { _, _, _, _ in 0 }
        )
    }
}

extension PCSCLite {
    /// A library that connects to the socket of the service, and does nothing else.
    fileprivate static var connecting: PCSCLite {
        unsafe PCSCLite(
            establish: { _, _, _, context in
                unsafe context.pointee = 5
                return Connecting.connect()
            },
            release: { _ in 0 },
            cancel: { context in
                Connecting.state.withLock { $0.cancelled.append(context) }
                return 0
            },
            list: { _, _, _, _ in 0 },
            statusChange: { _, _, _, _ in 0 },
            connect: { _, _, _, _, _, _ in 0 },
            reconnect: { _, _, _, _, _ in 0 },
            disconnect: { _, _ in 0 },
            status: { _, _, _, _, _, _, _ in 0 },
            transmit: { _, _, _, _, _, _, _ in 0 },
            control: { _, _, _, _, _, _, _ in 0 },
            attribute: { _, _, _, _ in 0 }
        )
    }
}
