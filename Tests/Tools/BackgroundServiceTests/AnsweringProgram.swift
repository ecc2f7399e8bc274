// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestThreads
import Testing
import UserBus

/// A program on a bus that has a name, and answers calls as a test says.
final class AnsweringProgram: Sendable {
    private let signals = Mutex<[(object: BusCall.Object, name: String, values: [BusValue])]>([])
    private let isReady = Mutex(false)
    private let isStopped = Mutex(false)
    private let ended = DispatchSemaphore(value: 0)

    init(
        _ address: String,
        _ name: String,
        answer: @escaping @Sendable (ReceivedMessage, BusConnection) throws -> Void
    ) throws {
        Thread.detachNewThread { [self] in
            defer { ended.signal() }
            try? run(address, name, answer)
        }
        waitWhile(!hasName)
        try #require(hasName)
    }

    private var hasName: Bool { isReady.withLock { $0 } }

    private func run(
        _ address: String,
        _ name: String,
        _ answer: (ReceivedMessage, BusConnection) throws -> Void
    ) throws {
        let bus = try BusConnection(.user, address: address)
        try bus.take(name)
        isReady.withLock { $0 = true }
        while !isStopped.withLock({ $0 }) {
            let waiting = signals.withLock { signals in
                defer { signals = [] }
                return signals
            }
            for signal in waiting { try bus.emit(signal.object, signal.name, signal.values) }
            while let message = try bus.receive() {
                if message.isCall { try answer(message, bus) }
            }
            var poller = pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 20)
        }
    }

    /// Makes it emit a signal soon.
    func emit(_ object: BusCall.Object, _ name: String, _ values: [BusValue] = []) {
        signals.withLock { $0.append((object, name, values)) }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        ended.wait()
    }
}
