// SPDX-License-Identifier: Apache-2.0
import Glibc
import SimulatorModel

/// A browser's connection. Forwards one request to the web server once its head is complete, and returns the answer.
///
/// Used only on the thread of ``PageGate``. No method blocks.
final class GateConnection {
    private enum Phase {
        /// Reading the request's head.
        case head
        /// The request was forwarded. `left` is the number of body bytes still to receive.
        case request(left: Int)
        /// A WebSocket was requested. Data from the client is held back until the server agrees.
        case upgrade
        /// WebSocket messages are forwarded in both directions.
        case socket
        /// The answer is complete. Further data from the client is read for a while and dropped, because closing a
        /// connection with unread bytes may discard the answer.
        case ending
    }

    /// The time limits for receiving the head, for a request without progress, and for closing the connection.
    static let headTime = Duration.seconds(10)
    static let requestTime = Duration.seconds(60)
    static let endTime = Duration.seconds(2)

    private let client: Int32
    private var server: Int32 = -1
    private let target: String
    private let guardian: PageGuard
    /// When the connection began or last made progress.
    private var lastProgress = ContinuousClock.now
    private var phase = Phase.head
    private var received: [UInt8] = []
    private var search = RequestHead.Search()
    private var toServer: ArraySlice<UInt8> = []
    private var toClient: ArraySlice<UInt8> = []
    private var meter = MessageMeter()
    private var hasEnded = false
    /// When to close the connection; nil for a WebSocket.
    private(set) var deadline: ContinuousClock.Instant?
    private(set) var isClosed = false

    /// - Parameters:
    ///   - client: the descriptor of the connection. This object closes it.
    ///   - target: the path of the web server's socket.
    ///   - guardian: decides which requests are forwarded.
    init(_ client: Int32, target: String, guardian: PageGuard) {
        self.client = client
        self.target = target
        self.guardian = guardian
        deadline = lastProgress + Self.headTime
    }

    /// Whether a newer connection may replace this one, because it has made no progress for a while.
    var canBeReplaced: Bool {
        let time = ContinuousClock.now - lastProgress
        return switch phase {
        case .head, .ending: time > .seconds(1)
        case .request, .upgrade: time > .seconds(5)
        case .socket: false
        }
    }

    /// Whether the client is still waiting for an answer or for the rest of one.
    var isAnswering: Bool {
        switch phase {
        case .request: true
        case .ending: !hasEnded
        case .head, .upgrade, .socket: false
        }
    }

    /// The events to poll for.
    var entries: (client: pollfd, server: pollfd) {
        var events: Int32 = 0
        switch phase {
        case .head, .ending: events |= POLLIN
        case .request(let left): if left > 0, toServer.isEmpty { events |= POLLIN }
        case .socket: if toServer.isEmpty { events |= POLLIN }
        case .upgrade: break
        }
        if !toClient.isEmpty { events |= POLLOUT }
        let serverEvents = (toServer.isEmpty ? 0 : POLLOUT) | (toClient.isEmpty ? POLLIN : 0)
        return (
            pollfd(fd: client, events: Int16(events), revents: 0),
            // A descriptor without events is left out, because `poll` would report its end again and again.
            pollfd(fd: serverEvents == 0 ? -1 : server, events: Int16(serverEvents), revents: 0)
        )
    }

    /// Handles events as far as possible without blocking.
    ///
    /// - Parameters:
    ///   - clientEvents: the events of the client's descriptor.
    ///   - serverEvents: the events of the server's descriptor.
    func handle(client clientEvents: Int16, server serverEvents: Int16) {
        if Int32(serverEvents) & (POLLIN | POLLHUP | POLLERR) != 0, toClient.isEmpty { readServer() }
        let events = Int32(clientEvents)
        if events & POLLIN != 0 {
            readClient()
        } else if events & (POLLHUP | POLLERR | POLLNVAL) != 0 {
            close()
        }
        write()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        Glibc.close(client)
        closeServer()
    }

    func refuse(_ refusal: RequestHead.Refusal) {
        let isJSON = refusal.code != nil
        let body =
            isJSON
            ? (["error": JSON(refusal.code), "message": .string(refusal.message)] as JSON).text : refusal.message + "\n"
        let type = isJSON ? "application/json; charset=utf-8" : "text/plain; charset=utf-8"
        answer(refusal.status, ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)"], body)
    }

