// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import Foundation

/// A real mosquitto on a free port of this machine.
package final class TestBroker: @unchecked Sendable {
    // Sendable because the test calls it one after the other.

    /// Where mosquitto is; nil when it is not installed.
    package static let program = TestProgram.find("mosquitto")
    /// What a test that is skipped says.
    package static let missing = "mosquitto is not installed: apt install mosquitto"

    package let folder: TestFolder
    package let port: Int
    private let configuration: String
    private var process: TestProgram?

    /// Starts a broker.
    ///
    /// - Parameters:
    ///   - lines: more lines of its configuration.
    ///   - allowsAnonymous: whether clients need no user.
    package init(_ lines: [String] = [], allowsAnonymous: Bool = true, folder: TestFolder? = nil) async throws {
        self.folder = try folder ?? TestFolder()
        port = try Self.freePort()
        let all =
            ["listener \(port) 127.0.0.1", "allow_anonymous \(allowsAnonymous)", "user \(NSUserName())"]
            + ["persistence_location \(self.folder.path)/", "max_queued_messages 0"] + lines
        configuration = try self.folder.write("mosquitto.conf", all.joined(separator: "\n") + "\n")
        try await start()
    }

    package var address: BrokerAddress { BrokerAddress(host: "127.0.0.1", port: port, usesTLS: false) }
    package var url: String { "mqtt://127.0.0.1:\(port)" }

    /// Starts it again.
    package func start() async throws {
        guard let program = Self.program else { throw TestProblem(Self.missing) }
        process = try TestProgram(program, ["-c", configuration], output: folder.path + "/mosquitto.log")
        for _ in 0..<500 {
            if Self.isListening(port) { return }
            guard process?.isRunning == true else { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TestProblem(
            "mosquitto does not start: \((try? String(contentsOfFile: folder.path + "/mosquitto.log", encoding: .utf8)) ?? "")"
        )
    }

    /// Ends it at once.
    package func kill() { process?.kill() }

    deinit { process?.kill() }

    private static func freePort() throws -> Int {
        guard let port = unsafe withSocket(0, { unsafe bind($0, $1, $2.pointee) == 0 && getsockname($0, $1, $2) == 0 })
        else {
            throw TestProblem("There is no free port.")
        }
        return port
    }

    /// Whether somebody listens at a port of this machine. Waits a hundredth of a second at most, for a port that takes no
    /// connections any more does not answer.
    package static func isListening(_ port: Int) -> Bool {
        unsafe withSocket(port) { descriptor, address, length in
            if unsafe connect(descriptor, address, length.pointee) == 0 { return true }
            var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard errno == EINPROGRESS, unsafe poll(&writable, 1, 10) > 0 else { return false }
            return unsafe getpeername(descriptor, address, length) == 0
        } != nil
    }

    private static func withSocket(
        _ port: Int,
        _ body: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Bool
    ) -> Int? {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_INET, Int32(type), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isDone = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body(descriptor, $0, &length) }
        }
        return isDone ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
