// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

/// Checks commands on a PC/SC service that hangs: its socket exists, but nothing reads from it.
@Suite(.ownThreads) struct `A PC/SC service that hangs` {
    private let socket: HangingSocket

    init() throws {
        socket = try HangingSocket(backlog: 16)
    }

    @Test(arguments: [["readers"], ["scan", "--timeout", "1"], ["tag", "read", "--timeout", "1", "--reader", "pcsc"]])
    func `ends a command with a sentence`(_ arguments: [String]) throws {
        let start = ContinuousClock.now
        let outcome = try Command(name: "nfc", environment: ["PCSCLITE_CSOCK_NAME": socket.path])
            .run(arguments + ["--json"])
        #expect(outcome.status == 3, "\(outcome.error)")
        #expect(outcome.output.contains("systemctl restart pcscd"), "\(outcome.output)")
        // The limit is 1 s, or 5 s without one; a call to the service would not end at all.
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `whose queue of connections is full ends a command too`() throws {
        let socket = try HangingSocket(backlog: 0)
        for _ in 0..<3 {
            let nfc = Command(name: "nfc", environment: ["PCSCLITE_CSOCK_NAME": socket.path])
            let outcome = try nfc.run("scan", "--timeout", "0.2", "--json")
            #expect(outcome.status == 3, "\(outcome.error)")
            #expect(outcome.output.contains("systemctl restart pcscd"), "\(outcome.output)")
        }
    }
}

/// A socket that listens, but never accepts.
private final class HangingSocket {
    let path: String
    private let descriptor: Int32

    init(backlog: Int32) throws {
        path = "/tmp/nfc-hung-\(UUID().uuidString.prefix(8))"
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0 && listen(descriptor, backlog) == 0)
    }

    deinit {
        close(descriptor)
        _ = unsafe unlink(path)
    }
}
