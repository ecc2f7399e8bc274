// SPDX-License-Identifier: Apache-2.0
import Glibc
import SimulatorModel
import Testing

@testable import SimulatorServer  // connections of the local socket are internal

@Suite(.timeLimit(.minutes(1))) struct LocalConnectionTests {
    @Test("Ended connection: its descriptor is still open when the end handler is called")
    func end() async throws {
        var ends: [Int32] = [-1, -1]
        let isMade = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        try #require(isMade)
        let (program, descriptor) = (ends[0], ends[1])
        let wasOpen: Bool = await withCheckedContinuation { continuation in
            LocalConnection(descriptor, pid: getpid()).run(Simulator()) {
                continuation.resume(returning: fcntl(descriptor, F_GETFD) >= 0)
            }
            close(program)
        }
        #expect(wasOpen)
    }
}
