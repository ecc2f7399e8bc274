// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Foundation
import Glibc
import PrivateStorage
import Synchronization

/// A way to a bus for one connection. It answers a call before it has taken the whole of it, in the place of who was called.
final class EarlyAnswer: Sendable {
    /// The address of this way.
    let address: String
    private let sender: String
    private let answersNext = Atomic(false)

    /// Opens a way, which ends with its connection.
    ///
    /// - Parameter sender: the unique name of who answers.
    init(_ bus: TestBus, from sender: String) throws {
        self.sender = sender
        // In place of the socket's own name, and without the identifier of the bus.
        address = String(bus.address.prefix { $0 != "," }.dropLast("bus".count)) + "early"
        let listener = try PrivateSocket.listen("early", in: try PrivateFolder(bus.path))
        Thread.detachNewThread { [self, path = bus.path] in
            defer { close(listener) }
            var polled = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&polled, 1, 60_000) > 0, let client = PrivateSocket.accept(listener) else { return }
            defer { close(client) }
            guard let bus = PrivateSocket.connect(path + "/bus") else { return }
            defer { close(bus) }
            serve(client, bus)
        }
    }

    /// Answers the next call. From now on nothing of the connection reaches the bus.
    func answerNext() { answersNext.store(true, ordering: .releasing) }

    private func serve(_ client: Int32, _ bus: Int32) {
        var polled = [client, bus].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var hasAnswered = false
        while unsafe poll(&polled, 2, -1) > 0 {
            if polled[0].revents != 0 {
                let count = unsafe read(client, &buffer, buffer.count)
                guard count > 0 else { return }
                if !answersNext.load(ordering: .acquiring) {
                    send(Array(buffer[..<count]), to: bus)
                } else if !hasAnswered {
                    hasAnswered = true
                    // The number of a call is behind its kind and the length of its values.
                    send(answer(to: Array(buffer[8..<12])), to: client)
                }
            }
            if polled[1].revents != 0 {
                let count = unsafe read(bus, &buffer, buffer.count)
                guard count > 0 else { return }
                send(Array(buffer[..<count]), to: client)
            }
        }
    }

    /// An answer without values, with the two fields that it needs (D-Bus Specification 0.38, Message Format).
    private func answer(to number: [UInt8]) -> [UInt8] {
        let name = Array(sender.utf8)
        let call: [UInt8] = [5, 1, 0x75, 0] + number
        let sender: [UInt8] = [7, 1, 0x73, 0, UInt8(name.count), 0, 0, 0] + name + [0]
        let head: [UInt8] = [0x6C, 2, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, UInt8(call.count + sender.count), 0, 0, 0]
        let bytes = head + call + sender
        return bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