    /// Sends an answer without the web server.
    private func answer(_ status: String, _ headers: [String], _ body: String = "") {
        var lines = ["HTTP/1.1 \(status)", "Connection: close", "Cache-Control: no-store"] + headers
        lines += PageGuard.headers.map { "\($0.name): \($0.value)" }
        toClient += Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        end()
        write()
    }

    // MARK: The client

    private func readClient() {
        guard let bytes = Self.receive(client) else { return }
        guard !bytes.isEmpty else { return clientEnded() }
        switch phase {
        case .head:
            received += bytes
            readHead()
        case .request(let left):
            toServer += bytes.prefix(left)
            phase = .request(left: max(0, left - bytes.count))
            recordProgress()
        case .socket:
            guard meter.takes(bytes) else { return close() }
            toServer += bytes
        case .upgrade, .ending: break
        }
    }

    private func readHead() {
        do throws(RequestHead.Refusal) {
            guard let end = try RequestHead.end(of: received, &search) else { return }
            let head = try RequestHead(received[..<end])
            guard PeerUser.isOwnOrRoot(client) else { throw .forbidden(.user) }
            if head.isEntry {
                try head.enter(guardian)
                return answer("204 No Content", ["Set-Cookie: \(guardian.cookie)"])
            }
            let bytes = try head.checked(by: guardian)
            guard connect() else { throw .busy }
            let rest = received[end...]
            toServer = bytes[...]
            if head.isUpgrade {
                // Clients rarely send messages before the server's answer. Keep the few bytes that arrived.
                received = Array(rest)
                phase = .upgrade
            } else {
                received = []
                toServer += rest.prefix(head.bodyLength)
                phase = .request(left: max(0, head.bodyLength - rest.count))
                if head.waitsForPermission { toClient += Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
            }
            recordProgress()
        } catch {
            refuse(error)
        }
    }

    private func clientEnded() {
        switch phase {
        case .socket:
            // The server may still send the rest of its data.
            shutdown(server, Int32(SHUT_WR))
            phase = .request(left: 0)
            recordProgress()
        case .head, .request, .upgrade, .ending: close()
        }
    }

    // MARK: The web server

    private func connect() -> Bool {
        server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(target.utf8)
        guard server >= 0, path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        return unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private func readServer() {
        guard let bytes = Self.receive(server) else { return }
        guard !bytes.isEmpty else { return end() }
        toClient = bytes[...]
        guard case .upgrade = phase else {
            if case .request = phase { recordProgress() }
            return
        }
        if bytes.starts(with: Array("HTTP/1.1 101 ".utf8)) {
            guard meter.takes(received) else { return close() }
            toServer += received
            phase = .socket
            deadline = nil
        } else {
            shutdown(server, Int32(SHUT_WR))
            phase = .request(left: 0)
        }
        received = []
    }

    private func closeServer() {
        if server >= 0 { Glibc.close(server) }
        server = -1
        toServer = []
    }

    // MARK: Both

    private func write() {
        guard !isClosed else { return }
        if server >= 0, !Self.send(&toServer, to: server) {
            // The web server may answer and close before it has read the whole request.
            toServer = []
            if case .request = phase { phase = .request(left: 0) }
        }
        guard Self.send(&toClient, to: client) else { return close() }
        if case .ending = phase, toClient.isEmpty, !hasEnded {
            hasEnded = true
            deadline = .now + Self.endTime
            shutdown(client, Int32(SHUT_WR))
        }
    }

    /// Records progress, and extends the deadline.
    private func recordProgress() {
        lastProgress = .now
        deadline = lastProgress + Self.requestTime
    }

    private func end() {
        closeServer()
        received = []
        phase = .ending
        recordProgress()
    }

    /// Reads the available bytes: empty at the end of the stream, nil if nothing is available yet.
    private static func receive(_ descriptor: Int32) -> [UInt8]? {
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
            let read = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
            failure = read < 0 ? errno : 0
            count = max(0, read)
        }
        return failure == EAGAIN || failure == EINTR ? nil : bytes
    }

    /// Sends as many bytes as possible without blocking.
    ///
    /// - Returns: false if the connection is broken.
    private static func send(_ bytes: inout ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            bytes = bytes.dropFirst(count)
        }
        bytes = []
        return true
    }
}
