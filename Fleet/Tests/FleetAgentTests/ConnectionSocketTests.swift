// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetTestSupport
import Foundation
import Testing

@Suite("The socket of a connection", .timeLimit(.minutes(1)))
struct ConnectionSocketTests {
    @Test("Socket to the broker: closed in child programs")
    func closedInPrograms() async throws {
        // It accepts the connection.
        let broker = try RawBroker([0x20, 3, 0, 0, 0])
        let address = BrokerAddress(host: "127.0.0.1", port: broker.port, usesTLS: false)
        let (stream, input) = AsyncStream.makeStream(of: MQTTEvent.self)
        let connection = MQTTConnection(MQTTSettings(address: address, client: "a")) { input.yield($0) }
        connection.start()
        var events = stream.makeAsyncIterator()
        let event = await events.next()
        guard case .connected = event else { throw TestProblem("\(String(describing: event))") }
        let sockets = try Self.sockets(to: broker.port)
        #expect(!sockets.isEmpty)
        #expect(sockets.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
        await connection.stop()
    }

    /// The sockets of this process that lead to a port.
    private static func sockets(to port: Int) throws -> [Int32] {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        return descriptors.filter { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getpeername(descriptor, $0, &length) == 0
                }
            }
            return isConnected && address.sin_family == sa_family_t(AF_INET)
                && Int(UInt16(bigEndian: address.sin_port)) == port
        }
    }
}
