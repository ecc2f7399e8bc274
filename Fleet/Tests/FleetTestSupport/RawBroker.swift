// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A port of this machine that answers the first bytes of each connection with given ones, as no real broker would.
package final class RawBroker: @unchecked Sendable {
    // Sendable because the list has a lock.
    private let listener: LocalListener
    private let answer: [UInt8]
    private let lock = NSLock()
    private var clients: [Int32] = []

    package var port: Int { listener.port }
    package var url: String { "mqtt://127.0.0.1:\(port)" }
    /// How many connections were answered.
    package var count: Int { lock.withLock { clients.count } }

    /// - Parameter answer: the bytes. The connection stays open after them.
    package init(_ answer: [UInt8]) throws {
        listener = try LocalListener()
        self.answer = answer
        // The thread has the listener too. Else it could accept at a number that is another one's by then, and take its clients.
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let client = accept(listener.descriptor, nil, nil)
                guard client >= 0 else { return }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                guard let self else {
                    close(client)
                    return
                }
                serve(client)
            }
        }
    }

    private func serve(_ client: Int32) {
        var bytes = [UInt8](repeating: 0, count: 512)
        _ = unsafe recv(client, &bytes, bytes.count, 0)
        _ = unsafe answer.withUnsafeBytes {
            unsafe send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        lock.withLock { clients.append(client) }
    }

    deinit {
        // Ends the thread that accepts.
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        for client in clients { close(client) }
    }
}
