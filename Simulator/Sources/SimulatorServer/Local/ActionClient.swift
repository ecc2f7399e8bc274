// SPDX-License-Identifier: Apache-2.0
import Glibc
public import SimulatorModel

/// Sends actions to a running simulator: `POST /do`.
public struct ActionClient: Sendable {
    private let address: SimulatorPlace.Address

    /// Creates a client.
    ///
    /// - Parameter address: where the simulator runs.
    public init(_ address: SimulatorPlace.Address) { self.address = address }

    /// Does an action, and waits for its result.
    ///
    /// - Throws: ``SimulatorFailure``: the simulator's own, or `not-running` when it does not answer.
    public func perform(_ action: JSON) throws(SimulatorFailure) -> JSON {
        let body = action.bytes
        let head = """
            POST /do?token=\(address.token) HTTP/1.1\r
            Host: 127.0.0.1:\(address.port)\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        guard let answer = exchange(Array(head.utf8) + body), let end = Self.endOfHead(answer),
            let result = try? JSON(parsing: answer[end...])
        else {
            throw SimulatorFailure("not-running", "The simulator does not answer. Start one with: nfc simulator")
        }
        if let code = result["error"]?.string, !answer.starts(with: Array("HTTP/1.1 200".utf8)) {
            throw SimulatorFailure(code, result["message"]?.string ?? code)
        }
        return result
    }

    /// Sends a request, and returns everything until the other side closes.
    private func exchange(_ request: [UInt8]) -> [UInt8]? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        target.sin_port = address.port.bigEndian
        let isConnected = unsafe withUnsafePointer(to: target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
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
