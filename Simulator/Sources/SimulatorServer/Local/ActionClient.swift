// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
public import SimulatorModel

/// Sends actions to a running simulator, as `POST /do` to the web server's socket in the private folder.
public struct ActionClient: Sendable {
    private let path: String

    /// Creates a client.
    ///
    /// - Parameter location: the location of the running simulator.
    public init(_ location: SimulatorLocation) { path = location.pageSocketPath }

    /// Sends an action, and waits for its result.
    ///
    /// - Throws: ``SimulatorFailure``: the simulator's own error, or `not-running` if there is no answer.
    public func perform(_ action: JSON) throws(SimulatorFailure) -> JSON {
        let body = action.bytes
        guard body.count <= Limits.action else {
            throw SimulatorFailure("too-large", "An action can have at most \(Limits.action) bytes.")
        }
        let head = """
            POST /do HTTP/1.1\r
            Host: simulator\r
            \(PageAccess.header): \(PageAccess.local.rawValue)\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        guard let answer = exchange(Array(head.utf8) + body), let end = Self.endOfHead(answer),
            let result = try? JSON(parsing: answer[end...])
        else { throw SimulatorFailure("not-running", "The simulator does not answer. Start one with: nfc simulator") }
        if let code = result["error"]?.string, !answer.starts(with: Array("HTTP/1.1 200".utf8)) {
            throw SimulatorFailure(code, result["message"]?.string ?? code)
        }
        return result
    }

    /// Sends a request, and returns everything received until the other side closes the connection.
    private func exchange(_ request: [UInt8]) -> [UInt8]? {
        guard let descriptor = PrivateSocket.connect(path) else { return nil }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var rest = request[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return nil }
            rest = rest.dropFirst(count)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while answer.count < 64 << 20 {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return answer
    }

    private static func endOfHead(_ answer: [UInt8]) -> Int? {
        guard answer.count >= 4 else { return nil }
        return (0...(answer.count - 4)).first { answer[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }.map { $0 + 4 }
    }
}
